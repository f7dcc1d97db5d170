"""Replays: drafting on traces, without a model, at the prices of any device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec

from plgd.bench.replay.bound import bound_ms, copied_runs
from plgd.bench.replay.target import TraceTarget
from plgd.bench.replay.trace import Trace, stops_at_end
from plgd.engine.codec import SpanCodec
from plgd.engine.correction import LiveCosts
from plgd.engine.cost import StepCosts
from plgd.engine.drafting import make_file_proposer
from plgd.engine.governor import Governor, make_governor, make_proposer
from plgd.engine.proposer import Proposer
from plgd.engine.session import Session
from plgd.engine.stats import Stats

__all__ = (
    "REPLAYED",
    "Fare",
    "PolicyResult",
    "Replayed",
    "ReplayedPolicy",
    "TableResult",
    "Worst",
    "replay",
    "replay_trace",
)

PREFILL_SLICE: Final = 4096
N_WORST: Final = 5

MakeProposer = Callable[[Trace, SpanCodec], Proposer]
MakeGovernor = Callable[[StepCosts | LiveCosts], Governor]


@dataclass(frozen=True, slots=True)
class ReplayedPolicy:
    """A policy and what it drafts from.

    Attributes:
        make_governor: for a device.
        make_proposer: for a trace.
        knows_costs: it does other things on other devices.
    """

    make_governor: MakeGovernor
    make_proposer: MakeProposer
    knows_costs: bool = False


def _fixed(policy: str, max_draft: int = 0) -> MakeGovernor:
    return lambda _: make_governor(policy, max_draft=max_draft)


def _cost(costs: StepCosts | LiveCosts) -> Governor:
    return make_governor("cost", costs=costs)


def _ngram(policy: str) -> MakeProposer:
    return lambda trace, codec: make_proposer(policy)  # noqa: ARG005 - n-grams need neither


def _file(trace: Trace, codec: SpanCodec) -> Proposer:
    return make_file_proposer([trace.source], n_prompt=len(trace.prompt), codec=codec, announced=trace.announced)


REPLAYED: Final[Mapping[str, ReplayedPolicy]] = {
    "off": ReplayedPolicy(_fixed("off"), _ngram("off")),
    "ds4": ReplayedPolicy(_fixed("ds4"), _ngram("ds4")),
    "graded": ReplayedPolicy(_fixed("graded"), _ngram("graded")),
    "gated": ReplayedPolicy(_fixed("gated"), _ngram("gated")),
    "graded-wide": ReplayedPolicy(_fixed("graded", 31), _ngram("graded")),
    "graded-file": ReplayedPolicy(_fixed("graded", 31), _file),
    "cost-ngram": ReplayedPolicy(_cost, _ngram("cost"), knows_costs=True),
    "cost": ReplayedPolicy(_cost, _file, knows_costs=True),
}


class Fare(msgspec.Struct):
    """How one proposer fared: drafts verified, tokens in them, tokens accepted."""

    n_drafts: int = 0
    n_drafted: int = 0
    n_accepted: int = 0


class Worst(msgspec.Struct, frozen=True):
    """A trace that fell far behind its bound."""

    name: str
    kind: str
    speedup: float
    share_of_bound: float


class PolicyResult(msgspec.Struct, frozen=True, kw_only=True):
    """One policy on one device.

    Attributes:
        speedup: plain time over time, of all tokens together.
        tokens_per_round: tokens over rounds.
        share_of_bound: its speed-up over the bound's.
        n_rounds: rounds in all.
        proposers: how each proposer fared.
        by_kind: speed-up by kind of edit.
        worst: the traces that fell farthest behind their bound.
    """

    speedup: float
    tokens_per_round: float
    share_of_bound: float
    n_rounds: int
    proposers: dict[str, Fare]
    by_kind: dict[str, float]
    worst: tuple[Worst, ...]


class TableResult(msgspec.Struct, frozen=True):
    """All policies on one device.

    Attributes:
        bound: the speed-up with alignment and run lengths known.
        policies: by name.
    """

    bound: float
    policies: dict[str, PolicyResult]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One trace under one policy: what it counted, and the simulated time it took."""

    trace: Trace
    stats: Stats
    elapsed_ms: float

    def cost_ms(self, costs: StepCosts) -> float:
        """Return the time of its rounds on a device."""
        n_context = _mean_context(self.trace)
        plain_ms = costs.plain_ms(n_context) * self.stats.n_plain_rounds
        drafted = self.stats.widths.items()
        return plain_ms + sum(n * costs.round_ms(width, n_context) for width, n in drafted if width > 1)


