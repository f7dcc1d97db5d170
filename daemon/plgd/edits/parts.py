"""Several edits of one text in one request, one after the other, each on what those before it left."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from plgd.config import Config
from plgd.documents.document import Document
from plgd.documents.warm import WarmStore
from plgd.edits.answer import Answer
from plgd.edits.events import JobEvent, in_part
from plgd.edits.request import PreparedEdit
from plgd.edits.rewrite import Rewrite, rewrite_steps
from plgd.edits.timing import Timing
from plgd.engine.model import Model
from plgd.protocol.edits import EditStatus, LineRange, PartResult
from plgd.text.diff import Hunk, diff_lines
from plgd.text.fingerprint import fingerprint
from plgd.text.lines import split_lines

__all__ = ("PendingRanges", "part_steps")


def part_steps(
    edit: PreparedEdit, answer: Answer, timing: Timing, *, model: Model, config: Config, warm: WarmStore | None
) -> Generator[JobEvent, None, Rewrite]:
    """Let a model make the edits of a request, one after the other; all of them succeed, or the text stays as it is.

    Arguments, events and errors are those of `rewrite_steps`. A text that has not the fingerprint that the request
    expects is a `CONFLICT`, and so are lines that an earlier edit of the request deleted.
    """
    expected = edit.params.base_fingerprint
    if expected is not None and expected != edit.document.fingerprint:
        warning = f"{edit.document.shown()} is not the text with that fingerprint."
        return Rewrite(EditStatus.CONFLICT, edit.document.lines, (warning,))
    parts = edit.parts
    if not edit.params.edits:
        return (yield from rewrite_steps(edit, answer, timing, model=model, config=config, warm=warm))
    document, warnings = edit.document, list[str]()
    pending = PendingRanges([part.range for part in parts])
    answer.parts = [PartResult(status=EditStatus.CANCELLED)] * len(parts)
    for number, params in enumerate(parts):
        lines = pending.lines(number, len(document.lines))
        if lines is None:
            made = Rewrite(EditStatus.CONFLICT, document.lines, ("An edit before it deleted its lines.",))
        else:
            part = edit.part(params, document, lines)
            steps = rewrite_steps(part, answer, timing, model=model, config=config, warm=warm)
            made = yield from in_part(steps, number)
        answer.parts[number] = PartResult(status=made.status, warnings=made.warnings)
        warnings += [f"Edit {number + 1}: {warning}" for warning in made.warnings]
        if lines is None or made.status not in {EditStatus.PROPOSED, EditStatus.NO_CHANGE}:
            return Rewrite(made.status, edit.document.lines, tuple(warnings))
        pending.note(lines, document.lines, made.lines)
        document = _revised(document, made.lines)
    status = EditStatus.NO_CHANGE if document.lines == edit.document.lines else EditStatus.PROPOSED
    return Rewrite(status, document.lines, tuple(warnings))


class PendingRanges:
    """Where the lines are now that were named before the first of several edits.

    Args:
        ranges: of the parts, in their order; `None` for the whole text.
    """

    def __init__(self, ranges: Sequence[LineRange | None]) -> None:
        # Half-open and counted from 0, so that a range of which nothing is left has a place all the same.
        self._spans = [None if lines is None else (lines.first - 1, lines.last) for lines in ranges]

    def lines(self, part: int, n_lines: int) -> LineRange | None:
        """Return the lines of a part as they are counted now; `None` when an earlier part deleted them.

        Args:
            part: index of the part.
            n_lines: lines of the text now.
        """
        start, end = self._spans[part] or (0, n_lines)
        if self._spans[part] is not None and start >= end:
            return None
        return LineRange(first=start + 1, last=end)

    def note(self, lines: LineRange, old: Sequence[str], new: Sequence[str]) -> None:
        """Move every range along with a part's change.

        Args:
            lines: what the part rewrote.
            old: all lines before it.
            new: all lines after it; beside the rewritten ones, the same.
        """
        first, last = lines.first - 1, lines.last
        # Within the rewritten lines only: among equal lines a diff of the whole text might say that others changed.
        hunks = [
            replace(hunk, old_start=hunk.old_start + first, new_start=hunk.new_start + first)
            for hunk in diff_lines(old[first:last], new[first : len(new) - (len(old) - last)])
        ]
        self._spans = [None if span is None else _moved(span, hunks) for span in self._spans]


def _revised(document: Document, lines: Sequence[str]) -> Document:
    text = "".join(lines)
    data = (document.bom + text).encode()
    return replace(document, data=data, lines=split_lines(text), fingerprint=fingerprint(data))


def _moved(span: tuple[int, int], hunks: Sequence[Hunk]) -> tuple[int, int]:
    """Move a span behind hunks; one that reaches into a hunk takes in all that came of it."""
    start, end = span
    moved_start, moved_end = start, end
    for hunk in hunks:
        grown = len(hunk.new_lines) - len(hunk.old_lines)
        if hunk.old_end <= start:
            moved_start += grown
        elif hunk.old_start < start:
            moved_start = hunk.new_start
        if hunk.old_end <= end and not (hunk.old_start == hunk.old_end == end):
            moved_end += grown
        elif hunk.old_start < end < hunk.old_end:
            moved_end = hunk.new_end
    return moved_start, moved_end
