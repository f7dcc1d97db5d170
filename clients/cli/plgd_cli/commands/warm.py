"""`plgd warm PATH...`: read files before they are edited, so that the edit begins at once."""

from __future__ import annotations

import argparse

import msgspec

from plgd.errors import Cancelled, InputError
from plgd.protocol.documents import WarmParams, WarmResult
from plgd.protocol.methods import DOCUMENT_WARM
from plgd_cli.ask import ask
from plgd_cli.output import report, write
from plgd_cli.parser import Parser, text
from plgd_cli.places import absolute_file, absolute_model
from plgd_cli.progress import EditDisplay
from plgd_cli.table import size

__all__ = ("register",)


def register(_name: str, parser: Parser) -> None:
    """Add the arguments of `plgd warm`."""
    parser.set_defaults(run=_warm)
    parser.add_argument("paths", metavar="PATH", type=text, nargs="+", help="a file that is going to be edited")
    parser.add_argument("--model", metavar="NAME", type=text, help="for this model instead of the selected one")
    parser.add_argument("--json", action="store_true", help="print one line of JSON for each file")


def _warm(arguments: argparse.Namespace) -> int:
    """Warm one file after the other; one that cannot be read keeps no other from it."""
    model = None if arguments.model is None else absolute_model(arguments.model)
    code = 0
    for path in arguments.paths:
        try:
            with EditDisplay() as display:
                params = WarmParams(path=absolute_file(path), model=model)
                result = ask(DOCUMENT_WARM, params, on_notification=display.show)
        except InputError as error:
            code = report(error, as_json=arguments.json)
            continue
        except KeyboardInterrupt:
            raise Cancelled("Interrupted; what was read until then is warm.") from None
        write(msgspec.json.encode(result) + b"\n" if arguments.json else _words(path, result))
    return code


def _words(path: str, result: WarmResult) -> str:
    if not result.warm_tokens:
        return f"{path} is not warm: the memory for kept KV does not suffice (see `warm.kv_bytes`).\n"
    before = f", {result.cached_tokens:,} of them before" if result.cached_tokens else ""
    return f"{path} is warm: {result.warm_tokens:,} tokens{before}, {size(result.kv_bytes)}.\n"
