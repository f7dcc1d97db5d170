"""The worker: one thread that owns the model, and nothing else touches it."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final, Generic, TypeVar

from plgd.errors import ConnectionLost, QueueFull, ShuttingDown
from plgd.protocol.edits import Stage
from plgd.server.backend import Backend, MakeBackend
from plgd.server.job import Doing, Ending, Job
from plgd.server.job_lengths import JobLengths
from plgd.server.resident import Resident, WorkerState
from plgd.server.scheduler import Scheduler
from plgd.server.spare_time import Idle, Nothing
from plgd.server.turn import Over, Turns

__all__ = ("Worker",)

EventT = TypeVar("EventT")
ResultT = TypeVar("ResultT")
ValueT = TypeVar("ValueT")

# After a failure that nobody foresaw: should it repeat itself, the log grows slowly and other threads get their turn.
_PAUSE_S: Final = 0.1

# Without work for so long, the daemon is at rest; an edit every few seconds is not slowed down by page faults.
_REST_AFTER_S: Final = 5.0

_LOG: Final = logging.getLogger(__name__)


class Worker(Generic[EventT, ResultT]):
    """Runs jobs on the model, one step at a time, in a thread of its own.

    Public methods may be called from any thread and do not wait for the model.

    Args:
        make_backend: makes what loads models.
        idle: what there is to do while nobody waits; nothing when left out.
        doing_after: tells by an event what its job does next; None when its step is not over yet.
        queue_limit: jobs that may wait or run at once.
        owner_limit: jobs of one owner that may wait or run at once.
        n_places: jobs of each priority that may run at once.
        unload_after_s: seconds without a job until the model leaves memory; 0 keeps it.
        rest_after_s: seconds without work until what work has freed goes back to the system.
    """

    def __init__(
        self,
        make_backend: MakeBackend,
        idle: Idle | None = None,
        *,
        doing_after: Callable[[EventT], Doing | None],
        queue_limit: int,
        owner_limit: int,
        n_places: int,
        unload_after_s: float,
        rest_after_s: float = _REST_AFTER_S,
    ) -> None:
        self._idle: Idle = idle or Nothing()
        self._resident = Resident(make_backend, self._idle)
        self._turns: Turns[EventT, ResultT] = Turns(doing_after)
        self._unload_after_s = unload_after_s
        self._rest_after_s = rest_after_s
        self._scheduler: Scheduler[EventT, ResultT] = Scheduler(
            limit=queue_limit, n_places=n_places, owner_limit=owner_limit
        )
        self._lengths = JobLengths()
        self._errands: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._used_at = time.monotonic()
        self._is_at_rest = True
        self._thread = threading.Thread(target=self._run, name="plgd-worker", daemon=True)

    @property
    def state(self) -> WorkerState:
        """What the worker is doing."""
        return self._resident.state

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, job: Job[EventT, ResultT]) -> None:
        """Queue a job.

        Raises:
            QueueFull: too many jobs wait or run, or too many of the job's owner; it says when to try again.
            ShuttingDown: the worker is closing.
        """
        with self._changed:
            if self._closing:
                raise ShuttingDown
            try:
                replaced = self._scheduler.add(job)
            except QueueFull as error:
                error.retry_after_s = self._lengths.next_end_s(len(self._scheduler.running))
                raise
            for older in replaced:
                older.observer.ended(Ending.REPLACED)
            self._announce()
            self._changed.notify()

    def cancel(self, job: Job[EventT, ResultT], ending: Ending = Ending.CANCELLED) -> None:
        """End a job: at once when it waits, else after its current step."""
        with self._changed:
            if self._scheduler.cancel(job, ending):
                job.observer.ended(ending)
                self._announce()

    def cancel_all(self) -> None:
        """End every job."""
        with self._changed:
            for job in self._scheduler.take_waiting():
                job.observer.ended(Ending.CANCELLED)
            for job in self._scheduler.running:
                self._scheduler.cancel(job)

    def wake(self) -> None:
        """Look again whether there is something to do while nobody waits."""
        with self._changed:
            self._changed.notify()

    def run_errand(self, errand: Callable[[Backend], ValueT]) -> Future[ValueT]:
        """Run a short function on the worker's thread between two steps."""
        future: Future[ValueT] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(errand(self._resident.backend))
            except Exception as error:  # noqa: BLE001  # it belongs to whoever waits for the future
                future.set_exception(error)

        with self._changed:
            if self._closing:
                raise ShuttingDown
            self._errands.append(run)
            self._changed.notify()
        return future

    def abandon(self) -> None:
        """Answer every job now, also one in the middle of a step; what its step still does nobody hears."""
        with self._changed:
            for job in (*self._scheduler.running, *self._scheduler.take_waiting()):
                job.observer.ended(ConnectionLost())

    def close(self) -> None:
        """End every job and then the thread; a load under way is abandoned at its next sign of progress."""
        self.cancel_all()
        with self._changed:
            self._closing = True
            self._changed.notify()

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread to end; `False` when it has not."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    # On the worker's thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            try:
                work = self._next_work()
                if work is None:
                    break
                work()
            except Exception:  # noqa: BLE001  # a thread that ended here would leave every later edit unanswered
                # Whoever waits for the work has heard of its failure; this is about what comes after it.
                _LOG.exception("the worker goes on after an unexpected error")
                time.sleep(_PAUSE_S)
        self._resident.forget()

    def _next_work(self) -> Callable[[], None] | None:
        with self._changed:
            while True:
                if self._errands:
                    return self._errands.popleft()
                if jobs := self._next_turn():
                    return partial(self._take_turn, jobs)
                wanted = self._scheduler.wanted_model()
                if wanted is not None:
                    return partial(self._load, wanted)
                if self._closing:
                    return None
                work_s = self._idle.due_in() if self._resident.model is not None else None
                if work_s is not None and work_s <= 0:
                    return self._work_idly
                idle_s = self._unload_in()
                if idle_s is not None and idle_s <= 0:
                    return self._unload
                rest_s = self._rest_in()
                if rest_s is not None and rest_s <= 0:
                    return self._rest
                waits = [wait for wait in (work_s, idle_s, rest_s) if wait is not None]
                self._changed.wait(min(*waits, threading.TIMEOUT_MAX) if waits else None)

    def _next_turn(self) -> Sequence[Job[EventT, ResultT]]:
        n_waiting = len(self._scheduler.waiting)
        jobs = self._scheduler.next_turn(self._resident.name, shares=self._resident.shares)
        if len(self._scheduler.waiting) != n_waiting:
            self._announce()
        return jobs

    def _unload_in(self) -> float | None:
        if self._resident.model is None or not self._unload_after_s:
            return None
        return self._used_at + self._unload_after_s - time.monotonic()

    def _rest_in(self) -> float | None:
        return None if self._is_at_rest else self._used_at + self._rest_after_s - time.monotonic()

    def _take_turn(self, jobs: Sequence[Job[EventT, ResultT]]) -> None:
        now = time.monotonic()
        for job in jobs:
            job.started_at = job.started_at or now
        made = self._turns.run(jobs, self._resident.need_model)
        is_any_over = False
        with self._changed:
            for job, each in zip(jobs, made, strict=True):
                if isinstance(each, Doing):
                    self._scheduler.note(job, each)
                else:
                    is_any_over = True
                    self._end(job, each)
            if is_any_over:
                self._announce()
        # The lock is not held: the model may have to run to find out how jobs can share it.
        self._resident.note_turn(len(jobs), len(self._scheduler.running))
        if is_any_over:
            self._resident.look_at_device()

    def _end(self, job: Job[EventT, ResultT], over: Over[ResultT]) -> None:
        """Say what became of a running job; the lock is held."""
        job.steps = None
        self._note_use()
        self._scheduler.remove(job)
        if not isinstance(over.outcome, Ending):
            self._lengths.note(self._used_at - job.started_at)
        job.observer.ended(over.outcome)

    def _work_idly(self) -> None:
        if self._idle.step(self._resident.need_model()):
            self._resident.backend.release()
            self._resident.look_at_device()
        self._note_use()

    def _load(self, name: str) -> None:
        error = self._resident.load(name, self._loading_goes_on)
        self._note_use()
        if error is not None:
            with self._changed:
                for job in self._scheduler.take_waiting(name):
                    job.observer.ended(error)
                self._announce()

    def _loading_goes_on(self) -> None:
        with self._changed:
            if self._closing:
                raise ShuttingDown
            self._announce()

    def _note_use(self) -> None:
        self._used_at = time.monotonic()
        self._is_at_rest = False

    def _rest(self) -> None:
        self._is_at_rest = True
        self._resident.backend.rest()

    def _unload(self) -> None:
        _LOG.info("model %s leaves memory after %.0f s without work", self._resident.name, self._unload_after_s)
        self._resident.unload()

    def _announce(self) -> None:
        """Tell every waiting job where it stands; the lock is held."""
        state = self._resident.state
        for position, job in enumerate(self._scheduler.waiting, 1):
            if state.phase == "loading" and job.model == state.model:
                job.observer.waiting(Stage.LOADING, state.loading_percent, 0)
            else:
                job.observer.waiting(Stage.QUEUED, 0.0, position)
