"""The worker between jobs and at its end: idle times, errands, faults of its own, closing."""

from __future__ import annotations

import threading

import pytest

from plgd.engine.model import Model
from plgd.errors import ConnectionLost, EngineError, ShuttingDown
from plgd.server.backend import Backend
from plgd.server.job import Ending
from plgd.server.worker import Worker
from server.jobs import Steps, after, steps, submit, working
from server.machine import PATIENCE_S, Gate, Machine


def test_an_idle_model_leaves_memory(machine: Machine) -> None:
    """After the set time without work the model's memory is given back; the next job loads it again."""
    with working(machine, unload_after_s=0.001) as worker:
        submit(worker, steps())[1].outcome()
        assert machine.released.wait(PATIENCE_S)
        assert submit(worker, steps())[1].outcome() == "done by scripted"
    assert ["m", "m"] == machine.loads


def test_freed_memory_goes_back_once_nobody_works(machine: Machine) -> None:
    """After work the worker comes to rest once, and again after more work; the model stays."""
    with working(machine, rest_after_s=0.001) as worker:
        for n_rests in (1, 2):
            machine.rested.clear()
            submit(worker, steps())[1].outcome()
            assert machine.rested.wait(PATIENCE_S)
            # An errand is no work: nothing was freed since.
            assert worker.run_errand(lambda backend: backend.device().kind).result(PATIENCE_S) == "cpu"
            assert machine.n_rests == n_rests
    assert machine.loads == ["m"]
    assert machine.n_releases == 0


def test_a_worker_does_not_rest_between_jobs(machine: Machine) -> None:
    """While one job follows another within the time, nothing is given back."""
    with working(machine, rest_after_s=1000.0) as worker:
        for _ in range(3):
            submit(worker, steps())[1].outcome()
        assert worker.run_errand(lambda backend: backend.device().kind).result(PATIENCE_S) == "cpu"
    assert machine.n_rests == 0


@pytest.mark.parametrize("unload_after_s", [1e10, float("inf")])
def test_an_idle_time_beyond_the_systems_timers(
    machine: Machine, unload_after_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    """However long a model may stay in memory, the worker waits for the next job and does it."""
    with working(machine, unload_after_s=unload_after_s) as worker:
        submit(worker, steps())[1].outcome()
        assert worker.run_errand(lambda backend: backend.device().kind).result(PATIENCE_S) == "cpu"
        assert submit(worker, steps())[1].outcome() == "done by scripted"
    assert [] == [record for record in caplog.records if record.levelname == "ERROR"]


def test_a_failure_in_choosing_work_ends_nothing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker's thread goes on after an error of its own, and the job that waited is done."""
    with working(machine) as worker:
        wanted_model = worker._scheduler.wanted_model
        failures = [ZeroDivisionError("by nought")]

        def fail_once() -> str | None:
            if failures:
                raise failures.pop()
            return wanted_model()

        monkeypatch.setattr(worker._scheduler, "wanted_model", fail_once)
        assert submit(worker, steps())[1].outcome() == "done by scripted"
    assert failures == []


def test_the_idle_time_begins_after_the_last_job(machine: Machine) -> None:
    """A model that is used does not leave memory, however long ago it was loaded."""
    with working(machine, unload_after_s=1000.0) as worker:
        submit(worker, steps())[1].outcome()
        first = worker._used_at
        submit(worker, steps())[1].outcome()
        assert worker._used_at > first


def test_an_errand_runs_between_two_steps(machine: Machine) -> None:
    """Short work on the device does not wait for the end of an edit."""
    gate = Gate(is_open=False)
    done = threading.Event()

    def work(_model: Model) -> Steps:
        gate.pass_through()
        yield "a"
        assert done.is_set(), "the errand waited for the whole job"
        return "ok"

    with working(machine) as worker:
        _, record = submit(worker, work)
        gate.wait_reached()

        def look(backend: Backend) -> str:
            done.set()
            return backend.device().kind

        errand = worker.run_errand(look)
        gate.open()
        assert record.outcome() == "ok"
        assert errand.result(PATIENCE_S) == "cpu"


def test_an_errand_that_fails_is_its_callers_problem(machine: Machine) -> None:
    """The exception arrives where the result would, and the worker lives."""

    def fail(_backend: object) -> None:
        raise KeyError("x")

    with working(machine) as worker:
        with pytest.raises(KeyError):
            worker.run_errand(fail).result(PATIENCE_S)
        assert submit(worker, steps())[1].outcome() == "done by scripted"


def test_closing_ends_every_job_and_takes_no_more(machine: Machine) -> None:
    """On the daemon's end running and waiting jobs are cancelled and the thread ends."""
    gate = Gate(is_open=False)
    with working(machine) as worker:
        _, running = submit(worker, steps("a", "b", gate=gate))
        gate.wait_reached()
        _, waiting = submit(worker, steps(), model="n")
        worker.close()
        assert waiting.outcome() is Ending.CANCELLED
        with pytest.raises(ShuttingDown):
            submit(worker, steps())
        with pytest.raises(ShuttingDown):
            worker.run_errand(lambda backend: backend.device())
        gate.open()
        assert running.outcome() is Ending.CANCELLED
        assert worker.join(PATIENCE_S)


def test_abandoning_answers_a_job_in_the_middle_of_a_step(machine: Machine) -> None:
    """Nobody waits for a step that does not end, and what it does later is not said again."""
    gate = Gate(is_open=False)
    with working(machine) as worker:
        _, running = submit(worker, steps("a", gate=gate))
        gate.wait_reached()
        _, waiting = submit(worker, steps(), model="n")
        worker.abandon()
        assert isinstance(running.outcome(), ConnectionLost)
        assert isinstance(waiting.outcome(), ConnectionLost)
        gate.open()


def test_closing_abandons_a_load(machine: Machine) -> None:
    """The daemon's end does not wait for a model to load."""
    machine.load_gate.shut()
    with working(machine) as worker:
        _, record = submit(worker, steps())
        machine.load_gate.wait_reached()
        worker.close()
        assert record.outcome() is Ending.CANCELLED
        machine.load_gate.open()
        assert worker.join(PATIENCE_S)
    assert worker.state.phase == "failed"


def test_a_backend_that_cannot_be_made_is_an_error_of_the_job() -> None:
    """Without mlx the daemon lives and says what is missing."""

    def no_backend() -> Machine:
        raise ModuleNotFoundError("No module named 'mlx'")

    worker: Worker[str, str] = Worker(
        no_backend, doing_after=after, queue_limit=1, owner_limit=1, n_places=1, unload_after_s=0
    )
    worker.start()
    _, record = submit(worker, steps())
    outcome = record.outcome()
    worker.close()
    assert worker.join(PATIENCE_S)
    assert isinstance(outcome, EngineError)
    assert "No module named 'mlx'" in outcome.message
