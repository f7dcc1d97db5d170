"""`plgd rpc METHOD [JSON]`: one request to the daemon, for scripts that would rather not open a socket."""

from __future__ import annotations

import argparse
import difflib
import sys

import msgspec

from plgd.errors import PlgdError
from plgd.protocol import envelope
from plgd.protocol.methods import METHODS, NOTIFICATIONS, STATUS, STOP
from plgd.protocol.openrpc import openrpc_document
from plgd.protocol.schema import message_schema
from plgd_cli.ask import ask
from plgd_cli.output import report, tell, write
from plgd_cli.parser import Parser, text

__all__ = ("register",)

_NOTES = {note.params: name for name, note in NOTIFICATIONS.items()}


def register(_name: str, parser: Parser) -> None:
    """Add the arguments of `plgd rpc`."""
    parser.set_defaults(run=_rpc)
    parser.add_argument("method", metavar="METHOD", type=text, nargs="?", help="such as edit, status, edit/accept")
    parser.add_argument(
        "params", metavar="JSON", type=text, nargs="?", default="{}", help="its parameters; `-` reads standard input"
    )
    parser.add_argument(
        "--lines",
        action="store_true",
        help="print notifications, then the result or the error, each as a line of JSON on standard output",
    )
    parser.add_argument("--no-start", action="store_true", help="fail when no daemon runs")
    parser.add_argument("--schema", action="store_true", help="print the protocol as JSON Schema and end")
    parser.add_argument("--openrpc", action="store_true", help="print the protocol as an OpenRPC document and end")


def _rpc(arguments: argparse.Namespace) -> int:
    if arguments.schema or arguments.openrpc:
        _print_document(arguments)
        return 0
    parser: Parser = arguments.parser
    if arguments.method is None:
        parser.error("name a METHOD, or use --schema or --openrpc")
    method = METHODS.get(arguments.method)
    if method is None:
        near = difflib.get_close_matches(arguments.method, METHODS, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(METHODS)}."
        parser.error(f"there is no method {arguments.method!r}; {hint}")
    given = sys.stdin.buffer.read() if arguments.params == "-" else arguments.params.encode()
    params = envelope.decode_params(method, msgspec.Raw(given))

    def show(note: msgspec.Struct) -> None:
        line = msgspec.json.encode({"method": _NOTES[type(note)], "params": note}) + b"\n"
        if arguments.lines:
            write(line)
        else:
            tell(line.decode())

    # As with the commands of these names, what does not run is not started for it.
    start = not arguments.no_start and method.name not in {STATUS.name, STOP.name}
    try:
        result = ask(method, params, start=start, on_notification=show)
    except PlgdError as error:
        return report(error, as_json=arguments.lines)
    write(msgspec.json.encode({"result": result} if arguments.lines else result) + b"\n")
    return 0


def _print_document(arguments: argparse.Namespace) -> None:
    if arguments.schema and arguments.openrpc:
        arguments.parser.error("--schema and --openrpc are two documents; print one")
    if arguments.method is not None:
        arguments.parser.error("--schema and --openrpc ask no METHOD")
    document = message_schema() if arguments.schema else openrpc_document()
    write(msgspec.json.format(msgspec.json.encode(document)) + b"\n")
