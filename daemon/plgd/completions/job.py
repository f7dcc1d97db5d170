"""A completion from the conversation to the reply, as a generator: a slice of prefill or a round between two events."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Iterable, Iterator
from typing import Final

from plgd.completions.reader import StopReader
from plgd.completions.request import Completion, CompletionEvent, CompletionResult, CompletionText, PromptRead
from plgd.config import EngineConfig
from plgd.documents.warm import WarmStore
from plgd.engine.drafting import make_file_proposer
from plgd.engine.governor import make_governor, make_proposer
from plgd.engine.model import Model
from plgd.engine.proposer import Proposer
from plgd.engine.sampling import Sampling
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.engine.types import StopReason
from plgd.errors import EngineError, TextTooLong
from plgd.text.fingerprint import fingerprint

__all__ = ("completion_steps",)

# Of the longest ordinary tokens: a text with more characters than so many times the context's length does not fit.
_TOKEN_CHARACTERS: Final = 16


def completion_steps(
    completion: Completion, *, model: Model, engine: EngineConfig, sampling: Sampling, warm: WarmStore | None = None
) -> Generator[CompletionEvent, None, CompletionResult]:
    """Write the next turn of a conversation. Closing the generator cancels it.

    Args:
        completion: what is asked.
        model: in memory, and this thread's.
        engine: how replies are drafted.
        sampling: how this one's tokens are drawn.
        warm: keeps what the model has read, so that the conversation's next turn does not begin from nothing.

    Yields:
        How much of the prompt has been read, after each slice; then the reply's text, after each round.

    Raises:
        InvalidParams: the model's chat template refuses the conversation, or a bias is for no token of it.
        TextTooLong: the conversation does not fit into the model's context.
        EngineError: the model failed.
    """
    n_characters = sum(len(turn.text) for turn in completion.turns)
    if n_characters > _TOKEN_CHARACTERS * model.context_limit:
        n_needed = n_characters // _TOKEN_CHARACTERS
        raise TextTooLong.in_conversation(n_needed, model.context_limit, about=True)
    prompt = model.tokenizer.encode_turns(completion.turns)
    if len(prompt) >= model.context_limit:
        raise TextTooLong.in_conversation(len(prompt), model.context_limit)
    target = model.target(sampling)
    governor = make_governor(engine.policy, max_draft=engine.max_draft, costs=model.costs)
    session = Session(target, _make_proposer(completion, len(prompt), model, engine), governor)
    reader = StopReader(model.tokenizer.detokenizer(), completion.stop, model.eos_tokens)
    stops = Stops(model.eos_tokens, completion.max_tokens or model.context_limit, reader)
    # A prompt that was read in other slices may round differently, and an exact reply is the one without all that.
    lender = None if sampling.exact else warm
    label = _label(completion)
    with lender.lend(label, target, prompt) if lender is not None else contextlib.nullcontext() as loan:
        n_warm = loan.n_warm if loan is not None else 0
        for n_done in session.prefill(prompt, engine.prefill_slice, n_warm=n_warm):
            yield PromptRead(100.0 * n_done / len(prompt))
        stopped = yield from _decode(session, reader, stops)
    stats = session.stats
    return CompletionResult(
        text=reader.text,
        finish="stop" if stopped in {StopReason.EOS, StopReason.STOP} else "length",
        model=model.name,
        n_prompt_tokens=stats.n_prompt_tokens,
        n_cached_tokens=stats.n_cached_tokens,
        n_tokens=stats.n_tokens,
        n_drafted=stats.n_drafted,
        n_accepted=stats.n_accepted,
    )


def _decode(session: Session, reader: StopReader, stops: Stops) -> Generator[CompletionEvent, None, StopReason]:
    stopped: StopReason | None = None
    with contextlib.closing(session.decode(stops)) as rounds:
        for round_ in rounds:
            stopped = round_.stopped
            if stopped is not None:
                reader.finish()
            yield CompletionText(reader.take())
    if stopped is None:
        raise EngineError.during("the reply", "it ended without a reason")
    return stopped


def _make_proposer(completion: Completion, n_prompt: int, model: Model, engine: EngineConfig) -> Proposer:
    """Make what the reply is drafted from: the prediction, then what the user said, the latest first.

    A request to rewrite something mostly holds it, so tools that send no prediction are drafted for as well.
    """
    said = (turn.text for turn in reversed(completion.turns) if turn.role == "user")
    texts = list(_cut((completion.prediction, *said), _TOKEN_CHARACTERS * model.context_limit))
    sources = [model.tokenizer.encode(text) for text in texts]
    if engine.policy == "cost":
        return make_file_proposer(
            sources,
            n_prompt=n_prompt,
            codec=model.tokenizer,
            ngram_min=engine.ngram_min,
            ngram_max=engine.ngram_max,
        )
    proposer = make_proposer(engine.policy, ngram_min=engine.ngram_min, ngram_max=engine.ngram_max)
    # What was said is in the prompt; of n-grams only the prediction is not there yet.
    if completion.prediction:
        proposer.extend(sources[0])
    return proposer


def _cut(texts: Iterable[str], n_characters: int) -> Iterator[str]:
    """Yield texts, the empty ones left out, until they have so many characters together; the last may be cut."""
    for text in texts:
        if piece := text[:n_characters]:
            yield piece
        n_characters -= len(piece)


def _label(completion: Completion) -> str:
    """Return what the model's state is kept under: conversations with the same system turn share their beginning."""
    first = completion.turns[0]
    words = first.text if first.role == "system" else ""
    return f"conversation {fingerprint(words.encode())[:16]}"
