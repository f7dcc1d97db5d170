"""The thread that owns the model: jobs, loads, turns, cancels."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from plgd.engine.model import Model
from plgd.errors import DamagedModel, EngineError, PlgdError, QueueFull
from plgd.protocol.edits import Stage
from plgd.server.job import Ending
from server.jobs import Steps, steps, submit, working
from server.machine import Gate, Machine


def test_a_job_loads_its_model_and_runs_to_its_end(machine: Machine) -> None:
    """The first job loads the model; a second finds it in memory."""
    with working(machine) as worker:
        assert worker.state.phase == "idle"
        _, first = submit(worker, steps("a", "b"))
        assert first.outcome() == "done by scripted"
        _, second = submit(worker, steps())
        assert second.outcome() == "done by scripted"
    assert ["a", "b"] == first.events
    assert ["m"] == machine.loads
    assert (worker.state.phase, worker.state.model, worker.state.device) == ("ready", "m", "cpu")


def test_a_waiting_job_hears_how_the_load_goes(machine: Machine) -> None:
    """While the model loads, the state and every job that waits for it know the percentage."""
    machine.load_gate.shut()
    with working(machine) as worker:
        _, record = submit(worker, steps())
        machine.load_gate.wait_reached()
        assert (worker.state.phase, worker.state.model, worker.state.loading_percent) == ("loading", "m", 10.0)
        machine.load_gate.open()
        assert record.outcome() == "done by scripted"
    assert [(Stage.QUEUED, 0.0, 1), *((Stage.LOADING, percent, 0) for percent in (0.0, 10.0, 50.0))] == record.waits


def test_a_job_hears_its_place_when_others_start(machine: Machine) -> None:
    """More jobs than can take turns have waited for a load: when the first start, the rest move up in the queue."""
    machine.load_gate.shut()
    gate = Gate(is_open=False)
    with working(machine) as worker:
        records = [submit(worker, steps(gate=gate))[1] for _ in range(6)]
        machine.load_gate.open()
        gate.wait_reached()
        assert [(Stage.QUEUED, 0.0, 1), (Stage.QUEUED, 0.0, 2)] == [record.waits[-1] for record in records[4:]]
        gate.open()
        assert ["done by scripted"] * 6 == [record.outcome() for record in records]


def test_jobs_run_in_turns(machine: Machine) -> None:
    """Two edits share the model: each makes a step while the other waits for its own."""
    order: list[str] = []
    gate = Gate(is_open=False)

    def work(name: str) -> Callable[[Model], Steps]:
        def run(_model: Model) -> Steps:
            gate.pass_through()
            for _ in range(3):
                order.append(name)
                yield name
            return name

        return run

    with working(machine) as worker:
        _, first = submit(worker, work("a"))
        gate.wait_reached()
        _, second = submit(worker, work("b"))
        gate.open()
        assert ("a", "b") == (first.outcome(), second.outcome())
    assert ["a", "b", "a", "b", "a", "b"] == order


def test_a_job_that_fails_takes_nobody_along(machine: Machine) -> None:
    """An unexpected exception becomes the job's error, and the next job runs."""

    def broken(_model: Model) -> Steps:
        yield "begun"
        raise ZeroDivisionError("by nought")

    with working(machine) as worker:
        _, record = submit(worker, broken)
        outcome = record.outcome()
        assert isinstance(outcome, EngineError)
        assert "ZeroDivisionError: by nought" in outcome.message
        _, after = submit(worker, steps())
        assert after.outcome() == "done by scripted"


