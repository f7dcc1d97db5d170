"""The thread that owns the model."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

import pytest

from plgd.engine.model import Model
from plgd.errors import ConnectionLost, DamagedModel, EngineError, PlgdError, QueueFull, ShuttingDown
from plgd.protocol.messages import Stage
from plgd.server.backend import Backend
from plgd.server.scheduler import Ending, Job
from plgd.server.worker import Worker
from scripted_model import ScriptedModel
from server.machine import PATIENCE_S, Gate, Machine

Steps = Generator[str, None, str]


class Record:
    """An observer that remembers what it is told."""

    def __init__(self) -> None:
        self.waits: list[tuple[Stage, float, int]] = []
        self.events: list[str] = []
        self._outcomes: queue.Queue[str | PlgdError | Ending] = queue.Queue()

    def waiting(self, stage: Stage, percent: float, position: int) -> None:
        self.waits.append((stage, percent, position))

    def happened(self, event: str) -> None:
        self.events.append(event)

    def ended(self, outcome: str | PlgdError | Ending) -> None:
        self._outcomes.put(outcome)

    def outcome(self) -> str | PlgdError | Ending:
        """Wait for the end."""
        return self._outcomes.get(timeout=PATIENCE_S)

    @property
    def is_over(self) -> bool:
        """Whether the end has come."""
        return not self._outcomes.empty()


def steps(*events: str, gate: Gate | None = None) -> Callable[[Model], Steps]:
    """Make the work of a job: some events, held at a gate before the first."""

    def work(model: Model) -> Steps:
        if gate is not None:
            gate.pass_through()
        yield from events
        return f"done by {model.name}"

    return work


@contextmanager
def working(machine: Machine, *, queue_limit: int = 8, unload_after_s: float = 0.0) -> Iterator[Worker[str, str]]:
    """Run a worker; whatever the test did, its thread ends."""
    worker: Worker[str, str] = Worker(lambda: machine, queue_limit=queue_limit, unload_after_s=unload_after_s)
    worker.start()
    try:
        yield worker
    finally:
        machine.load_gate.open()
        worker.close()
        assert worker.join(PATIENCE_S)


def submit(
    worker: Worker[str, str], work: Callable[[Model], Steps], *, model: str = "m", key: str | None = None
) -> tuple[Job[str, str], Record]:
    """Queue a job with an observer of its own."""
    record = Record()
    job: Job[str, str] = Job(model=model, key=key, start=work, observer=record)
    worker.submit(job)
    return job, record


@pytest.fixture
def machine() -> Machine:
    """A machine with two models."""
    return Machine(m=ScriptedModel(""), n=ScriptedModel(""))


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


def test_an_idle_model_leaves_memory(machine: Machine) -> None:
    """After the set time without work the model's memory is given back; the next job loads it again."""
    with working(machine, unload_after_s=0.001) as worker:
        submit(worker, steps())[1].outcome()
        assert machine.released.wait(PATIENCE_S)
        assert submit(worker, steps())[1].outcome() == "done by scripted"
    assert ["m", "m"] == machine.loads


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

    worker: Worker[str, str] = Worker(no_backend, queue_limit=1, unload_after_s=0)
    worker.start()
    _, record = submit(worker, steps())
    outcome = record.outcome()
    worker.close()
    assert worker.join(PATIENCE_S)
    assert isinstance(outcome, EngineError)
    assert "No module named 'mlx'" in outcome.message
