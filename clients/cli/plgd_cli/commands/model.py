"""`plgd model list|pull|info|use`: the models on this machine and those it could have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from plgd.errors import Cancelled
from plgd.protocol.messages import ModelInfo, ModelListResult, ModelParams, NoParams, PullParams
from plgd.protocol.methods import MODEL_INFO, MODEL_LIST, MODEL_PULL, MODEL_USE
from plgd_cli.ask import ask
from plgd_cli.output import write
from plgd_cli.parser import Parser, text
from plgd_cli.progress import PullDisplay
from plgd_cli.table import columns, fields, size

__all__ = ("register",)


def register(_name: str, parser: Parser) -> None:
    """Add the commands below `plgd model`."""
    commands = parser.add_subparsers(dest="model_command", metavar="COMMAND", required=True, title="commands")
    for name, (run, summary) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        command.set_defaults(run=run, parser=command)
        command.add_argument("--json", action="store_true", help="print the answer as JSON")
        if name != "list":
            command.add_argument("name", metavar="NAME", type=text, help="a listed name, a folder, or owner/name")
        if name == "pull":
            command.add_argument("--force", action="store_true", help="fetch again what is here already")


def _list(arguments: argparse.Namespace) -> int:
    answer = ask(MODEL_LIST, NoParams())
    write(msgspec.json.encode(answer) + b"\n" if arguments.json else _as_table(answer))
    return 0


def _info(arguments: argparse.Namespace) -> int:
    info = ask(MODEL_INFO, ModelParams(name=_name(arguments)))
    return _print(info, arguments, _as_fields(info))


def _use(arguments: argparse.Namespace) -> int:
    info = ask(MODEL_USE, ModelParams(name=_name(arguments)))
    hint = "" if info.pulled else f"It is not on this machine yet; fetch it with: plgd model pull {info.name}\n"
    return _print(info, arguments, f"Edits now use {info.name}.\n{hint}")


def _pull(arguments: argparse.Namespace) -> int:
    name = _name(arguments)
    try:
        with PullDisplay() as display:
            info = ask(MODEL_PULL, PullParams(name=name, force=arguments.force), on_notification=display.show)
    except KeyboardInterrupt:
        raise Cancelled(
            f"Interrupted; what arrived is kept. `plgd model pull {name}` goes on where it stopped."
        ) from None
    return _print(info, arguments, f"{info.name} is ready: {size(info.size_bytes)} in {info.path}\n")


COMMANDS: Final[dict[str, tuple[Callable[[argparse.Namespace], int], str]]] = {
    "list": (_list, "list the models that plgd knows"),
    "pull": (_pull, "fetch a model"),
    "info": (_info, "describe one model"),
    "use": (_use, "make a model the one that edits use"),
}


def _name(arguments: argparse.Namespace) -> str:
    """Make the path of a folder or wheel absolute; the daemon runs in another folder than this command."""
    name: str = arguments.name
    is_path = name.endswith(".whl") or name.startswith((".", "/", "~"))
    return str(Path.cwd() / Path(name).expanduser()) if is_path and Path(name).expanduser().exists() else name


def _print(info: ModelInfo, arguments: argparse.Namespace, words: str) -> int:
    write(msgspec.json.encode(info) + b"\n" if arguments.json else words)
    return 0


def _as_table(answer: ModelListResult) -> str:
    heading = ("", "NAME", "SIZE", "NEEDS", "CONTEXT", "LICENCE", "")
    rows = [heading, *(_row(model, recommended=model.name == answer.recommended) for model in answer.models)]
    return f"{columns(rows)}\n* edits use it; fetch a model with: plgd model pull NAME\n"


def _row(model: ModelInfo, *, recommended: bool) -> tuple[str, ...]:
    remarks = ["on this machine" if model.pulled else "", "recommended here" if recommended else "", model.description]
    return (
        "*" if model.selected else "",
        model.name,
        size(model.size_bytes) if model.size_bytes else "",
        size(model.memory_bytes) if model.memory_bytes else "",
        f"{model.context_limit:,}" if model.context_limit else "",
        model.licence,
        "; ".join(filter(None, remarks)),
    )


def _as_fields(model: ModelInfo) -> str:
    return fields(
        [
            ("name", model.name),
            ("what", model.description),
            ("source", model.source),
            ("licence", model.licence),
            ("size", size(model.size_bytes) if model.size_bytes else "unknown"),
            ("needs", f"{size(model.memory_bytes)} of memory" if model.memory_bytes else ""),
            ("context", f"{model.context_limit:,} tokens" if model.context_limit else ""),
            ("selected", "yes" if model.selected else "no"),
            ("folder", model.path or "not on this machine"),
        ]
    )
