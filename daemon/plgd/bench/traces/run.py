"""Traces in real time: policies take turns on a trace, and what came out is compared with a replay of the same."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from plgd.bench.replay.run import REPLAYED, Fare, replay_trace
from plgd.bench.replay.trace import Trace
from plgd.bench.traces.results import PolicyTime, TraceMeans, TraceResult
from plgd.bench.traces.timed import TimedReply, time_trace
from plgd.engine.codec import SpanCodec
from plgd.engine.correction import LiveCosts
from plgd.engine.cost import StepCosts
from plgd.engine.target import Target

__all__ = ("OFF", "TIMED", "TimedTrace", "corrected", "judge", "mean", "time_policies")

# Plain decoding in plgd's own pipeline: what the others are compared with.
OFF: Final = "off"
TIMED: Final = (OFF, "graded", "cost")


@dataclass(frozen=True, slots=True)
class TimedTrace:
    """One trace and its timed replies.

    Attributes:
        trace: the edit, with the reply that was decoded.
        own: the reply is the model's own.
        as_meant: the reply is the one that the edit was made with.
        replies: policy -> replies in the order of the repeats.
    """

    trace: Trace
    own: bool
    as_meant: bool
    replies: Mapping[str, Sequence[TimedReply]]


def time_policies(
    trace: Trace,
    make_target: Callable[[], Target],
    codec: SpanCodec,
    costs: LiveCosts,
    measured: LiveCosts,
    *,
    n_repeats: int,
    prefill_slice: int,
    clock: Callable[[], float] = time.perf_counter,
    on_call: Callable[[str, int], None] = lambda _policy, _repeat: None,
) -> dict[str, list[TimedReply]]:
    """Time every policy on a trace, in turns; each repeat begins with another one.

    Args:
        trace: the edit.
        make_target: starts an empty sequence of a model that chooses the trace's tokens.
        codec: its tokenizer.
        costs: shared by all traces of a run, as by all edits of a daemon; `cost` alone corrects them.
        measured: the same, corrected by every policy.
        n_repeats: replies of each policy.
        prefill_slice: prompt tokens per pass.
        clock: seconds from any start.
        on_call: is told the policy and the number of the repeat before each reply.

    Raises:
        EngineError: the model failed.
    """
    replies: dict[str, list[TimedReply]] = {name: [] for name in TIMED}
    for repeat in range(n_repeats):
        start = repeat % len(TIMED)
        for name in (*TIMED[start:], *TIMED[:start]):
            on_call(name, repeat + 1)
            timed = time_trace(
                trace, REPLAYED[name], make_target, codec, costs, measured, prefill_slice=prefill_slice, clock=clock
            )
            replies[name].append(timed)
    return replies


def corrected(costs: LiveCosts) -> StepCosts:
    """Return the table as live costs have corrected it."""
    table = costs.table
    return StepCosts(
        widths=table.widths,
        contexts=table.contexts,
        costs_ms=tuple(tuple(costs.round_ms(width, n) for width in table.widths) for n in table.contexts),
        pipelined_ms=tuple(costs.plain_ms(n) for n in table.contexts),
        max_width=table.max_width,
        padded=table.padded,
    )


def judge(timed: TimedTrace, tables: Mapping[str, StepCosts], codec: SpanCodec) -> TraceResult:
    """Compare a trace's times with each other and with its replay at the prices of each table."""
    plain_ms = statistics.median(reply.decode_ms for reply in timed.replies[OFF])
    replayed = {name: _replay(timed.trace, table, codec) for name, table in tables.items()}
    return TraceResult(
        name=timed.trace.name,
        kind=timed.trace.kind,
        own=timed.own,
        as_meant=timed.as_meant,
        n_prompt_tokens=len(timed.trace.prompt),
        n_tokens=len(timed.trace.reply),
        policies={
            name: _judge_policy(
                replies, plain_ms, {table: found[OFF] / found[name] for table, found in replayed.items()}
            )
            for name, replies in timed.replies.items()
        },
    )


def mean(traces: Sequence[TraceResult], policy: str) -> TraceMeans:
    """Return the geometric means of one policy over all traces, at least one."""
    found = [trace.policies[policy] for trace in traces]
    tables = found[0].predicted
    return TraceMeans(
        speedup=statistics.geometric_mean(each.speedup for each in found),
        predicted={table: statistics.geometric_mean(each.predicted[table] for each in found) for table in tables},
        of_predicted={
            table: statistics.geometric_mean(each.speedup / each.predicted[table] for each in found) for table in tables
        },
        of_expected=tuple(
            decode_ms / expected_ms
            for each in found
            for decode_ms, expected_ms in zip(each.decode_ms, each.expected_ms, strict=True)
        ),
    )


def _replay(trace: Trace, table: StepCosts, codec: SpanCodec) -> dict[str, float]:
    """Return the simulated milliseconds of each policy."""
    return {name: replay_trace(trace, REPLAYED[name], table, codec, pipelines=True).elapsed_ms for name in TIMED}


def _judge_policy(replies: Sequence[TimedReply], plain_ms: float, predicted: Mapping[str, float]) -> PolicyTime:
    stats = replies[-1].stats
    return PolicyTime(
        prefill_ms=tuple(reply.prefill_ms for reply in replies),
        decode_ms=tuple(reply.decode_ms for reply in replies),
        expected_ms=tuple(reply.expected_ms for reply in replies),
        speedup=plain_ms / statistics.median(reply.decode_ms for reply in replies),
        predicted=dict(predicted),
        n_rounds=stats.n_rounds,
        tokens_per_round=stats.n_tokens / stats.n_rounds,
        widths=dict(stats.widths),
        proposers={
            name: Fare(counts.n_drafts, counts.n_drafted, counts.n_accepted) for name, counts in stats.proposers.items()
        },
    )
