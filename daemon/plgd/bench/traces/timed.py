"""A trace on a real target: every pass of the model is computed and timed, the choices are the trace's."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from plgd.bench.replay.price import price_round
from plgd.bench.replay.run import ReplayedPolicy
from plgd.bench.replay.trace import Trace, stops_at_end
from plgd.engine.codec import SpanCodec
from plgd.engine.correction import LiveCosts
from plgd.engine.cost import StepCosts
from plgd.engine.governor import Governor
from plgd.engine.proposer import Draft
from plgd.engine.session import Session
from plgd.engine.stats import GovernorCounts, Stats
from plgd.engine.stops import Stops
from plgd.engine.target import Target
from plgd.engine.types import Outcome
from plgd.errors import EngineError

__all__ = ("TimedReply", "record_reply", "time_trace")


@dataclass(frozen=True, slots=True)
class TimedReply:
    """One reply.

    Attributes:
        prefill_ms: the prompt, index and all.
        decode_ms: from there to the last token.
        expected_ms: what the rounds were expected to take, each by the live costs as they were before it.
        stats: the session's counts.
    """

    prefill_ms: float
    decode_ms: float
    expected_ms: float
    stats: Stats


class _Watched:
    """Passes everything on to a governor, adds up what its rounds were expected to take and notes what they took."""

    def __init__(self, governor: Governor, costs: LiveCosts, measured: LiveCosts) -> None:
        self.expected_ms = 0.0
        self._governor = governor
        self._costs = costs
        self._measured = measured

    @property
    def policy(self) -> str:
        return self._governor.policy

    @property
    def counts(self) -> GovernorCounts:
        return self._governor.counts

    @property
    def pipeline_after(self) -> int:
        return self._governor.pipeline_after

    def limit(self) -> int:
        return self._governor.limit()

    def choose(self, draft: Draft, n_history: int, *, in_flight: bool) -> int:
        return self._governor.choose(draft, n_history, in_flight=in_flight)

    def observe(self, outcome: Outcome) -> None:
        self.expected_ms += price_round(self._costs, outcome.n_drafted, outcome.n_history, in_flight=outcome.in_flight)
        self._measured.observe(outcome)
        self._governor.observe(outcome)


def time_trace(
    trace: Trace,
    policy: ReplayedPolicy,
    make_target: Callable[[], Target],
    codec: SpanCodec,
    costs: LiveCosts,
    measured: LiveCosts,
    *,
    prefill_slice: int,
    clock: Callable[[], float] = time.perf_counter,
) -> TimedReply:
    """Decode a trace's reply in a session of its own and time it.

    Args:
        trace: the edit.
        policy: what drafts.
        make_target: starts an empty sequence of a model that chooses the trace's tokens.
        codec: its tokenizer.
        costs: the device's prices; a policy that knows them corrects them.
        measured: the same, corrected by every policy.
        prefill_slice: prompt tokens per pass.
        clock: seconds from any start.

    Raises:
        EngineError: the model failed, or did not choose the trace's tokens.
    """
    governor = _Watched(policy.make_governor(costs), costs, measured)
    session = Session(make_target(), policy.make_proposer(trace, codec), governor, clock=clock)
    gc.collect()
    started_at = clock()
    _prefill(session, trace.prompt, prefill_slice)
    prefilled_at = clock()
    _decode(session, stops_at_end(trace))
    ended_at = clock()
    if tuple(session.tokens[len(trace.prompt) :]) != trace.reply:
        raise EngineError.during("a trace", "the model did not choose its tokens")
    return TimedReply(
        prefill_ms=1000.0 * (prefilled_at - started_at),
        decode_ms=1000.0 * (ended_at - prefilled_at),
        expected_ms=governor.expected_ms,
        stats=session.stats,
    )


def record_reply(
    trace: Trace,
    policy: ReplayedPolicy,
    make_target: Callable[[], Target],
    codec: SpanCodec,
    costs: StepCosts,
    *,
    eos_tokens: frozenset[int],
    max_tokens: int,
    cut_at: int | None = None,
    prefill_slice: int,
) -> tuple[int, ...] | None:
    """Return a model's own reply to a trace's prompt; None when it does not end.

    Args:
        trace: the edit.
        policy: what drafts, which changes how long this takes.
        make_target: starts an empty sequence of the model.
        codec: its tokenizer.
        costs: the device's prices.
        eos_tokens: what ends a reply; the last token of what is returned is one of them.
        max_tokens: a longer reply is taken to have no end.
        cut_at: of a longer reply, only so many tokens are wanted; whether it ends is not asked then.
        prefill_slice: prompt tokens per pass.

    Raises:
        EngineError: the model failed.
    """
    session = Session(make_target(), policy.make_proposer(trace, codec), policy.make_governor(costs))
    _prefill(session, trace.prompt, prefill_slice)
    wanted = max_tokens if cut_at is None else min(cut_at, max_tokens)
    _decode(session, Stops(eos_tokens, wanted))
    reply = tuple(session.tokens[len(trace.prompt) :])
    return reply if reply[-1] in eos_tokens or len(reply) == cut_at else None


def _prefill(session: Session, prompt: Sequence[int], prefill_slice: int) -> None:
    for _ in session.prefill(prompt, prefill_slice):
        pass


def _decode(session: Session, stops: Stops) -> None:
    with closing(session.decode(stops)) as rounds:
        for _ in rounds:
            pass
