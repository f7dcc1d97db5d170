"""Rounds of several jobs as one turn of the worker: what happens to one of them is no other's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from plgd.engine.model import Model
from plgd.engine.together import Together
from plgd.errors import EngineError, RollbackFailed
from plgd.protocol.edits import Priority
from plgd.server.job import Ending, Job
from plgd.server.sharing import Sharing
from plgd.server.worker import Worker
from scripted_model import ScriptedModel
from server.jobs import Record, Steps, submit, working
from server.machine import Gate, Machine

StepT = TypeVar("StepT")
N_ROUNDS = 12


class Counting(Together):
    """Lets the steps of a turn go one after the other, and counts them.

    Attributes:
        sizes: of the turns of several jobs.
        is_apart: every pass is faster alone, as `Together` would find by measuring.
        fault: raised in place of a turn's steps, for each of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.is_apart = False
        self.fault: BaseException | None = None

    @property
    def refusal(self) -> str:
        return ""

    def run(self, steps: Sequence[Callable[[], StepT]]) -> list[StepT | BaseException]:
        self.sizes.append(len(steps))
        if self.is_apart:
            self.counts.n_apart += len(steps)
        else:
            self.counts.n_joint_passes += 1
        if self.fault is not None:
            return [self.fault for _ in steps]
        return super().run(steps)


@pytest.fixture
def together() -> Counting:
    """What runs turns of several jobs."""
    return Counting()


@pytest.fixture
def joint_machine(together: Counting) -> Machine:
    """A machine whose model shares passes."""
    model = ScriptedModel("")
    model.together = together
    return Machine(m=model)


def writer(
    name: str, log: list[str], *, n_rounds: int = N_ROUNDS, at: dict[int, Callable[[], None]] | None = None
) -> Callable[[Model], Steps]:
    """Make the work of a job that reads a slice and writes some rounds, with something happening in some of them."""

    def work(_model: Model) -> Steps:
        yield "reads"
        for number in range(n_rounds):
            if at is not None and number in at:
                at[number]()
            log.append(name)
            yield "more"
            yield f"writes {name}{number}"
        return name

    return work


def run_beside(
    worker: Worker[str, str],
    odd: Callable[[Model], Steps],
    on_submitted: Callable[[Job[str, str]], None] = lambda _job: None,
) -> tuple[Record, list[Record]]:
    """Run an odd job among three others that begin together; returns what each was told."""
    gate = Gate(is_open=False)
    held, _ = submit(worker, lambda _model: held_back(gate))
    gate.wait_reached()
    first = submit(worker, writer("a", []))[1]
    job, record = submit(worker, odd)
    on_submitted(job)
    rest = [submit(worker, writer(name, []))[1] for name in "bc"]
    worker.cancel(held)
    gate.open()
    return record, [first, *rest]


def held_back(gate: Gate) -> Steps:
    """Hold the worker until the jobs of a test are there."""
    gate.pass_through()
    yield "reads"
    raise AssertionError("it is cancelled before")


def expect_solo(records: Sequence[Record]) -> None:
    """Check that jobs ended as they would have alone."""
    for name, record in zip("abc", records, strict=True):
        assert name == record.outcome()
        assert [f"writes {name}{n}" for n in range(N_ROUNDS)] == [e for e in record.events if e.startswith("writes")]


def test_rounds_of_jobs_that_write_are_one_turn(joint_machine: Machine, together: Counting) -> None:
    """Text and progress of a round are one step, so that the rounds of all stay in the same turn."""
    log: list[str] = []
    with working(joint_machine) as worker:
        record, others = run_beside(worker, writer("d", log))
        assert record.outcome() == "d"
        expect_solo(others)
        sharing = worker.state.sharing
    assert together.sizes.count(4) >= N_ROUNDS - 2
    assert (len(together.sizes), sum(together.sizes), 4) == (
        sharing.n_joint_turns,
        sharing.n_joint_rows,
        sharing.most_rows,
    )
    assert together.counts.n_joint_passes == sharing.n_joint_passes


def test_a_job_that_fails_in_a_joint_turn_fails_alone(joint_machine: Machine) -> None:
    """Foreseen or not, its error is its own."""
    for error in (RollbackFailed.of(3, 2, "layer 1"), ZeroDivisionError("by nought"), MemoryError("no room")):

        def fail(error: Exception = error) -> None:
            raise error

        with working(joint_machine) as worker:
            record, others = run_beside(worker, writer("d", [], at={4: fail}))
            outcome = record.outcome()
            assert isinstance(outcome, EngineError)
            assert str(error) in outcome.message
            expect_solo(others)


