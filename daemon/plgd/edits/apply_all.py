"""Brings several edits to their files: all of them or none, whatever happened to the files meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from plgd.documents.document import Document
from plgd.documents.store import DocumentStore
from plgd.edits.apply import TRIES, Written, plan_edit
from plgd.edits.journal import Journal
from plgd.edits.transaction import Replacement, Stopped, replace_files
from plgd.errors import Conflict

__all__ = ("NewLines", "apply_all")

NewLines: TypeAlias = tuple[Document, Sequence[str]]


def apply_all(
    edits: Sequence[NewLines],
    documents: DocumentStore,
    journal: Journal,
    *,
    dry_run: bool = False,
    before_write: Callable[[Sequence[Written]], None] | None = None,
) -> tuple[Written, ...]:
    """Write edits of different files, each as `apply_edit` would write it alone.

    Args:
        edits: each text that was edited, read from a file, and its new lines.
        documents: counts the versions of what the files hold now.
        journal: of this daemon.
        dry_run: do everything but the writes.
        before_write: told what is about to be written; if it raises, nothing is.

    Raises:
        Stopped: one edit cannot be written, with a `Conflict` or a `WriteFailed` that says why; no file was changed.
        WriteFailed: the disk failed half way and on the way back; the message says which file it left.
    """
    changed = 0
    for _ in range(TRIES):
        planned = [_plan(place, edit, documents) for place, edit in enumerate(edits)]
        places = [place for place, each in enumerate(planned) if each.lines != each.base.lines]
        if dry_run or not places:
            return tuple(planned)
        if before_write is not None:
            before_write(planned)
        try:
            replace_files(
                [Replacement(planned[place].path, planned[place].base.data, planned[place].data) for place in places],
                journal,
            )
        except Stopped as stopped:
            changed = places[stopped.index]
            if stopped.error is not None:
                raise Stopped(changed, stopped.error) from stopped
        else:
            return tuple(each.noted(documents) if place in places else each for place, each in enumerate(planned))
    raise Stopped(changed, Conflict.on(edits[changed][0].shown(), "it keeps changing"))


def _plan(place: int, edit: NewLines, documents: DocumentStore) -> Written:
    try:
        return plan_edit(*edit, documents)
    except Conflict as conflict:
        raise Stopped(place, conflict) from conflict
