"""The language server: a thin front end to the daemon, one process per editor."""