@pytest.mark.parametrize("ending", [Ending.CANCELLED, Ending.DEADLINE, Ending.REPLACED])
def test_a_job_that_is_to_end_leaves_between_two_turns(joint_machine: Machine, ending: Ending) -> None:
    """Its generator is closed, and the others do not notice."""
    log: list[str] = []
    jobs: list[Job[str, str]] = []

    def end(worker: Worker[str, str]) -> Callable[[], None]:
        return lambda: worker.cancel(jobs[0], ending)

    with working(joint_machine) as worker:
        record, others = run_beside(worker, writer("d", log, at={5: end(worker)}), jobs.append)
        assert record.outcome() is ending
        expect_solo(others)
    assert len(log) == 6, "the round in which it was told was its last"


def test_a_turn_that_cannot_be_made_is_an_error_of_its_jobs(joint_machine: Machine, together: Counting) -> None:
    """Each hears of it, and the next job is carried out."""
    together.fault = SystemError("the device is gone")
    with working(joint_machine) as worker:
        record, others = run_beside(worker, writer("d", []))
        failed = [each for each in (record, *others) if isinstance(each.outcome(), EngineError)]
        assert len(failed) >= 2, "those that were in the turn"
        together.fault = None
        assert submit(worker, writer("e", []))[1].outcome() == "e"


def test_where_passes_are_faster_alone_jobs_take_turns_for_a_while(joint_machine: Machine, together: Counting) -> None:
    """Whoever comes then waits for one round, not for all; it is tried again later, and the status says why."""
    together.is_apart = True
    seen: list[str] = []
    with working(joint_machine) as worker:
        log: list[str] = []
        at = {20: lambda: seen.append(worker.state.sharing.turns_because)}
        record, others = run_beside(worker, writer("d", log, n_rounds=40, at=at))
        assert record.outcome() == "d"
        expect_solo(others)
        n_turns = worker.state.sharing.n_turns
    assert 1 <= len(together.sizes) <= 1 + n_turns // 16
    assert all(because in {"", "passes of one edit each were faster"} for because in seen)


def test_few_jobs_that_take_turns_leave_more_of_them_to_share() -> None:
    """That passes of two jobs are faster alone says nothing about passes of four; both are tried again."""
    together = Counting()
    sharing = Sharing(together)
    assert not sharing.shares(2), "nobody knows yet whether the model can"
    sharing.note_turn(1, 2)
    assert sharing.shares(2)
    together.counts.n_apart += 2
    sharing.note_turn(2, 2)
    assert "passes of one edit each were faster" == sharing.counts.turns_because
    assert (False, True) == (sharing.shares(2), sharing.shares(4))
    together.counts.n_joint_passes += 1
    sharing.note_turn(4, 4)
    assert "" == sharing.counts.turns_because
    for _ in range(16):
        assert (False, True) == (sharing.shares(2), sharing.shares(4))
        sharing.note_turn(1, 4)
    assert sharing.shares(2)


def test_a_model_that_cannot_share_passes_takes_turns(machine: Machine) -> None:
    """The status says why, once there were several jobs."""
    with working(machine) as worker:
        record, others = run_beside(worker, writer("d", []))
        assert record.outcome() == "d"
        expect_solo(others)
        sharing = worker.state.sharing
    assert (0, "the model has no joint passes") == (sharing.n_joint_turns, sharing.turns_because)


def test_a_batch_job_that_waits_for_a_place_can_be_ended(joint_machine: Machine) -> None:
    """Queued behind others of its priority, it ends at once for each reason."""
    gate = Gate(is_open=False)
    with working(joint_machine) as worker:
        held, _ = submit(worker, lambda _model: held_back(gate), priority=Priority.BATCH)
        gate.wait_reached()
        for ending in (Ending.CANCELLED, Ending.DEADLINE):
            job, record = submit(worker, writer("w", []), model="n", priority=Priority.BATCH)
            worker.cancel(job, ending)
            assert record.is_over
            assert record.outcome() is ending
        worker.cancel(held)
        gate.open()
