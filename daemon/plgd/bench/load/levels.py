"""From the closed loops that were run to one record for each number of clients."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from plgd.bench.load.asking import Asked
from plgd.bench.load.bound import bound_of, solo_edit
from plgd.bench.load.interactive import replies_of
from plgd.bench.load.results import Level
from plgd.bench.load.run import ClosedRun
from plgd.bench.load.summary import class_times, jain, sameness, speed_shares
from plgd.engine.cost import StepCosts

__all__ = ("make_levels",)


def make_levels(
    runs: Sequence[ClosedRun], alone: Mapping[int, Asked], costs: StepCosts, *, running_limit: int
) -> tuple[Level, ...]:
    """Put the repeats of each number of clients together.

    Args:
        runs: of every repeat, one of each number of clients; 1 is among them.
        alone: number of an edit -> how it went alone.
        costs: the table that the bound is read from.
        running_limit: edits that the daemon lets share the model.
    """
    single = {run.repeat: run.tokens_per_s for run in runs if run.n_clients == 1}
    alone_s = {number: each.ended_s - each.asked_s for number, each in alone.items()}
    solo = [
        solo_edit(result, 1000.0 * alone_s[number], costs)
        for number in sorted(alone)
        if (result := alone[number].result) is not None
    ]

    def make(n_clients: int) -> Level:
        those = [run for run in runs if run.n_clients == n_clients]
        asked = [each for run in those for each in run.asked]
        ratios = tuple(run.tokens_per_s / single[run.repeat] for run in those)
        rounds_bound, bound = bound_of(solo, min(n_clients, running_limit), costs)
        n_rows = sum(run.sharing.joint_rows for run in those)
        n_joint = sum(run.sharing.joint_turns for run in those)
        n_turns = n_joint + sum(run.sharing.turns for run in those)
        return Level(
            n_clients=n_clients,
            n_edits=len(those[0].asked),
            tokens_per_s=tuple(run.tokens_per_s for run in those),
            edits_per_s=tuple(sum(each.result is not None for each in run.asked) / run.took_s for run in those),
            ratios=ratios,
            ratio=statistics.median(ratios),
            rounds_bound=rounds_bound,
            bound=bound,
            fairness=min(jain(speed_shares(run.asked, alone_s)) for run in those),
            times=class_times(asked, asked[0].priority),
            joint_rows=n_rows / n_joint if n_joint else 0.0,
            joint_share=n_joint / n_turns if n_turns else 0.0,
            turns_because=those[-1].sharing.turns_because,
            same=sameness(asked, replies_of(alone)),
        )

    return tuple(make(n_clients) for n_clients in sorted({run.n_clients for run in runs}))
