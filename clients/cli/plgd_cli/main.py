"""The `plgd` command: finds the command that was named, runs it, turns what went wrong into an exit code.

| exit code | meaning |
|---|---|
| 0 | proposed, applied, or done |
| 1 | failed; standard error says why |
| 2 | the command line or the configuration is wrong |
| 3 | conflict: the text changed while the model worked |
| 4 | the reply was truncated or could not be used |
| 5 | the model changed nothing |
| 130 | interrupted |
| 141 | nobody reads the output any more, as the shell reports it for other commands |
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Final

from plgd.errors import Cancelled, PlgdError
from plgd.version import __version__
from plgd_cli.output import OutputClosed, OutputFailed, report, say
from plgd_cli.parser import Parser
from plgd_cli.streams import open_missing

__all__ = ("COMMANDS", "build_parser", "main")

# Command -> (module, what it does). A module is imported only when its command is named: `plgd --version` and the
# completion of a shell answer before anyio, msgspec and rich would have been imported.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "edit": ("plgd_cli.commands.edit", "rewrite a file, or some lines of it, as instructed"),
    "warm": ("plgd_cli.commands.warm", "read files before they are edited, so that the edit begins at once"),
    "start": ("plgd_cli.commands.daemon", "start the daemon (every command that needs it does so by itself)"),
    "stop": ("plgd_cli.commands.daemon", "finish the running edits and stop the daemon"),
    "restart": ("plgd_cli.commands.daemon", "stop the daemon and start it again"),
    "status": ("plgd_cli.commands.daemon", "say what the daemon is doing"),
    "logs": ("plgd_cli.commands.logs", "print the daemon's log"),
    "model": ("plgd_cli.commands.model", "list, fetch, describe and choose models"),
    "lsp": ("plgd_cli.commands.lsp", "serve an editor by the language server protocol"),
    "mcp": ("plgd_cli.commands.mcp", "serve an agent by the Model Context Protocol"),
    "doctor": ("plgd_cli.commands.doctor", "check the installation and say what is missing or slow"),
    "rpc": ("plgd_cli.commands.rpc", "send one request of the protocol, and print its result as JSON"),
    "bench": ("plgd_cli.commands.bench", "measure"),
}

EPILOG: Final = """\
examples:
  plgd edit app.py -i "rename total to running_total"            show the change
  plgd edit app.py -i "add type annotations" --lines 10:42 --write
  plgd edit - -i "sort the keys" < a.json > b.json

exit codes: 0 proposed, applied or done, 1 failed, 2 wrong usage, 3 conflict, 4 reply truncated or rejected,
            5 no change, 130 interrupted
"""

SIGPIPE_EXIT: Final = 141


def build_parser(words: Sequence[str]) -> Parser:
    """Build the parser of the whole command line, with the arguments of the one command that it names.

    Args:
        words: the command line without the program's name.
    """
    parser = Parser(
        prog="plgd",
        description="Rewrites text and code on your own machine, drafted from the file itself.",
        epilog=EPILOG,
    )
    parser.set_defaults(parser=parser)
    parser.add_argument("--version", action="version", version=f"plgd {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    named = next((word for word in words if not word.startswith("-")), None)
    for name, (module, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        command.set_defaults(parser=command)
        if name == named:
            register: Callable[[str, Parser], None] = importlib.import_module(module).register
            command.set_defaults(words=words[words.index(name) + 1 :])  # for a command that hands them on
            register(name, command)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the command line without the program's name; by default that of the process.

    Returns:
        The exit code, see the module's table.

    Raises:
        SystemExit: help or version was printed (0), or the command line is wrong (2).
    """
    open_missing()
    words = sys.argv[1:] if argv is None else argv
    as_json = "--json" in words
    try:
        try:
            return _run(words)
        except PlgdError as error:
            return report(error, as_json=as_json)
        except KeyboardInterrupt:
            return report(Cancelled("Interrupted."), as_json=as_json)
    except OutputClosed:
        return SIGPIPE_EXIT
    except OutputFailed as failure:
        say(f"plgd: Standard output cannot be written: {failure}.")
        return PlgdError.exit_code


def _run(words: Sequence[str]) -> int:
    parser = build_parser(words)
    arguments, extra = parser.parse_known_args(words)
    if extra:
        explain: Callable[[argparse.Namespace, list[str]], str] = getattr(arguments, "explain_extra", _unrecognized)
        arguments.parser.error(explain(arguments, extra))
    if arguments.command is None:
        parser.print_help()
        return 0
    run: Callable[[argparse.Namespace], int] = arguments.run
    return run(arguments)


def _unrecognized(arguments: argparse.Namespace, extra: list[str]) -> str:
    parser: Parser = arguments.parser
    return parser.unrecognized(extra)
