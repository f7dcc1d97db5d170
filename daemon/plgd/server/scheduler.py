"""Who gets the model next: a bounded queue, places for a few jobs at once, and the order of their turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from plgd.errors import ClientBusy, QueueFull
from plgd.protocol.edits import Priority
from plgd.server.job import Doing, Ending, Job
from plgd.server.waiting_line import WaitingLine

__all__ = ("BATCH_SHARE", "Scheduler")

EventT = TypeVar("EventT")
ResultT = TypeVar("ResultT")

# One turn of so many is the batch jobs' while interactive ones write; see decision 0021.
BATCH_SHARE: Final = 4
# What several jobs can do in one pass.
_ROUNDS: Final = (Doing.STARTING, Doing.WRITING)


class Scheduler(Generic[EventT, ResultT]):
    """Orders jobs. Knows nothing of threads and time: its caller holds a lock.

    A job waits until a place of its priority is free and its model is loaded. Batch jobs cannot keep interactive ones
    out: each priority has `n_places` of its own. When the next in line needs another model, it waits until all places
    are empty and those behind it wait, too, so that two models cannot starve each other.

    The jobs in the places take turns, the one whose last turn is longest ago first:

    - While an interactive job has no token yet, batch jobs wait. When it has its first, a batch turn follows.
    - While interactive jobs only write, one turn of `BATCH_SHARE` is a batch job's.
    - A job that waits for what another reads lends it its priority.

    A turn is one step of one job, or, together, one round of all that write.

    Args:
        limit: jobs that may wait or run at once.
        n_places: jobs of each priority that may run at once; each keeps its KV in memory.
        owner_limit: jobs of one owner that may wait or run at once.
    """

    def __init__(self, *, limit: int, n_places: int, owner_limit: int) -> None:
        self._limit = limit
        self._n_places = n_places
        self._owner_limit = owner_limit
        self._line: WaitingLine[EventT, ResultT] = WaitingLine()
        self._running: list[Job[EventT, ResultT]] = []
        self._n_turns = 0
        self._n_since_batch = 0  # turns of interactive jobs since the last of a batch job
        self._owes_batch = False  # an interactive job has read its prompt since then

    @property
    def waiting(self) -> tuple[Job[EventT, ResultT], ...]:
        """Jobs in the queue, the next to start first."""
        return tuple(self._line)

    @property
    def running(self) -> tuple[Job[EventT, ResultT], ...]:
        """Jobs that have started."""
        return tuple(self._running)

    def add(self, job: Job[EventT, ResultT]) -> tuple[Job[EventT, ResultT], ...]:
        """Put a job into the queue.

        Returns:
            The jobs that it replaced in the queue; they will not run. Replaced jobs that run get their `ending`.

        Raises:
            QueueFull: the limit is reached; nothing was replaced.
            ClientBusy: the limit of the job's owner is; nothing was replaced.
        """
        older = [other for other in self._line if job.key is not None and other.key == job.key]
        staying = [other for other in (*self._line, *self._running) if other not in older]
        if len(staying) >= self._limit:
            raise QueueFull.of(self._limit)
        if job.owner is not None and sum(other.owner is job.owner for other in staying) >= self._owner_limit:
            raise ClientBusy.of(self._owner_limit)
        for other in older:
            self._line.remove(other)
        for other in self._running:
            if job.key is not None and other.key == job.key and other.ending is None:
                other.ending = Ending.REPLACED
        self._line.add(job)
        return tuple(older)

    def cancel(self, job: Job[EventT, ResultT], ending: Ending = Ending.CANCELLED) -> bool:
        """End a job. True: it only waited and is gone; otherwise it ends at its next turn, if it has not ended yet."""
        if job in self._line:
            self._line.remove(job)
            return True
        if job.ending is None:
            job.ending = ending
        return False

    def next_turn(
        self, loaded: str | None, *, shares: Callable[[int], bool] = lambda _n_jobs: False
    ) -> tuple[Job[EventT, ResultT], ...]:
        """Return the jobs whose turn it is, after starting what can start; one that is to end comes first and alone.

        Args:
            loaded: the name of the model in memory.
            shares: whether the rounds of so many jobs are one turn.
        """
        self._let_in(loaded)
        for job in self._running:
            if job.ending is not None:
                return (job,)
        if not self._running:
            return ()
        chosen = min(self._entitled(), key=lambda job: job.last_turn)
        turn = self._with_others(chosen) if chosen.doing in _ROUNDS else (chosen,)
        if len(turn) > 1 and not shares(len(turn)):
            turn = (chosen,)
        self._n_turns += 1
        for job in turn:
            job.last_turn = self._n_turns
        if chosen.priority is Priority.BATCH:
            self._n_since_batch, self._owes_batch = 0, False
        else:
            self._n_since_batch += 1
        return turn

    def note(self, job: Job[EventT, ResultT], doing: Doing) -> None:
        """Take note of what a running job does next."""
        if job.doing is not Doing.WRITING and doing is Doing.WRITING:
            self._has_read(job)
        job.doing = doing

    def wanted_model(self) -> str | None:
        """Return the model that must be loaded before anything can run; `None` while a job runs or none waits."""
        return next((job.model for job in self._line), None) if not self._running else None

    def remove(self, job: Job[EventT, ResultT]) -> None:
        """Take out a running job that is over."""
        self._running.remove(job)
        if job.doing is not Doing.WRITING:
            self._has_read(job)

    def take_waiting(self, model: str | None = None) -> tuple[Job[EventT, ResultT], ...]:
        """Take the jobs that wait for a model, or all that wait, out of the queue."""
        taken = tuple(job for job in self._line if model is None or job.model == model)
        for job in taken:
            self._line.remove(job)
        return taken

    def _let_in(self, loaded: str | None) -> None:
        for job in tuple(self._line):
            if job.model != loaded:
                return
            if sum(other.priority is job.priority for other in self._running) < self._n_places:
                self._line.remove(job)
                self._running.append(job)

    def _has_read(self, job: Job[EventT, ResultT]) -> None:
        if job.priority is Priority.INTERACTIVE:
            self._owes_batch = True

    def _entitled(self) -> Sequence[Job[EventT, ResultT]]:
        """Return the jobs of which one is next."""
        urgent = [job for job in self._running if job.priority is Priority.INTERACTIVE]
        others = [job for job in self._running if job.priority is Priority.BATCH]
        if not urgent or not others:
            return self._running
        if self._owes_batch:
            return others
        if any(job.doing is Doing.AWAITING for job in urgent):
            urgent += [job for job in others if job.doing in (Doing.READING, Doing.STARTING)]
        elif self._n_since_batch >= BATCH_SHARE - 1 and not self._somebody_reads():
            return others
        return urgent

    def _somebody_reads(self) -> bool:
        return any(job.priority is Priority.INTERACTIVE and job.doing is not Doing.WRITING for job in self._running)

    def _with_others(self, chosen: Job[EventT, ResultT]) -> tuple[Job[EventT, ResultT], ...]:
        """Return all whose rounds go into one pass with the chosen one's."""
        alone = chosen.priority is Priority.INTERACTIVE and self._somebody_reads()
        return tuple(
            job for job in self._running if job.doing in _ROUNDS and not (alone and job.priority is Priority.BATCH)
        )
