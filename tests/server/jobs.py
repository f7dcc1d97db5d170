"""Jobs without a model behind them, and a worker to run them."""

from __future__ import annotations

import queue
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager

from plgd.engine.model import Model
from plgd.errors import PlgdError
from plgd.protocol.edits import Priority, Stage
from plgd.server.job import Doing, Ending, Job
from plgd.server.spare_time import Idle
from plgd.server.worker import Worker
from server.machine import PATIENCE_S, Gate, Machine

__all__ = ("Record", "Steps", "after", "steps", "submit", "working")

Steps = Generator[str, None, str]


def after(event: str) -> Doing | None:
    """Tell what a job does after an event: all read but those that say otherwise."""
    word = event.partition(" ")[0]
    return {"writes": Doing.WRITING, "awaits": Doing.AWAITING, "more": None}.get(word, Doing.READING)


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
def working(
    machine: Machine,
    *,
    idle: Idle | None = None,
    queue_limit: int = 8,
    owner_limit: int = 8,
    unload_after_s: float = 0.0,
    rest_after_s: float = 1000.0,
) -> Iterator[Worker[str, str]]:
    """Run a worker; whatever the test did, its thread ends."""
    worker: Worker[str, str] = Worker(
        lambda: machine,
        idle,
        doing_after=after,
        queue_limit=queue_limit,
        owner_limit=owner_limit,
        n_places=4,
        unload_after_s=unload_after_s,
        rest_after_s=rest_after_s,
    )
    worker.start()
    try:
        yield worker
    finally:
        machine.load_gate.open()
        worker.close()
        assert worker.join(PATIENCE_S)


def submit(
    worker: Worker[str, str],
    work: Callable[[Model], Steps],
    *,
    model: str = "m",
    key: str | None = None,
    priority: Priority = Priority.INTERACTIVE,
    owner: str | None = None,
) -> tuple[Job[str, str], Record]:
    """Queue a job with an observer of its own."""
    record = Record()
    job: Job[str, str] = Job(model=model, key=key, start=work, observer=record, priority=priority, owner=owner)
    worker.submit(job)
    return job, record
