"""`plgd model list|pull|info|use`: the models on this machine and those it could have."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final

import msgspec

from plgd.errors import Cancelled, ConnectionLost
from plgd.protocol.base import NoParams
from plgd.protocol.methods import MODEL_INFO, MODEL_LIST, MODEL_PULL, MODEL_USE
from plgd.protocol.models import ModelInfo, ModelListResult, ModelParams, PullParams
from plgd_cli.ask import ask
from plgd_cli.output import write
from plgd_cli.parser import Parser, text
from plgd_cli.places import absolute_model
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
        if name == "info":
            command.add_argument("name", metavar="NAME", type=text, nargs="?", help="by default the selected model")
        elif name != "list":
            command.add_argument("name", metavar="NAME", type=text, help="a listed name, a folder, or owner/name")
        if name == "pull":
            command.add_argument("--force", action="store_true", help="fetch again what is here already")
            command.add_argument("-q", "--quiet", action="store_true", help="say nothing but what went wrong")


def _list(arguments: argparse.Namespace) -> int:
    answer = ask(MODEL_LIST, NoParams())
    write(msgspec.json.encode(answer) + b"\n" if arguments.json else _as_table(answer))
    return 0


def _info(arguments: argparse.Namespace) -> int:
    if arguments.name is None:
        info = next(model for model in ask(MODEL_LIST, NoParams()).models if model.selected)
    else:
        info = ask(MODEL_INFO, ModelParams(name=absolute_model(arguments.name)))
    return _print(info, arguments, _as_fields(info))


def _use(arguments: argparse.Namespace) -> int:
    info = ask(MODEL_USE, ModelParams(name=absolute_model(arguments.name)))
    hint = "" if info.pulled else f"It is not on this machine yet; fetch it with: plgd model pull {info.name}\n"
    return _print(info, arguments, f"Edits now use {info.name}.\n{hint}")


def _pull(arguments: argparse.Namespace) -> int:
    name = absolute_model(arguments.name)
    resumed = f"`plgd model pull {name}` goes on where it stopped."
    try:
        with PullDisplay(quiet=arguments.quiet) as display:
            info = ask(MODEL_PULL, PullParams(name=name, force=arguments.force), on_notification=display.show)
    except KeyboardInterrupt:
        raise Cancelled(f"Interrupted; what arrived is kept. {resumed}") from None
    except ConnectionLost as error:
        raise ConnectionLost(f"{error.message} What arrived is kept: {resumed}") from error
    ready = f"{info.name} is ready: {size(info.size_bytes)} in {info.path}\n"
    return _print(info, arguments, "" if arguments.quiet else ready)


COMMANDS: Final[dict[str, tuple[Callable[[argparse.Namespace], int], str]]] = {
    "list": (_list, "list the models that plgd knows"),
    "pull": (_pull, "fetch a model"),
    "info": (_info, "describe one model"),
    "use": (_use, "make a model the one that edits use"),
}


def _print(info: ModelInfo, arguments: argparse.Namespace, words: str) -> int:
    write(msgspec.json.encode(info) + b"\n" if arguments.json else words)
    return 0


def _as_table(answer: ModelListResult) -> str:
    """Two lines for each model, so that the table fits a terminal; the second begins with blanks."""
    heading = ("", "NAME", "SIZE", "NEEDS", "CONTEXT", "")
    rows = [heading, *(_row(model, recommended=model.name == answer.recommended) for model in answer.models)]
    head, *lines = columns(rows).splitlines()
    for line, model in zip(lines, answer.models, strict=True):
        head += f"\n{line}\n     {'; '.join(filter(None, (model.description, model.licence)))}".rstrip()
    return f"{head}\n\n* edits use it; fetch a model with: plgd model pull NAME\n"


def _row(model: ModelInfo, *, recommended: bool) -> tuple[str, ...]:
    remarks = ["on this machine" if model.pulled else "", "recommended here" if recommended else ""]
    return (
        "*" if model.selected else "",
        model.name,
        size(model.size_bytes) if model.size_bytes else "",
        size(model.memory_bytes) if model.memory_bytes else "",
        f"{model.context_limit:,}" if model.context_limit else "",
        "; ".join(filter(None, remarks)),
    )


def _as_fields(model: ModelInfo) -> str:
    return fields(
        [
            ("name", model.name),
            ("what", model.description),
            ("source", model.source),
            ("licence", model.licence),
            ("on disk" if model.pulled else "to fetch", size(model.size_bytes) if model.size_bytes else ""),
            ("needs", f"{size(model.memory_bytes)} of memory" if model.memory_bytes else ""),
            ("context", f"{model.context_limit:,} tokens" if model.context_limit else ""),
            ("selected", "yes" if model.selected else "no"),
            ("folder", model.path or "not on this machine"),
        ]
    )
