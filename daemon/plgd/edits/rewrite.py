"""From a prepared edit to new lines: one slice of prefill or one round between two events; nothing is written."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Final

from plgd.config import Config, EngineConfig
from plgd.documents.warm import WarmStore
from plgd.edits.answer import Answer
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
from plgd.errors import EngineError, TextTooLong
from plgd.protocol.edits import EditStatus, Stage
from plgd.text.lines import split_lines

__all__ = ("Rewrite", "rewrite_steps")

# Tokens that a reply may need beyond those of the text it rewrites: the closing fence and a small addition.
_MARGIN: Final = 32
# Of an ordinary token; a sample of so many times the context's length is about as long as the context.
_TOKEN_CHARACTERS: Final = 4


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What a model made of some lines of a text.

    Attributes:
        status: `PROPOSED`, `NO_CHANGE`, `TRUNCATED` or `REJECTED_OUTPUT`; of several edits also `CONFLICT`.
        lines: all lines of the text afterwards; as they were unless `PROPOSED`.
        warnings: sentences for a person.
    """

    status: EditStatus
    lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()


def rewrite_steps(
    edit: PreparedEdit, answer: Answer, timing: Timing, *, model: Model, config: Config, warm: WarmStore | None
) -> Generator[JobEvent, None, Rewrite]:
    """Let a model rewrite the lines of an edit, and judge what it says.

    Args:
        edit: for one edit; of several, one part.
        answer: takes in what becomes known.
        timing: takes in the tokens.
        model: in memory, and this thread's.
        config: limits and drafting.
        warm: what is kept of this document for the model, and will be.

    Yields:
        Progress after each slice of the prompt and each round of the reply, and the reply's text as it becomes certain.

    Raises:
        TextTooLong: prompt and a reply as long as the text do not fit into the model's context.
        EngineError: the model failed.
    """
    _check_size(edit, model)
    label = document_label(edit.document)
    index = warm.index(label, view(edit.document.lines), model.tokenizer) if warm is not None else None
    prompt = make_prompt(
        edit.document,
        edit.lines,
        edit.params.instruction,
        model.tokenizer,
        index=index,
        sketch=edit.sketch,
    )
    tokens = TextTokens(edit, model.tokenizer, index)
    _check_room(edit, prompt, model, tokens)
    stops_at = edit.params.max_tokens or model.context_limit
    answer.sampling = settle_sampling(edit.params.sampling, config)
    drafting = settle_drafting(edit.params.drafting, config.engine)
    target = model.target(answer.sampling)
    engine = _make_session(target, make_edit_proposer(edit, prompt, model, drafting, tokens), model, drafting)
    answer.replies.append(engine.stats)
    answer.policy = drafting.policy
    reader = ReplyReader(model.tokenizer.detokenizer(), prompt.fence, prompt.source, model.eos_tokens)
    answer.drafts = DraftRecorder() if edit.params.show_drafts else None
    stops = Stops(model.eos_tokens, stops_at, reader)
    n_before = timing.n_tokens
    # A prompt that was read in other slices may round differently, and an exact reply is the one without all that.
    lender = None if answer.sampling.exact else warm
    while lender is not None and (n_read := lender.awaited(label, prompt.tokens)) is not None:
        yield JobProgress(Stage.PREFILL, 100.0 * n_read / len(prompt.tokens), n_read, awaits=True)
    with lender.lend(label, target, prompt.tokens) if lender is not None else contextlib.nullcontext() as loan:
        n_warm = loan.n_warm if loan is not None else 0
        for n_done in engine.prefill(prompt.tokens, config.engine.prefill_slice, n_warm=n_warm):
            yield JobProgress(Stage.PREFILL, 100.0 * n_done / len(prompt.tokens), n_done)
        answer.stopped = yield from _decode(engine, reader, stops, prompt, timing, answer.drafts)
    answer.raw_reply = reader.raw
    if cut_off := check_ending(answer.stopped, timing.n_tokens - n_before):
        return Rewrite(EditStatus.TRUNCATED, edit.document.lines, (cut_off,))
    return _concluded(edit, prompt, reader.reply.text, model, config)


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
        # The text is in the prompt in any case; a range makes the reply shorter.
        fewer_lines = edit.params.range is None and len(prompt.tokens) + _MARGIN < model.context_limit
        raise TextTooLong.of(edit.document.shown(), n_needed, model.context_limit, fewer_lines=fewer_lines)


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


def _concluded(edit: PreparedEdit, prompt: Prompt, text: str, model: Model, config: Config) -> Rewrite:
    """Judge a reply that ended by itself, and put it in its place."""
    unchanged = edit.document.lines
    reply = keep_tabs(prompt.source, text, edit.params.instruction)
    verdict = _judge(edit, prompt, reply, model, config)
    if verdict.refusal is not None:
        return Rewrite(EditStatus.REJECTED_OUTPUT, unchanged, (verdict.refusal,))
    new_lines = rewrite_lines(unchanged, edit.lines.first, edit.lines.last, reply)
    status = EditStatus.NO_CHANGE if new_lines == unchanged else EditStatus.PROPOSED
    return Rewrite(status, new_lines, verdict.warnings)


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
        sketch=edit.sketch,
        guess=edit.guess,
    )
