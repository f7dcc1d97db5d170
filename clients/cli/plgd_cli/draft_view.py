"""A reply by who drafted it, for a terminal or a pipe."""

from __future__ import annotations

import io
from typing import Final

from rich.console import Console
from rich.text import Text

from plgd.protocol.edits import EditResult
from plgd.protocol.reply_drafts import ReplyDrafts
from plgd_cli.controls import visible
from plgd_cli.draft_kinds import kind_of, rounds_said, tallies

__all__ = ("show_drafts",)

BORDER: Final = "│"
BORDER_STYLE: Final = "dim"
FENCE: Final = "```"


def show_drafts(result: EditResult, drafts: ReplyDrafts, *, coloured: bool) -> str:
    """Show a reply, where its rounds ended, and below it a legend with the counts.

    Args:
        result: of the edit.
        drafts: its drafts.
        coloured: tell who drafted what by colours, else by marks.
    """
    shown = _reply(drafts, coloured=coloured)
    if shown.plain and not shown.plain.endswith("\n"):
        shown.append("\n")
    shown.append("\n")
    shown.append_text(_legend(result, drafts, coloured=coloured))
    if not coloured:
        return shown.plain
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", legacy_windows=False)
    with console.capture() as capture:
        console.print(shown, end="", soft_wrap=True)
    return capture.get()


def _reply(drafts: ReplyDrafts, *, coloured: bool) -> Text:
    shown = Text()
    n_round = 1
    for run in drafts.runs:
        if run.round != n_round:
            shown.append(BORDER, BORDER_STYLE)
            n_round = run.round
        kind = kind_of(run.by)
        if coloured:
            shown.append(visible(run.text), kind.style)
        elif run.text:
            left, right = kind.marks
            # The line ends behind the mark: a mark at the start of the next line would seem to belong there.
            body = run.text.rstrip("\n")
            shown.append(f"{left}{visible(body)}{right}{run.text[len(body) :]}")
    return shown


def _legend(result: EditResult, drafts: ReplyDrafts, *, coloured: bool) -> Text:
    legend = Text()
    rows = tallies(result, drafts)
    names = [tally.kind.name if coloured else tally.kind.name.join(tally.kind.marks) for tally in rows]
    width = max(map(len, names), default=0)
    if rows:
        legend.append(f"{'':{width}}  drafted  in the reply\n")
    for name, tally in zip(names, rows, strict=True):
        n_drafted = "" if tally.n_drafted is None else f"{tally.n_drafted:,}"
        legend.append(name, tally.kind.style)
        legend.append(f"{'':{width - len(name)}}  {n_drafted:>7}  {tally.n_tokens:>12,}  {tally.kind.meaning}\n")
    legend.append(f"{rounds_said(result, drafts)} ({BORDER} is the end of a round)\n")
    if "".join(run.text for run in drafts.runs).rstrip().endswith(FENCE):
        legend.append("the last fence ends the reply and is no part of the text\n")
    return legend
