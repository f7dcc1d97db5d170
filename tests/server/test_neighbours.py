"""Jobs that share the passes of a real model on the worker: what becomes of one does not change another's reply."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import turns
from plgd.engine.mlx.model import MlxModel
from plgd.engine.model import Model
from plgd.errors import EngineError
from plgd.protocol.edits import Priority
from plgd.server.job import Ending, Job
from plgd.server.worker import Worker
from server.jobs import Record, Steps, submit, working
from server.machine import Gate, Machine
from turns import Plan

PLANS = [
    Plan(prompt=tuple((7 * i * i + 3 * i + seed) % 256 for i in range(n)), n_reply=16)
    for seed, n in ((1, 9), (2, 14), (3, 30), (4, 5), (5, 21))
]


class TinyMachine(Machine):
    """Loads a small random model, on the worker's thread as everything of mlx."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def load(self, name: str, on_progress: Callable[[float], None]) -> Model:
        del name
        on_progress(50.0)
        return turns.make_model(self._kind)


def alone(plan: Plan, reply: list[int]) -> Callable[[Model], Steps]:
    """Make a job that decodes a plan's reply plainly in one step."""

    def work(model: Model) -> Steps:
        assert isinstance(model, MlxModel)
        reply.extend(turns.reply_alone(model, plan))
        yield "reads"
        return "alone"

    return work


def drafted(
    job: turns.Job, expected: list[int], at: Callable[[int], None] = lambda _round: None
) -> Callable[[Model], Steps]:
    """Make a job that decodes a plan's reply over drafts, slice by slice and round by round."""

    def work(model: Model) -> Steps:
        assert isinstance(model, MlxModel)
        job.start(model, expected)
        assert job.steps is not None
        n_rounds = 0
        for _ in job.steps:
            if job.reply:
                n_rounds += 1
                at(n_rounds)
                yield "writes"
            else:
                yield "reads"
        return "drafted"

    return work


def hold(gate: Gate) -> Callable[[Model], Steps]:
    """Make a job that holds the worker in its first step."""

    def work(_model: Model) -> Steps:
        gate.pass_through()
        yield "reads"
        return "held"

    return work


@pytest.mark.parametrize("kind", ["rows", "states and rows"])
@pytest.mark.parametrize("what", ["fails", Ending.CANCELLED, Ending.DEADLINE])
def test_a_neighbour_that_ends_early_changes_no_reply(kind: str, what: str | Ending) -> None:
    """The third of five ends in its second round; the other four say what they say alone."""
    with working(TinyMachine(kind)) as worker:
        expected: list[list[int]] = [[] for _ in PLANS]
        for plan, reply in zip(PLANS, expected, strict=True):
            assert submit(worker, alone(plan, reply))[1].outcome() == "alone"
        jobs, records = run_together(worker, expected, what)
        outcomes = [record.outcome() for record in records]
        sharing = worker.state.sharing
    odd = outcomes.pop(2)
    assert isinstance(odd, EngineError) if what == "fails" else odd is what
    assert ["drafted"] * 4 == outcomes
    assert [expected[n] for n in (0, 1, 3, 4)] == [jobs[n].reply for n in (0, 1, 3, 4)]
    assert sharing.n_joint_passes > 3
    assert sharing.turns_because == ""


def run_together(
    worker: Worker[str, str], expected: list[list[int]], what: str | Ending
) -> tuple[list[turns.Job], list[Record]]:
    """Let five jobs begin together, two of them for a person."""
    gate = Gate(is_open=False)
    held = submit(worker, hold(gate))[1]
    gate.wait_reached()
    submitted: list[Job[str, str]] = []

    def end_early(n_rounds: int) -> None:
        if n_rounds != 2:
            return
        if isinstance(what, Ending):
            worker.cancel(submitted[2], what)
        else:
            raise ZeroDivisionError("by nought")

    jobs = [turns.Job(plan) for plan in PLANS]
    records = []
    for number, job in enumerate(jobs):
        priority = Priority.INTERACTIVE if number in {1, 2} else Priority.BATCH
        work = drafted(job, expected[number], end_early) if number == 2 else drafted(job, expected[number])
        queued, record = submit(worker, work, priority=priority)
        submitted.append(queued)
        records.append(record)
    gate.open()
    assert held.outcome() == "held"
    return jobs, records
