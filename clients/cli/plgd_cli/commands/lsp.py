"""`plgd lsp`: serve one editor on standard input and output."""

from __future__ import annotations

import argparse
import sys

from plgd_cli.output import say
from plgd_cli.parser import Parser
from plgd_lsp.process import main

__all__ = ("register",)


def register(_name: str, parser: Parser) -> None:
    """Add the options of `plgd lsp`."""
    parser.set_defaults(run=_lsp)
    # Editors pass it to any server out of habit; it is what plgd does in any case.
    parser.add_argument("--stdio", action="store_true", help="accepted and without effect: this is the only way")
    parser.add_argument("--verbose", action="store_true", help="log every message to standard error")


def _lsp(arguments: argparse.Namespace) -> int:
    if sys.stdin.isatty():
        say("plgd lsp talks to an editor, which starts it; see docs/editors. Ctrl-D ends it.")
    return main(verbose=arguments.verbose)
