"""The answer to an edit, as a person, a pipe or a program wants it, and the exit code that it means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Final

import msgspec

from plgd.protocol.conflicts import ConflictLines
from plgd.protocol.edits import EditResult, EditStats, EditStatus
from plgd.text.unified import file_header
from plgd_cli.conflict_view import conflict_lines
from plgd_cli.diff_view import render
from plgd_cli.draft_view import show_drafts
from plgd_cli.output import colours, say, stderr_is_terminal, tell, write

__all__ = ("EXIT_CODES", "Form", "explain", "present", "say_written", "summary")

EXIT_CODES: Final = {
    EditStatus.PROPOSED: 0,
    EditStatus.APPLIED: 0,
    EditStatus.NO_CHANGE: 5,
    EditStatus.CONFLICT: 3,
    EditStatus.TRUNCATED: 4,
    EditStatus.REJECTED_OUTPUT: 4,
    EditStatus.CANCELLED: 130,
}

# What a conflict's own warning says already is not said again.
OUTCOMES: Final = {
    EditStatus.NO_CHANGE: "The model changed nothing; if it should have, put the instruction in other words.",
    EditStatus.TRUNCATED: "Nothing was changed; try fewer lines (--lines), a higher --max-tokens or another model.",
    EditStatus.REJECTED_OUTPUT: "Nothing was changed; put the instruction in other words, or try another model.",
    EditStatus.CANCELLED: "Cancelled; nothing was changed. Run the command again if the edit is still wanted.",
}

# Lines of a rejected reply that are shown; `--json` has all of it.
REPLY_LINES_SHOWN: Final = 20


class Form(Enum):
    """What standard output gets.

    `REVIEW` and `DIFF` are the diff, `REVIEW` with a word on how to apply it; `TEXT` is the new text; `JSON` is the
    whole result.
    """

    REVIEW = "review"
    DIFF = "diff"
    TEXT = "text"
    JSON = "json"


def present(
    result: EditResult,
    form: Form,
    *,
    name: str,
    loaded: bool,
    with_drafts: bool = False,
    follows: bool = False,
    about: str = "",
) -> int:
    """Print the answer.

    Standard output gets nothing but the diff, the text or the JSON; who drafted the reply is shown in place of a diff
    that nobody asked for, else on standard error. As text, an edit that came to nothing is the text
    that came in: a filter must not empty the buffer it is used on.

    Args:
        result: what the daemon answered.
        form: what standard output gets.
        name: what the user called the file.
        loaded: whether the edit had to wait for the model's load.
        with_drafts: show who drafted the reply, where there is one; the JSON has it anyway.
        follows: whether the edit stood behind others of the same command.
        about: what remarks begin with, to tell them from those on other files.

    Returns:
        The exit code.
    """
    result = msgspec.structs.replace(result, diff=_seen_from_here(result))
    if form is Form.JSON:
        write(msgspec.json.encode(result) + b"\n")
        return EXIT_CODES[result.status]
    if form is Form.TEXT:
        write(result.new_text)
    elif form is Form.DIFF or (result.status is EditStatus.PROPOSED and not with_drafts):
        write(render(result.diff) if colours() else result.diff)
    if with_drafts and result.drafts is not None:
        if form is Form.REVIEW:
            write(show_drafts(result, result.drafts, coloured=colours()))
        else:
            tell(show_drafts(result, result.drafts, coloured=colours(on_stderr=True)))
    explain(result.status, result.warnings, result.conflict, raw_reply=result.raw_reply, about=about)
    # A filter's standard error often lands in the buffer as well (Vim's `:%!`): only a person gets remarks there.
    if form is not Form.TEXT or stderr_is_terminal():
        if result.status is EditStatus.APPLIED:
            say_written(name, len(result.hunks))
        if result.status is not EditStatus.CANCELLED:
            say(about + summary(result.stats, loaded=loaded, follows=follows))
    if form is Form.REVIEW and result.status is EditStatus.PROPOSED and stderr_is_terminal():
        say("Nothing was written yet; use --write to apply.")
    return EXIT_CODES[result.status]


def summary(stats: EditStats, *, loaded: bool = False, follows: bool = False) -> str:
    """Sum an edit up, such as `142 tokens in 1.9 s, 118 drafted and accepted, first token 0.2 s`.

    A wait for the model is told apart: it says nothing of the speed of the next edit. A sampled reply's seed is told,
    to repeat it.

    Args:
        stats: of the edit.
        loaded: whether the wait was for the model's load.
        follows: whether the wait was for edits of the same command, which is not told: their own lines say it.
    """
    tokens = "1 token" if stats.output_tokens == 1 else f"{stats.output_tokens:,} tokens"
    work_ms, first_ms = stats.total_ms - stats.queue_ms, stats.ttft_ms - stats.queue_ms
    said = (
        f"{tokens} in {work_ms / 1000:.1f} s, {stats.accepted_prediction_tokens:,} drafted and accepted, "
        f"first token {max(0.0, first_ms) / 1000:.1f} s" + ("" if stats.seed is None else f", seed {stats.seed}")
    )
    if loaded:
        return f"{said} (model loaded in {stats.queue_ms / 1000:.0f} s)"
    if follows or stats.queue_ms < 1000:
        return said
    return f"{said} (waited {stats.queue_ms / 1000:.0f} s for its turn)"


def _seen_from_here(result: EditResult) -> str:
    """Name the file in the diff as `git apply` and `patch -p1` will look for it: from the folder the user is in.

    The daemon does not know that folder. A file outside of it is named with `..`, which both refuse: by its bare name
    they might change a file of that name here.
    """
    path = Path(result.path)
    try:
        folder = Path.cwd().resolve()
    except FileNotFoundError:
        return result.diff  # the folder was removed under the user; nothing is relative to it
    if not result.diff or not path.is_absolute():
        return result.diff
    _, at, hunks = result.diff.partition("\n@@ ")
    return file_header(os.path.relpath(path, folder)).removesuffix("\n") + at + hunks


def say_written(name: str, n_changes: int) -> None:
    """Say that a file has its new text."""
    say(f"{name}: {n_changes} {'change' if n_changes == 1 else 'changes'} written")


def explain(
    status: EditStatus,
    warnings: Sequence[str],
    conflict: ConflictLines | None,
    *,
    raw_reply: str | None = None,
    about: str = "",
) -> None:
    """Say how it ended when it did not end well, and why; on a terminal also show a conflict's lines or a bad reply."""
    for warning in warnings:
        say(f"plgd: {about}{warning}")
    if status in OUTCOMES:
        say(f"plgd: {about}{OUTCOMES[status]}")
    if conflict is not None and stderr_is_terminal():
        for line in conflict_lines(conflict):
            say(line)
    elif raw_reply and stderr_is_terminal():
        lines = raw_reply.removesuffix("\n").split("\n")
        for line in lines[:REPLY_LINES_SHOWN]:
            say(f"  | {line}")
        if len(lines) > REPLY_LINES_SHOWN:
            say(f"  | ... {len(lines) - REPLY_LINES_SHOWN} more lines; --json shows all of them")
