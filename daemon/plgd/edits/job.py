"""An edit from the prompt to the answer, as a generator: one slice of prefill or one round between two events."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from plgd.config import Config
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.answer import Answer
from plgd.edits.apply import apply_edit
from plgd.edits.events import JobEvent, JobProgress
from plgd.edits.parts import part_steps
from plgd.edits.proposal import Proposal
from plgd.edits.request import PreparedEdit
from plgd.edits.timing import Timing
from plgd.engine.model import Model
from plgd.errors import Conflict
from plgd.protocol.edits import EditMode, EditResult, EditStatus, Stage

__all__ = ("edit_steps",)


def edit_steps(
    edit: PreparedEdit,
    *,
    session: str,
    received: float,
    documents: DocumentStore,
    model: Model,
    config: Config,
    warm: WarmStore | None = None,
    before_write: Callable[[EditResult], None] = lambda _result: None,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[JobEvent, None, EditResult]:
    """Carry out an edit on a model.

    Closing the generator cancels the edit; whatever was done until then, the file is as it was.

    Args:
        edit: what `prepare` made of the request.
        session: the edit's id, repeated in the result.
        received: when the request arrived, by `clock`.
        documents: counts the versions of what is written.
        model: in memory, and this thread's.
        config: limits and drafting.
        warm: what is kept of this document for the model, and will be.
        before_write: told the result before the file gets its new text; if it raises, the file is not written.
        clock: seconds from any start.

    Yields:
        Progress after each slice of the prompt and each round of the reply, and the reply's text as it becomes certain.

    Returns:
        The result; every outcome that is not an error is a status of its own.

    Raises:
        TextTooLong: prompt and a reply as long as the text do not fit into the model's context.
        EngineError: the model failed.
        WriteFailed: the disk refused the new text.
    """
    timing = Timing(clock, received)
    answer = Answer(edit, session, model.name, timing)
    made = yield from part_steps(edit, answer, timing, model=model, config=config, warm=warm)
    proposal = Proposal(edit, answer, made)
    if made.status is not EditStatus.PROPOSED or edit.params.mode is EditMode.PROPOSE:
        return proposal.result()
    yield JobProgress(Stage.APPLY, 100.0, timing.n_tokens, timing.tokens_per_s)
    return _apply(proposal, documents, before_write)


def _apply(proposal: Proposal, documents: DocumentStore, before_write: Callable[[EditResult], None]) -> EditResult:
    edit = proposal.edit
    try:
        written = apply_edit(
            edit.document,
            proposal.made.lines,
            documents,
            dry_run=edit.params.dry_run,
            before_write=lambda planned: before_write(proposal.applied(planned)),
        )
    except Conflict as conflict:
        return proposal.conflict(conflict)
    return proposal.applied(written)
