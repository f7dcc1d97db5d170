"""`plgd edit` of several files: one request, one answer for each."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Final

import msgspec

from plgd.errors import BY_CODE, Cancelled, ConnectionLost, PlgdError
from plgd.protocol.edit_many import EditManyParams, EditManyResult, FileResult
from plgd.protocol.edits import EditParams, EditStatus
from plgd.protocol.methods import EDIT_MANY
from plgd_cli.answer import EXIT_CODES, Form, present
from plgd_cli.ask import ask
from plgd_cli.loss import daemon_lost
from plgd_cli.output import say, write
from plgd_cli.progress import EditDisplay
from plgd_cli.recommendation import recommend_once

__all__ = ("check_distinct", "check_usage", "edit_several")

# Options that are about one text.
ALONE: Final = {"lines": "--lines", "name": "--name", "html": "--html", "sketch": "--sketch"}
NO_CHANGE: Final = EXIT_CODES[EditStatus.NO_CHANGE]


def check_usage(arguments: argparse.Namespace) -> None:
    """Refuse options that make no sense for several files."""
    for name, option in ALONE.items():
        if getattr(arguments, name) is not None:
            arguments.usage_error(f"{option} is about one file; edit the others in commands of their own")
    if "-" in (arguments.path, *arguments.more):
        arguments.usage_error("- is edited alone: its new text goes to standard output")


def check_distinct(arguments: argparse.Namespace) -> None:
    """Refuse a file that is named more than once: its edits would not know of each other."""
    named: dict[str, str] = {}
    for name in (arguments.path, *arguments.more):
        path = os.path.realpath(name)
        if path in named:
            same = f"{named[path]} and {name} are the same file"
            arguments.usage_error(f"{name} is named twice" if named[path] == name else same)
        named[path] = name


def edit_several(
    names: Sequence[str], files: Sequence[EditParams], form: Form, *, all_or_nothing: bool, with_drafts: bool
) -> int:
    """Ask for the edits and show them.

    Args:
        names: what the user called the files.
        files: what to ask for each.
        form: what standard output gets.
        all_or_nothing: write every file or none.
        with_drafts: show who drafted the replies.

    Returns:
        The exit code of the first that failed; when nothing failed and nothing needed a change, that of no change.
    """
    writes = "all of them or none" if all_or_nothing else "each of them whole"
    try:
        with EditDisplay() as display:
            params = EditManyParams(files=tuple(files), all_or_nothing=all_or_nothing)
            result = ask(EDIT_MANY, params, on_notification=display.show)
    except KeyboardInterrupt:
        raise Cancelled(f"Interrupted; files that were just being written have their new texts, {writes}.") from None
    except ConnectionLost as error:
        raise daemon_lost(error, f"Files have their old texts or their new ones, {writes}.") from error
    if form is Form.JSON:
        write(msgspec.json.encode(result) + b"\n")
        return _exit_code([_code(each) for each in result.files])
    codes = _present_all(result, names, form, loaded=display.loaded, with_drafts=with_drafts)
    return _exit_code(codes)


def _present_all(
    result: EditManyResult, names: Sequence[str], form: Form, *, loaded: bool, with_drafts: bool
) -> list[int]:
    codes: list[int] = []
    for name, each in zip(names, result.files, strict=True):
        if each.result is not None:
            follows = bool(codes)
            shown = present(
                each.result,
                form,
                name=name,
                loaded=loaded and not follows,
                with_drafts=with_drafts,
                follows=follows,
                about=f"{name}: ",
            )
            codes.append(shown)
        elif each.error is not None:
            say(f"plgd: {each.error.message}")
            codes.append(_code(each))
    models = [each.result.model for each in result.files if each.result is not None]
    if models:
        recommend_once(models[0])
    return codes


def _code(file: FileResult) -> int:
    if file.result is not None:
        return EXIT_CODES[file.result.status]
    return BY_CODE.get(file.error.code if file.error is not None else 0, PlgdError).exit_code


def _exit_code(codes: Sequence[int]) -> int:
    failed = [code for code in codes if code not in {0, NO_CHANGE}]
    return failed[0] if failed else min(codes, default=0)
