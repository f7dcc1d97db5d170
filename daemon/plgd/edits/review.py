"""A proposal whose hunks are accepted and rejected one by one."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from plgd.documents.document import Document
from plgd.documents.store import DocumentStore
from plgd.edits.answer import tell_conflict
from plgd.edits.apply import LinesConflict, Written, apply_edit
from plgd.edits.write import check_writable
from plgd.errors import Conflict, InvalidParams, UnsavedChanges
from plgd.protocol.edits import EditResult, EditStatus
from plgd.protocol.sessions import AcceptResult, HunkState, ReviewedHunk
from plgd.text.diff import apply_hunks, diff_lines
from plgd.text.fingerprint import fingerprint
from plgd.text.lines import split_lines
from plgd.text.unified import unified_diff

__all__ = ("Review",)

_SHOWN_IDS: Final = 5


class Review:
    """What was decided about the hunks of a proposal. May be used from several threads.

    The text with the accepted hunks is what this review expects on disk. Each accept is an edit from there to the text
    with more of them, so it is moved, and refused, like every other edit whose file changed meanwhile.

    Args:
        document: the text that was edited.
        result: the proposal.
    """

    def __init__(self, document: Document, result: EditResult) -> None:
        self._document = document
        self._new_text = result.new_text
        self._session = result.session
        self._told = result.hunks
        self._states = {hunk.id: HunkState.OPEN for hunk in result.hunks}
        self._deciding = threading.Lock()

    @property
    def hunks(self) -> tuple[ReviewedHunk, ...]:
        """The hunks, with what was decided about each."""
        return tuple(
            ReviewedHunk(
                id=hunk.id,
                old_start=hunk.old_start,
                old_lines=hunk.old_lines,
                new_start=hunk.new_start,
                new_lines=hunk.new_lines,
                state=self._states[hunk.id],
            )
            for hunk in self._told
        )

    @property
    def status(self) -> EditStatus:
        """What became of the proposal."""
        states = set(self._states.values())
        is_over = HunkState.OPEN not in states and HunkState.ACCEPTED in states
        return EditStatus.APPLIED if is_over else EditStatus.PROPOSED

    @property
    def accepted_fingerprint(self) -> str:
        """Of the text with the accepted hunks."""
        return self._with(self._chosen(HunkState.ACCEPTED)).fingerprint

    def accept(
        self, hunks: Sequence[int] | None, documents: DocumentStore, client: Hashable, *, dry_run: bool = False
    ) -> AcceptResult:
        """Write hunks to the file, compare-and-swap; without a file, put them into the text.

        Args:
            hunks: their ids; all that are open when missing. One that was rejected may be accepted after all.
            documents: those that are open, and the versions.
            client: who asks.
            dry_run: make every check and write nothing.

        Raises:
            InvalidParams: there is no such hunk.
            ReadOnlyTarget: the file cannot be written.
            UnsavedChanges, OutOfSync: an editor holds another text than the file.
            WriteFailed: the disk said no; the old file is whole.
        """
        with self._deciding:
            chosen = self._ids("edit/accept", hunks)
            before = self._with(self._chosen(HunkState.ACCEPTED))
            after = self._with(self._chosen(HunkState.ACCEPTED) | chosen)
            path = self._document.path
            if path is None:
                self._decide(chosen, HunkState.ACCEPTED, dry_run=dry_run)
                return self._result(EditStatus.PROPOSED, before, after.lines, before.version)
            if path.exists():
                check_writable(path)
                _check_saved(path, documents, client)
            try:
                written = apply_edit(before, after.lines, documents, dry_run=dry_run)
            except Conflict as conflict:
                return self._conflict(before, conflict)
            self._decide(chosen, HunkState.ACCEPTED, dry_run=dry_run)
            return self._result(
                _status(written, dry_run=dry_run), written.base, written.lines, written.version, written.warnings
            )

    def reject(self, hunks: Sequence[int] | None) -> None:
        """Decide against hunks.

        Args:
            hunks: their ids; all that are open when missing.

        Raises:
            InvalidParams: there is no such hunk, or it is on disk already; then none is rejected.
        """
        with self._deciding:
            chosen = self._ids("edit/reject", hunks)
            if late := chosen & self._chosen(HunkState.ACCEPTED):
                raise InvalidParams(f"edit/reject: hunk {min(late)} was accepted before.")
            self._decide(chosen, HunkState.REJECTED)

    def _ids(self, method: str, hunks: Sequence[int] | None) -> set[int]:
        if hunks is None:
            return self._chosen(HunkState.OPEN)
        if unknown := sorted(set(hunks) - set(self._states)):
            shown = ", ".join(map(str, unknown[:_SHOWN_IDS]))
            raise InvalidParams(f"{method}: there is no hunk {shown}; the session has {len(self._states)}, from 0.")
        return set(hunks)

    def _chosen(self, state: HunkState) -> set[int]:
        return {number for number, found in self._states.items() if found is state}

    def _decide(self, hunks: set[int], state: HunkState, *, dry_run: bool = False) -> None:
        if not dry_run:
            self._states.update(dict.fromkeys(hunks, state))

    def _with(self, hunks: set[int]) -> Document:
        """Return the text with some of the hunks."""
        document = self._document
        # Found again when they are needed: most proposals are never reviewed here.
        found = diff_lines(document.lines, split_lines(self._new_text.removeprefix(document.bom)))
        lines = apply_hunks(document.lines, [found[number] for number in sorted(hunks)])
        data = (document.bom + "".join(lines)).encode()
        return replace(document, data=data, lines=lines, fingerprint=fingerprint(data))

    def _conflict(self, base: Document, conflict: Conflict) -> AcceptResult:
        result = self._result(EditStatus.CONFLICT, base, base.lines, base.version, (conflict.message,))
        if isinstance(conflict, LinesConflict):
            return msgspec.structs.replace(result, conflict=tell_conflict(conflict.lines))
        return result

    def _result(
        self,
        status: EditStatus,
        base: Document,
        lines: Sequence[str],
        version: int,
        warnings: Sequence[str] = (),
    ) -> AcceptResult:
        new_text = base.bom + "".join(lines)
        return AcceptResult(
            session=self._session,
            status=status,
            path=str(base.path or ""),
            base_fingerprint=base.fingerprint,
            new_fingerprint=fingerprint(new_text.encode()),
            version=version,
            new_text=new_text,
            diff=unified_diff(base.text, new_text, base.name),
            hunks=self.hunks,
            warnings=tuple(warnings),
        )


def _check_saved(path: Path, documents: DocumentStore, client: Hashable) -> None:
    opened = documents.open.at(client, path)
    if opened is not None and fingerprint(opened.text.encode()) != documents.read(path).fingerprint:
        raise UnsavedChanges.at(str(path))


def _status(written: Written, *, dry_run: bool) -> EditStatus:
    if written.lines == written.base.lines:
        return EditStatus.NO_CHANGE
    return EditStatus.PROPOSED if dry_run else EditStatus.APPLIED
