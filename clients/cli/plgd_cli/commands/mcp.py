"""`plgd mcp`: serve an agent that speaks the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from stat import S_ISDIR

from plgd.errors import ConfigError
from plgd_cli.parser import Parser, text

__all__ = ("register",)


def register(_name: str, parser: Parser) -> None:
    """Add the options of `plgd mcp`."""
    parser.set_defaults(run=_mcp)
    parser.add_argument(
        "--root",
        metavar="DIR",
        type=_folder,
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


def _folder(word: str) -> str:
    """Take a folder that is there: an agent that may reach nothing would learn of it from its first refused edit.

    Raises:
        argparse.ArgumentTypeError: there is no such folder.
    """
    try:
        is_folder = S_ISDIR(Path(text(word)).stat().st_mode)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{word}: {error.strerror}") from error
    if not is_folder:
        raise argparse.ArgumentTypeError(f"{word} is not a folder")
    return word
