"""Who gets the model next: a bounded queue, a few jobs that take turns, and the newest edit of a range wins."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, Protocol, TypeVar

from plgd.engine.model import Model
from plgd.errors import PlgdError, QueueFull
from plgd.protocol.edits import Stage

__all__ = ("Ending", "Job", "Observer", "Scheduler")

EventT = TypeVar("EventT")
EventT_contra = TypeVar("EventT_contra", contravariant=True)
ResultT = TypeVar("ResultT")
ResultT_contra = TypeVar("ResultT_contra", contravariant=True)


class Ending(Enum):
    """Why a job is to end before its time."""

    CANCELLED = "cancelled"
    REPLACED = "replaced"


class Observer(Protocol[EventT_contra, ResultT_contra]):
    """Hears what becomes of a job. Called on whichever thread acts, so it must return at once and not call back."""

    def waiting(self, stage: Stage, percent: float, position: int) -> None:
        """The job waits in the queue (position from 1) or for its model to load (position 0)."""
        ...

    def happened(self, event: EventT_contra) -> None:
        """The job yielded an event."""
        ...

    def ended(self, outcome: ResultT_contra | PlgdError | Ending) -> None:
        """The job is over; what is said after the first time does not count."""
        ...


@dataclass(eq=False, slots=True)
class Job(Generic[EventT, ResultT]):
    """A piece of work on the model that is done in steps.

    Attributes:
        model: the name of the model that it needs.
        key: of two jobs with the same key the newer wins; `None` never competes.
        start: makes the generator; each `next` is one round or one slice of prefill, and closing it cancels.
        observer: hears what becomes of it.
        ending: set when it is to end at its next turn.
    """

    model: str
    key: Hashable | None
    start: Callable[[Model], Generator[EventT, None, ResultT]]
    observer: Observer[EventT, ResultT]
    ending: Ending | None = None
    steps: Generator[EventT, None, ResultT] | None = field(default=None, repr=False)


class Scheduler(Generic[EventT, ResultT]):
    """Orders jobs. Knows nothing of threads and time: its caller holds a lock.

    A job waits until one of `n_turns` places is free and its model is loaded; the jobs in those places take turns.
    Jobs start in the order of their arrival. When the next needs another model, it waits until the places are empty
    and later ones wait behind it, so that two models cannot starve each other.

    Args:
        limit: jobs that may wait or run at once.
        n_turns: jobs that may run at once; each keeps its KV in memory.
    """

    def __init__(self, *, limit: int, n_turns: int) -> None:
        self._limit = limit
        self._n_turns = n_turns
        self._waiting: deque[Job[EventT, ResultT]] = deque()
        self._running: list[Job[EventT, ResultT]] = []
        self._turn = 0  # index of the running job whose turn is next

    @property
    def waiting(self) -> tuple[Job[EventT, ResultT], ...]:
        """Jobs in the queue, the next to start first."""
        return tuple(self._waiting)

    @property
    def running(self) -> tuple[Job[EventT, ResultT], ...]:
        """Jobs that have started."""
        return tuple(self._running)

    def add(self, job: Job[EventT, ResultT]) -> tuple[Job[EventT, ResultT], ...]:
        """Append a job to the queue.

        Returns:
            The jobs that it replaced in the queue; they will not run. Replaced jobs that run get their `ending`.

        Raises:
            QueueFull: the limit is reached; nothing was replaced.
        """
        older = [other for other in self._waiting if job.key is not None and other.key == job.key]
        if len(self._waiting) + len(self._running) - len(older) >= self._limit:
            raise QueueFull.of(self._limit)
        for other in older:
            self._waiting.remove(other)
        for other in self._running:
            if job.key is not None and other.key == job.key and other.ending is None:
                other.ending = Ending.REPLACED
        self._waiting.append(job)
        return tuple(older)

    def cancel(self, job: Job[EventT, ResultT]) -> bool:
        """End a job. True: it only waited and is gone; otherwise it ends at its next turn, if it has not ended yet."""
        if job in self._waiting:
            self._waiting.remove(job)
            return True
        if job.ending is None:
            job.ending = Ending.CANCELLED
        return False

    def next_turn(self, loaded: str | None) -> Job[EventT, ResultT] | None:
        """Return the running job whose turn it is, after starting what can start; one that is to end goes first.

        Args:
            loaded: the name of the model in memory.
        """
        while self._waiting and self._waiting[0].model == loaded and len(self._running) < self._n_turns:
            self._running.append(self._waiting.popleft())
        for job in self._running:
            if job.ending is not None:
                return job
        if not self._running:
            return None
        turn = self._turn % len(self._running)
        self._turn = turn + 1
        return self._running[turn]

    def wanted_model(self) -> str | None:
        """Return the model that must be loaded before anything can run; `None` while a job runs or none waits."""
        return self._waiting[0].model if self._waiting and not self._running else None

    def remove(self, job: Job[EventT, ResultT]) -> None:
        """Take out a running job that is over."""
        place = self._running.index(job)
        del self._running[place]
        if place < self._turn:
            self._turn -= 1

    def take_waiting(self, model: str | None = None) -> tuple[Job[EventT, ResultT], ...]:
        """Take the jobs that wait for a model, or all that wait, out of the queue."""
        taken = tuple(job for job in self._waiting if model is None or job.model == model)
        for job in taken:
            self._waiting.remove(job)
        return taken
