"""One module per command, imported when its command is named.

Each has `register(name, parser)`: it adds the command's arguments and sets `run`, which takes the parsed arguments and
returns the exit code.
"""
