"""An edit from the prompt to the answer, as a generator: one slice of prefill or one round between two events."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from typing import Final

from plgd.config import Config, EngineConfig
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.answer import Answer
from plgd.edits.apply import LinesConflict, Written, apply_edit
from plgd.edits.coverage import Coverage
from plgd.edits.drafting import make_edit_proposer, settle_drafting
from plgd.edits.events import JobDelta, JobEvent, JobProgress
from plgd.edits.guard import Verdict, check_ending, check_text
from plgd.edits.head import document_label
from plgd.edits.indentation import keep_tabs
from plgd.edits.prompt import Prompt, make_prompt
from plgd.edits.reply import ReplyReader
from plgd.edits.reply_drafts import DraftRecorder
from plgd.edits.request import PreparedEdit
from plgd.edits.sampling import settle_sampling
from plgd.edits.text_tokens import TextTokens
from plgd.edits.timing import Timing
from plgd.edits.view import rewrite_lines, view
from plgd.engine.governor import make_governor
from plgd.engine.model import Model
from plgd.engine.proposer import Proposer
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.engine.target import Target
from plgd.engine.types import StopReason
from plgd.errors import Conflict, EngineError, TextTooLong
from plgd.protocol.edits import EditMode, EditResult, EditStatus, Stage
from plgd.text.lines import split_lines

__all__ = ("edit_steps",)

# Tokens that a reply may need beyond those of the text it rewrites: the closing fence and a small addition.
_MARGIN: Final = 32
# Of an ordinary token; a sample of so many times the context's length is about as long as the context.
_TOKEN_CHARACTERS: Final = 4


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
    expected = edit.params.base_fingerprint
    if expected is not None and expected != edit.document.fingerprint:
        return answer.unchanged(EditStatus.CONFLICT, f"{edit.document.shown()} is not the text with that fingerprint.")
    _check_size(edit, model)
    alone = model.ranges_alone and edit.source_lines != edit.document.lines
    label = document_label(edit.document, alone=alone)
    index = warm.index(label.document, view(edit.document.lines), model.tokenizer) if warm is not None else None
    prompt = make_prompt(
        edit.document,
        edit.lines,
        edit.params.instruction,
        model.tokenizer,
        ranges_alone=model.ranges_alone,
        index=index,
    )
    tokens = TextTokens(edit, model.tokenizer, index)
    _check_room(edit, prompt, model, tokens)
    stops_at = edit.params.max_tokens or model.context_limit
    answer.sampling = settle_sampling(edit.params.sampling, config)
    drafting = settle_drafting(edit.params.drafting, config.engine)
    target = model.target(answer.sampling)
    engine = _make_session(target, make_edit_proposer(edit, prompt, model, drafting, tokens), model, drafting)
    answer.stats, answer.policy = engine.stats, drafting.policy
    reader = ReplyReader(model.tokenizer.detokenizer(), prompt.fence, prompt.source, model.eos_tokens)
    answer.drafts = DraftRecorder() if edit.params.show_drafts else None
    stops = Stops(model.eos_tokens, stops_at, reader)
    # A prompt that was read in other slices may round differently, and an exact reply is the one without all that.
    lender = None if answer.sampling.exact else warm
    with lender.lend(label, target, prompt.tokens) if lender is not None else contextlib.nullcontext() as loan:
        n_warm = loan.n_warm if loan is not None else 0
        for n_done in engine.prefill(prompt.tokens, config.engine.prefill_slice, n_warm=n_warm):
            yield JobProgress(Stage.PREFILL, 100.0 * n_done / len(prompt.tokens), n_done)
        answer.stopped = yield from _decode(engine, reader, stops, prompt, timing, answer.drafts)
    answer.raw_reply = reader.raw
    if cut_off := check_ending(answer.stopped, timing.n_tokens):
        return answer.unchanged(EditStatus.TRUNCATED, cut_off)
    reply = keep_tabs(prompt.source, reader.reply.text, edit.params.instruction)
    verdict = _judge(edit, prompt, reply, model, config)
    if verdict.refusal is not None:
        return answer.unchanged(EditStatus.REJECTED_OUTPUT, verdict.refusal)
    new_lines = rewrite_lines(edit.document.lines, edit.lines.first, edit.lines.last, reply)
    if new_lines == edit.document.lines:
        return answer.unchanged(EditStatus.NO_CHANGE)
    if edit.params.mode is EditMode.PROPOSE:
        return answer.changed(EditStatus.PROPOSED, edit.document, new_lines, verdict.warnings)
    yield JobProgress(Stage.APPLY, 100.0, timing.n_tokens, timing.tokens_per_s)
    return _apply(edit, new_lines, verdict.warnings, documents, answer, before_write)


def _check_size(edit: PreparedEdit, model: Model) -> None:
    """Refuse by an estimate what is far too long: tokenizing tens of megabytes would hold up every other edit."""
    n_sample = _TOKEN_CHARACTERS * model.context_limit
    whole, part = (sum(map(len, lines)) for lines in (edit.document.lines, edit.source_lines))
    if whole <= 4 * n_sample:
        return
    sample = edit.document.text[:n_sample]
    n_needed = len(model.tokenizer.encode(sample)) * (whole + part) // n_sample
    if n_needed > 2 * model.context_limit:
        raise TextTooLong.of(edit.document.shown(), n_needed, model.context_limit, about=True)


def _check_room(edit: PreparedEdit, prompt: Prompt, model: Model, tokens: TextTokens) -> None:
    n_source = len(tokens.source(""))
    n_needed = len(prompt.tokens) + n_source + _MARGIN
    if n_needed > model.context_limit:
        raise TextTooLong.of(edit.document.shown(), n_needed, model.context_limit)


def _make_session(target: Target, proposer: Proposer, model: Model, drafting: EngineConfig) -> Session:
    governor = make_governor(drafting.policy, max_draft=drafting.max_draft, costs=model.costs)
    return Session(target, proposer, governor)


def _decode(
    engine: Session,
    reader: ReplyReader,
    stops: Stops,
    prompt: Prompt,
    timing: Timing,
    drafts: DraftRecorder | None,
) -> Generator[JobEvent, None, StopReason]:
    coverage = Coverage(prompt.source)
    stopped: StopReason | None = None
    with contextlib.closing(engine.decode(stops)) as rounds:
        for round_ in rounds:
            timing.note_tokens(len(round_.tokens))
            stopped = round_.stopped
            if stopped is not None:
                reader.finish()
            if drafts is not None:
                drafts.add(round_, reader.take_pieces())
            if text := reader.reply.take():
                coverage.feed(text)
                yield JobDelta(text)
            yield JobProgress(Stage.DECODE, coverage.percent, timing.n_tokens, timing.tokens_per_s)
    if stopped is None:
        raise EngineError.during("the reply", "it ended without a reason")
    return stopped


def _judge(edit: PreparedEdit, prompt: Prompt, reply: str, model: Model, config: Config) -> Verdict:
    return check_text(
        prompt.source,
        reply,
        edit.params.instruction,
        before=split_lines(view(edit.document.lines[: edit.lines.first - 1])),
        after=split_lines(view(edit.document.lines[edit.lines.last :])),
        language=prompt.language,
        control_strings=model.tokenizer.control_strings,
        max_deleted_share=config.edit.max_deleted_share,
    )


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