def replay_trace(
    trace: Trace, policy: ReplayedPolicy, costs: StepCosts, codec: SpanCodec, *, pipelines: bool = False
) -> Replayed:
    """Run the engine's own decode loop on a trace.

    Args:
        trace: the edit.
        policy: what drafts.
        costs: the device's prices.
        codec: the tokenizer that the trace was made with.
        pipelines: see `plgd.bench.replay.target`.

    Raises:
        EngineError: the trace and the loop disagree.
    """
    target = TraceTarget(trace.reply, costs, pipelines=pipelines)
    session = Session(target, policy.make_proposer(trace, codec), policy.make_governor(costs), clock=target.clock)
    for _ in session.prefill(trace.prompt, PREFILL_SLICE):
        pass
    with closing(session.decode(stops_at_end(trace))) as rounds:
        for _ in rounds:
            pass
    return Replayed(trace, session.stats, target.elapsed_ms)


def replay(
    traces: Sequence[Trace],
    tables: Mapping[str, StepCosts],
    codec: SpanCodec,
    *,
    policies: Iterable[str] = tuple(REPLAYED),
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, TableResult]:
    """Replay traces under policies on devices.

    Args:
        traces: at least one.
        tables: cost tables by name.
        codec: the tokenizer that the traces were made with.
        policies: names of `REPLAYED`.
        say: told how far it is.

    Returns:
        Results by table.
    """
    policies = tuple(policies)
    say("aligning")
    runs = [copied_runs(trace.source, trace.reply) for trace in traces]
    some_costs = next(iter(tables.values()))
    run = partial(_replay_all, traces, codec)
    # What does not know the device does the same on every one.
    shared = {}
    for name in policies:
        if not REPLAYED[name].knows_costs:
            say(name)
            shared[name] = run(REPLAYED[name], some_costs)
    results: dict[str, TableResult] = {}
    for table, costs in tables.items():
        bounds = [
            bound_ms(lengths, len(trace.reply), costs, _mean_context(trace))
            for trace, lengths in zip(traces, runs, strict=True)
        ]
        found: dict[str, PolicyResult] = {}
        for name in policies:
            if name not in shared:
                say(f"{name} on {table}")
            replayed = shared[name] if name in shared else run(REPLAYED[name], costs)
            found[name] = _judge(replayed, costs, bounds)
        plain_ms = sum(_plain_ms(trace, costs) for trace in traces)
        results[table] = TableResult(plain_ms / sum(bounds), found)
    return results


def _replay_all(traces: Sequence[Trace], codec: SpanCodec, policy: ReplayedPolicy, costs: StepCosts) -> list[Replayed]:
    return [replay_trace(trace, policy, costs, codec) for trace in traces]


def _judge(replayed: Sequence[Replayed], costs: StepCosts, bounds: Sequence[float]) -> PolicyResult:
    spent = [run.cost_ms(costs) for run in replayed]
    plain = [_plain_ms(run.trace, costs) for run in replayed]
    by_kind: dict[str, list[float]] = {}
    fares: dict[str, Fare] = {}
    for run, spent_ms, plain_ms in zip(replayed, spent, plain, strict=True):
        sums = by_kind.setdefault(run.trace.kind, [0.0, 0.0])
        sums[0] += plain_ms
        sums[1] += spent_ms
        for name, counts in run.stats.proposers.items():
            fare = fares.setdefault(name, Fare())
            fare.n_drafts += counts.n_drafts
            fare.n_drafted += counts.n_drafted
            fare.n_accepted += counts.n_accepted
    n_rounds = sum(run.stats.n_rounds for run in replayed)
    shares = sorted(zip((b / s for b, s in zip(bounds, spent, strict=True)), range(len(spent)), strict=True))
    return PolicyResult(
        speedup=sum(plain) / sum(spent),
        tokens_per_round=sum(len(run.trace.reply) for run in replayed) / n_rounds,
        share_of_bound=sum(bounds) / sum(spent),
        n_rounds=n_rounds,
        proposers=fares,
        by_kind={kind: plain_ms / spent_ms for kind, (plain_ms, spent_ms) in by_kind.items()},
        worst=tuple(
            Worst(replayed[place].trace.name, replayed[place].trace.kind, plain[place] / spent[place], share)
            for share, place in shares[:N_WORST]
        ),
    )


def _plain_ms(trace: Trace, costs: StepCosts) -> float:
    return len(trace.reply) * costs.plain_ms(_mean_context(trace))


def _mean_context(trace: Trace) -> int:
    """Return the context length that a round of the reply has on average; costs are lines over it."""
    return len(trace.prompt) + len(trace.reply) // 2
