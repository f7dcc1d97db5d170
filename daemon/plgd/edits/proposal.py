"""An edit that the model has answered, and what may become of it."""

from __future__ import annotations

from dataclasses import dataclass

from plgd.edits.answer import Answer
from plgd.edits.apply import LinesConflict, Written
from plgd.edits.request import PreparedEdit
from plgd.edits.rewrite import Rewrite
from plgd.errors import Conflict
from plgd.protocol.edits import EditResult, EditStatus

__all__ = ("Proposal",)


@dataclass(frozen=True, slots=True)
class Proposal:
    """An edit and what the model made of it.

    Attributes:
        edit: what was asked for.
        answer: makes results.
        made: the new lines, or why there are none.
    """

    edit: PreparedEdit
    answer: Answer
    made: Rewrite

    def result(self, *warnings: str) -> EditResult:
        """Make the result of an edit that is not written.

        Args:
            warnings: beside the model's.
        """
        made = self.made
        if made.status is not EditStatus.PROPOSED:
            return self.answer.unchanged(made.status, *made.warnings, *warnings)
        return self.answer.changed(made.status, self.edit.document, made.lines, (*made.warnings, *warnings))

    def conflict(self, conflict: Conflict) -> EditResult:
        """Make the result of an edit whose file is another by now."""
        lines = conflict.lines if isinstance(conflict, LinesConflict) else None
        return self.answer.unchanged(EditStatus.CONFLICT, conflict.message, conflict=lines)

    def applied(self, written: Written) -> EditResult:
        """Make the result of an edit that is written, or would be if it were no dry run."""
        warnings = self.made.warnings + written.warnings
        if written.lines == written.base.lines:
            return self.answer.unchanged(EditStatus.NO_CHANGE, *warnings)
        if self.edit.params.dry_run:
            return self.result(*written.warnings)
        return self.answer.changed(EditStatus.APPLIED, written.base, written.lines, warnings, version=written.version)
