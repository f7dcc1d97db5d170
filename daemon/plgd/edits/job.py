"""An edit from the prompt to the answer, as a generator: one slice of prefill or one round between two events."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator

from plgd.config import Config
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.answer import Answer
from plgd.edits.apply import LinesConflict, Written, apply_edit
from plgd.edits.events import JobEvent, JobProgress
from plgd.edits.parts import part_steps
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
    if made.status is not EditStatus.PROPOSED:
        return answer.unchanged(made.status, *made.warnings)
    if edit.params.mode is EditMode.PROPOSE:
        return answer.changed(EditStatus.PROPOSED, edit.document, made.lines, made.warnings)
    yield JobProgress(Stage.APPLY, 100.0, timing.n_tokens, timing.tokens_per_s)
    return _apply(edit, made.lines, made.warnings, documents, answer, before_write)


def _apply(
    edit: PreparedEdit,
    lines: tuple[str, ...],
    warnings: tuple[str, ...],
    documents: DocumentStore,
    answer: Answer,
    before_write: Callable[[EditResult], None],
) -> EditResult:
    def tell(written: Written) -> None:
        before_write(answer.changed(EditStatus.APPLIED, written.base, written.lines, warnings + written.warnings))

    dry_run = edit.params.dry_run
    try:
        written = apply_edit(edit.document, lines, documents, dry_run=dry_run, before_write=tell)
    except LinesConflict as conflict:
        return answer.unchanged(EditStatus.CONFLICT, conflict.message, conflict=conflict.lines)
    except Conflict as conflict:
        return answer.unchanged(EditStatus.CONFLICT, conflict.message)
    warnings += written.warnings
    if written.lines == written.base.lines:
        return answer.unchanged(EditStatus.NO_CHANGE, *warnings)
    if dry_run:
        return answer.changed(EditStatus.PROPOSED, edit.document, lines, warnings)
    return answer.changed(EditStatus.APPLIED, written.base, written.lines, warnings, version=written.version)
