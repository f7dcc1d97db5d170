"""The time to the first token of an edit, cold and warm, and what it is bounded by."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from contextlib import closing, nullcontext

from plgd.bench.results import Record
from plgd.config import EngineConfig
from plgd.documents.document import Document
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.drafting import make_edit_proposer
from plgd.edits.head import document_label
from plgd.edits.prompt import make_prompt
from plgd.edits.request import prepare
from plgd.edits.text_tokens import TextTokens
from plgd.edits.view import view
from plgd.edits.warm_up import warm_steps
from plgd.engine.governor import make_governor
from plgd.engine.model import Model
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.protocol.edits import EditParams

__all__ = ("FirstToken", "begin_edit", "measure_first_token")

INSTRUCTIONS = ("Rename total to subtotal.", "Add type annotations.", "Turn the comments into docstrings.")
NAME = "shop.py"


class FirstToken(Record, frozen=True):
    """Times to the first token of edits of one text; medians over the repeats.

    Attributes:
        prompt_tokens: tokens of the prompt.
        cached_tokens: those of them that were warm in the warm edits, the fewest of all repeats.
        cold_ms: from a request whose text is in memory to the first token, with nothing warm.
        warm_ms: the same behind what was kept; each edit has another instruction.
        bound_ms: prefill of the tokens that were not warm, and two plain steps, behind the same text.
        first_tokens: tokens that came with the first one in the last warm edit, itself included: the round that brings
            it carries a draft already.
    """

    prompt_tokens: int
    cached_tokens: int
    cold_ms: float
    warm_ms: float
    bound_ms: float
    first_tokens: int

    @property
    def speedup(self) -> float:
        """How much sooner the first token of a warm edit comes."""
        return self.cold_ms / self.warm_ms


def begin_edit(
    model: Model, text: str, instruction: str, warm: WarmStore | None, engine: EngineConfig, *, name: str = NAME
) -> Session:
    """Carry an edit as far as its first token, as the daemon does.

    Args:
        model: in memory.
        text: the whole text.
        instruction: what to do.
        warm: what is kept; None begins cold.
        engine: how the reply is drafted.
        name: of the document; texts of one name are one document.
    """
    edit = prepare(EditParams(instruction=instruction, text=text, name=name), DocumentStore())
    label, seen = document_label(edit.document), view(edit.document.lines)
    index = warm.index(label, seen, model.tokenizer) if warm is not None else None
    prompt = make_prompt(edit.document, edit.lines, instruction, model.tokenizer, index=index)
    tokens = TextTokens(edit, model.tokenizer, index)
    target = model.target()
    session = Session(
        target,
        make_edit_proposer(edit, prompt, model, engine, tokens),
        make_governor(engine.policy, max_draft=engine.max_draft, costs=model.costs),
    )
    with warm.lend(label, target, prompt.tokens) if warm is not None else nullcontext() as loan:
        n_warm = loan.n_warm if loan is not None else 0
        for _ in session.prefill(prompt.tokens, engine.prefill_slice, n_warm=n_warm):
            pass
        with closing(session.decode(Stops(model.eos_tokens, model.context_limit))) as rounds:
            next(rounds)
    return session


def measure_first_token(
    model: Model,
    text: str,
    engine: EngineConfig,
    *,
    n_repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> FirstToken:
    """Begin edits of one text, cold and warm in turn.

    Args:
        model: in memory, its kernels compiled.
        text: the whole text; prompt and a first token fit into the context.
        engine: how the reply is drafted.
        n_repeats: edits of each kind.
        clock: seconds from any start.
    """
    warm = WarmStore(clock)
    warm.resize(1 << 62)
    for _ in warm_steps(
        Document.of_text(text, NAME), received=0.0, model=model, warm=warm, slice_tokens=engine.prefill_slice
    ):
        pass
    cold_ms, warm_ms, bound_ms, cached = [], [], [], []
    session = begin_edit(model, text, INSTRUCTIONS[-1], warm, engine)
    for turn in range(n_repeats):
        instruction = INSTRUCTIONS[turn % len(INSTRUCTIONS)]
        started = clock()
        begin_edit(model, text, instruction, None, engine)
        cold_ms.append(1000.0 * (clock() - started))
        started = clock()
        session = begin_edit(model, text, instruction, warm, engine)
        warm_ms.append(1000.0 * (clock() - started))
        cached.append(session.stats.n_cached_tokens)
        bound_ms.append(_measure_bound(model, session, clock))
    return FirstToken(
        prompt_tokens=session.stats.n_prompt_tokens,
        cached_tokens=min(cached),
        cold_ms=statistics.median(cold_ms),
        warm_ms=statistics.median(warm_ms),
        bound_ms=statistics.median(bound_ms),
        first_tokens=session.stats.n_tokens,
    )


def _measure_bound(model: Model, session: Session, clock: Callable[[], float]) -> float:
    """Time the prefill of the cold part of a prompt and two plain steps, with nothing else around them.

    What of the prefill the target puts off to the first step counts there.
    """
    n_prompt, n_warm = session.stats.n_prompt_tokens, session.stats.n_cached_tokens
    prompt = session.tokens[:n_prompt]
    target = model.target()
    target.prefill(prompt[: n_warm + 1])
    started = clock()
    if rest := prompt[n_warm + 1 :]:
        target.prefill(rest)
    for _ in range(2):
        target.verify(())
    return 1000.0 * (clock() - started)
