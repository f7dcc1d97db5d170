"""Edits of several files that are made all together or not at all, as one job."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final

from plgd.config import Config
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.answer import Answer
from plgd.edits.apply import Written
from plgd.edits.apply_all import apply_all
from plgd.edits.events import JobEvent, JobProgress, in_file
from plgd.edits.journal import Journal
from plgd.edits.parts import part_steps
from plgd.edits.proposal import Proposal
from plgd.edits.request import PreparedEdit
from plgd.edits.timing import Timing
from plgd.edits.transaction import Stopped
from plgd.engine.model import Model
from plgd.errors import Cancelled, Conflict, PlgdError
from plgd.protocol.edit_many import EditManyResult, FileResult, failed_file, make_many_result
from plgd.protocol.edits import EditResult, EditStatus, Stage

__all__ = ("edit_many_steps",)

_GOOD: Final = frozenset((EditStatus.PROPOSED, EditStatus.NO_CHANGE))

_NOT_EDITED: Final = "{} could not be edited, and all files were to be or none."


def edit_many_steps(
    edits: Sequence[PreparedEdit],
    *,
    session: str,
    sessions: Sequence[str],
    received: float,
    documents: DocumentStore,
    journal: Journal,
    model: Model,
    config: Config,
    warm: WarmStore | None = None,
    before_write: Callable[[EditManyResult], None] = lambda _result: None,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[JobEvent, None, EditManyResult]:
    """Carry out edits of several files on a model; all files are written, or none.

    Closing the generator cancels them all; whatever was done until then, the files are as they were.

    Args:
        edits: each of another file, all to be written or all to be run dry.
        session: the request's id.
        sessions: the edits' ids.
        received: when the request arrived, by `clock`.
        documents: counts the versions of what is written.
        journal: of this daemon.
        model: in memory, and this thread's.
        config: limits and drafting.
        warm: what is kept of documents for the model, and will be.
        before_write: told the result before the files get their new texts; if it raises, they are not written.
        clock: seconds from any start.

    Yields:
        The events of each edit in turn.

    Raises:
        WriteFailed: the disk failed half way and on the way back.
    """
    proposals: list[Proposal] = []
    n_tokens = 0
    for place, (edit, own_session) in enumerate(zip(edits, sessions, strict=True)):
        timing = Timing(clock, received)
        answer = Answer(edit, own_session, model.name, timing)
        failure: PlgdError | None = None
        try:
            steps = part_steps(edit, answer, timing, model=model, config=config, warm=warm)
            made = yield from in_file(steps, place)
            proposals.append(Proposal(edit, answer, made))
        except Cancelled:
            raise
        except PlgdError as error:
            failure = error
        n_tokens += timing.n_tokens
        if failure is not None or proposals[place].made.status not in _GOOD:
            not_begun = [
                Answer(other, name, model.name, Timing(clock, received))
                for other, name in zip(edits[place + 1 :], sessions[place + 1 :], strict=True)
            ]
            return make_many_result(session, list(_given_up(edit.document.shown(), proposals, failure, not_begun)))
    yield JobProgress(Stage.APPLY, 100.0, n_tokens)
    return _apply(proposals, session, documents, journal, before_write)


def _given_up(
    shown: str, proposals: Sequence[Proposal], failure: PlgdError | None, not_begun: Sequence[Answer]
) -> Iterator[FileResult]:
    """Say what became of all files when one could not be edited.

    Args:
        shown: the name of that one.
        proposals: of those before it, and its own where the model answered.
        failure: why there is none.
        not_begun: those behind it.
    """
    before, own = (proposals, []) if failure is not None else (proposals[:-1], proposals[-1:])
    for each in before:
        yield _not_written(each, shown)
    if failure is not None:
        yield failed_file(shown, failure)
    for each in own:
        yield _file(each.result())
    for answer in not_begun:
        yield _file(answer.unchanged(EditStatus.CANCELLED, f"Not begun: {_NOT_EDITED.format(shown)}"))


def _apply(
    proposals: Sequence[Proposal],
    session: str,
    documents: DocumentStore,
    journal: Journal,
    before_write: Callable[[EditManyResult], None],
) -> EditManyResult:
    changed = [place for place, each in enumerate(proposals) if each.made.status is EditStatus.PROPOSED]

    def result(written: Sequence[Written]) -> EditManyResult:
        by_place = dict(zip(changed, written, strict=True))
        files = [
            each.applied(by_place[place]) if place in by_place else each.result()
            for place, each in enumerate(proposals)
        ]
        return make_many_result(session, [_file(each) for each in files])

    try:
        written = apply_all(
            [(proposals[place].edit.document, proposals[place].made.lines) for place in changed],
            documents,
            journal,
            dry_run=any(each.edit.params.dry_run for each in proposals),
            before_write=lambda planned: before_write(result(planned)),
        )
    except Stopped as stopped:
        stopper = changed[stopped.index]
        return make_many_result(session, list(_stopped(proposals, stopper, stopped.error)))
    return result(written)


def _stopped(proposals: Sequence[Proposal], stopper: int, error: PlgdError | None) -> Iterator[FileResult]:
    shown = proposals[stopper].edit.document.shown()
    for place, each in enumerate(proposals):
        if place != stopper:
            yield _not_written(each, shown)
        elif isinstance(error, Conflict):
            yield _file(each.conflict(error))
        else:
            yield failed_file(shown, error or Conflict.on(shown, "it keeps changing"))


def _not_written(proposal: Proposal, stopper: str) -> FileResult:
    if proposal.made.status is not EditStatus.PROPOSED:
        return _file(proposal.result())
    return _file(proposal.result(f"Not written: {_NOT_EDITED.format(stopper)}"))


def _file(result: EditResult) -> FileResult:
    return FileResult(result=result)
