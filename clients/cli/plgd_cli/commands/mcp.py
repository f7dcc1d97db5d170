"""`plgd mcp`: serve an agent that speaks the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from collections.abc import Callable, Sequence

from plgd.errors import ConfigError
from plgd_cli.parser import Parser, text

__all__ = ("register",)


def register(_name: str, parser: Parser) -> None:
    """Add the options of `plgd mcp`."""
    parser.set_defaults(run=_mcp)
    parser.add_argument(
        "--root",
        metavar="DIR",
        type=text,
        nargs="+",
        action="extend",
        default=[],
        help="a folder that the agent may reach; by default the client's roots, else the working directory",
    )


def _mcp(arguments: argparse.Namespace) -> int:
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError.without_extra("plgd mcp", ["mcp"], "mcp")
    serve: Callable[[Sequence[str]], None] = importlib.import_module("plgd_mcp.server").serve
    serve(arguments.root)
    return 0
