"""Proposals as diagnostics and code actions, so that editors without a plug-in can review, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from lsprotocol import types

from plgd.text.positions import Encoding
from plgd_lsp.places import Lines, range_of
from plgd_lsp.proposal import HunkState, PlacedHunk

__all__ = ("SOURCE", "decisions", "hints")

SOURCE: Final = "plgd"
_SHOWN_LINES: Final = 6


def hints(placed: Sequence[PlacedHunk], lines: Sequence[str], encoding: Encoding) -> Iterator[types.Diagnostic]:
    """Make a diagnostic for every hunk that waits for its user."""
    for hunk in placed:
        if hunk.state in {HunkState.OPEN, HunkState.CONFLICT}:
            yield types.Diagnostic(
                range=range_of(hunk.lines, lines, encoding),
                message=_words(hunk),
                severity=types.DiagnosticSeverity.Information,
                source=SOURCE,
            )


def decisions(session: str, placed: Sequence[PlacedHunk], selected: Lines) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Offer what can be done with a proposal at the selected lines: title, command and argument."""
    waiting = [hunk.id for hunk in placed if hunk.state is HunkState.OPEN]
    here = [
        hunk.id
        for hunk in placed
        if hunk.id in waiting and hunk.lines.start <= selected.end and hunk.lines.end >= selected.start
    ]
    for verb, command in (("Accept", "plgd.accept"), ("Reject", "plgd.reject")):
        if here and here != waiting:
            what = "this change" if len(here) == 1 else f"these {len(here)} changes"
            yield f"plgd: {verb} {what}", command, {"session": session, "hunks": here}
        if waiting:
            what = "the change" if len(waiting) == 1 else f"all {len(waiting)} changes"
            yield f"plgd: {verb} {what}", command, {"session": session, "hunks": waiting}


def _words(hunk: PlacedHunk) -> str:
    if hunk.state is HunkState.CONFLICT:
        return "plgd proposed a change of these lines, which were changed meanwhile."
    if not hunk.new_lines:
        return "plgd proposes to delete these lines."
    shown = "".join(hunk.new_lines[:_SHOWN_LINES]).rstrip("\r\n")
    more = "\n…" if len(hunk.new_lines) > _SHOWN_LINES else ""
    place = "" if hunk.old_lines else ", before this line"
    return f"plgd proposes{place}:\n{shown}{more}"