@pytest.mark.parametrize(
    "fault", [DamagedModel.of("m", "a file is missing"), MemoryError("no room")], ids=["foreseen", "unforeseen"]
)
def test_a_load_that_fails_is_every_waiting_jobs_error(machine: Machine, fault: Exception) -> None:
    """All jobs that wait for a model hear why it did not load; the next job tries again."""
    machine.fault = fault
    machine.load_gate.shut()
    with working(machine) as worker:
        records = [submit(worker, steps())[1] for _ in range(2)]
        machine.load_gate.wait_reached()
        machine.load_gate.open()
        for record in records:
            outcome = record.outcome()
            assert isinstance(outcome, PlgdError)
            assert str(fault) in outcome.message
        assert worker.state.phase == "failed"
        assert str(fault) in worker.state.error
        machine.fault = None
        _, after = submit(worker, steps())
        assert after.outcome() == "done by scripted"
    assert ["m", "m"] == machine.loads


def test_another_model_takes_the_place_of_the_first(machine: Machine) -> None:
    """One model is in memory at a time: the old one is given back before the new one loads."""
    with working(machine) as worker:
        submit(worker, steps())[1].outcome()
        assert submit(worker, steps(), model="n")[1].outcome() == "done by scripted"
        assert ["m", "n"] == machine.loads
        assert machine.n_releases == 1
        assert worker.state.model == "n"


def test_a_running_job_is_closed_between_two_steps(machine: Machine) -> None:
    """Cancelling closes the job's generator, which cleans up."""
    gate = Gate(is_open=False)
    cleaned = threading.Event()

    def work(_model: Model) -> Steps:
        try:
            yield "begun"
            gate.pass_through()
            yield "still there"
            raise AssertionError("a cancelled job went on")
        finally:
            cleaned.set()

    with working(machine) as worker:
        job, record = submit(worker, work)
        gate.wait_reached()
        worker.cancel(job)
        assert not record.is_over
        gate.open()
        assert record.outcome() is Ending.CANCELLED
    assert cleaned.is_set()


def test_a_waiting_job_is_cancelled_at_once(machine: Machine) -> None:
    """A job that only waits ends while the worker is busy, and those behind it move up."""
    gate = Gate(is_open=False)
    with working(machine) as worker:
        submit(worker, steps(gate=gate))
        gate.wait_reached()
        job, record = submit(worker, steps(), model="n")
        _, behind = submit(worker, steps(), model="n")
        assert (Stage.QUEUED, 0.0, 2) == behind.waits[-1]
        worker.cancel(job)
        assert record.is_over
        assert record.outcome() is Ending.CANCELLED
        assert (Stage.QUEUED, 0.0, 1) == behind.waits[-1]
        gate.open()
        assert behind.outcome() == "done by scripted"


def test_a_job_can_be_cancelled_while_its_model_loads(machine: Machine) -> None:
    """Nobody has to wait for a load to get rid of an edit; the load goes on for the next one."""
    machine.load_gate.shut()
    with working(machine) as worker:
        job, record = submit(worker, steps())
        machine.load_gate.wait_reached()
        worker.cancel(job)
        assert record.outcome() is Ending.CANCELLED
        machine.load_gate.open()
        assert submit(worker, steps())[1].outcome() == "done by scripted"
    assert ["m"] == machine.loads


def test_the_newest_job_of_a_key_wins(machine: Machine) -> None:
    """A newer job ends the running and the waiting one with its key."""
    gate = Gate(is_open=False)
    with working(machine) as worker:
        _, running = submit(worker, steps("a", "b", gate=gate), key="k")
        gate.wait_reached()
        _, waiting = submit(worker, steps(), key="k")
        _, newest = submit(worker, steps(), key="k")
        assert waiting.outcome() is Ending.REPLACED
        gate.open()
        assert running.outcome() is Ending.REPLACED
        assert newest.outcome() == "done by scripted"


def test_a_full_queue_says_so(machine: Machine) -> None:
    """More jobs than the limit are refused, and those that are in are done."""
    gate = Gate(is_open=False)
    with working(machine, queue_limit=1) as worker:
        _, record = submit(worker, steps(gate=gate))
        with pytest.raises(QueueFull):
            submit(worker, steps())
        gate.open()
        assert record.outcome() == "done by scripted"
