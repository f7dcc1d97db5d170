"""The worker: one thread that owns the model, and nothing else touches it."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Generic, Literal, Protocol, TypeVar

from plgd.engine.model import Model
from plgd.errors import Cancelled, ConnectionLost, EngineError, PlgdError, ShuttingDown
from plgd.protocol.edits import Stage
from plgd.server.backend import Backend, Device, MakeBackend
from plgd.server.scheduler import Ending, Job, Scheduler

__all__ = ("Idle", "Worker", "WorkerState")

EventT = TypeVar("EventT")
ResultT = TypeVar("ResultT")
ValueT = TypeVar("ValueT")

# Jobs that take turns. Each keeps the KV of its prompt in memory, and each slows the others down.
_N_TURNS: Final = 4
# After a failure that nobody foresaw: should it repeat itself, the log grows slowly and other threads get their turn.
_PAUSE_S: Final = 0.1

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerState:
    """What the worker was doing when it last said so; read by anybody, replaced as a whole.

    Attributes:
        phase: `idle` without a model, `ready` with one, `failed` when the last load failed.
        model: in memory or on its way there; empty when none.
        loading_percent: 0 to 100 while loading.
        error: why the last load failed.
        device: `cpu`, `metal` or `cuda`; empty until the first load.
        device_bytes: held by arrays after the last load or job.
    """

    phase: Literal["idle", "loading", "ready", "failed"] = "idle"
    model: str = ""
    loading_percent: float = 100.0
    error: str = ""
    device: str = ""
    device_bytes: int = 0


class Idle(Protocol):
    """What there is to do while nobody waits. Called on the worker's thread; `due_in` must return at once."""

    def loaded(self, model: Model, device: Device) -> None:
        """A model is in memory now."""
        ...

    def unloaded(self) -> None:
        """The model leaves memory."""
        ...

    def due_in(self) -> float | None:
        """Return the seconds until there is something to do with the model; None when there is nothing."""
        ...

    def step(self, model: Model) -> bool:
        """Do a short piece of it and return whether memory was let go."""
        ...


class _Nothing:
    """Nothing to do."""

    def loaded(self, model: Model, device: Device) -> None:
        """Take note of nothing."""

    def unloaded(self) -> None:
        """Let go of nothing."""

    def due_in(self) -> None:
        """Return None."""

    def step(self, model: Model) -> bool:  # noqa: ARG002  # there is nothing to do with it
        """Do nothing."""
        return False


class Worker(Generic[EventT, ResultT]):
    """Runs jobs on the model, one step at a time, in a thread of its own.

    Public methods may be called from any thread and do not wait for the model.

    Args:
        make_backend: makes what loads models.
        idle: what there is to do while nobody waits; nothing when left out.
        queue_limit: jobs that may wait or run at once.
        unload_after_s: seconds without a job until the model leaves memory; 0 keeps it.
    """

    def __init__(
        self, make_backend: MakeBackend, idle: Idle | None = None, *, queue_limit: int, unload_after_s: float
    ) -> None:
        self._make_backend = make_backend
        self._idle: Idle = idle or _Nothing()
        self._unload_after_s = unload_after_s
        self._scheduler: Scheduler[EventT, ResultT] = Scheduler(limit=queue_limit, n_turns=_N_TURNS)
        self._errands: deque[Callable[[], None]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._backend: Backend | None = None
        self._model: Model | None = None
        self._used_at = time.monotonic()
        self._state = WorkerState()
        self._thread = threading.Thread(target=self._run, name="plgd-worker", daemon=True)

    @property
    def state(self) -> WorkerState:
        """What the worker is doing."""
        return self._state

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def submit(self, job: Job[EventT, ResultT]) -> None:
        """Queue a job.

        Raises:
            QueueFull: too many jobs wait or run.
            ShuttingDown: the worker is closing.
        """
        with self._changed:
            if self._closing:
                raise ShuttingDown
            for replaced in self._scheduler.add(job):
                replaced.observer.ended(Ending.REPLACED)
            self._announce()
            self._changed.notify()

    def cancel(self, job: Job[EventT, ResultT]) -> None:
        """End a job: at once when it waits, else after its current step."""
        with self._changed:
            if self._scheduler.cancel(job):
                job.observer.ended(Ending.CANCELLED)
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
                future.set_result(errand(self._need_backend()))
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
        if self._model is not None:
            self._idle.unloaded()
        self._model = None

    def _next_work(self) -> Callable[[], None] | None:
        with self._changed:
            while True:
                if self._errands:
                    return self._errands.popleft()
                waiting = self._scheduler.waiting
                job = self._scheduler.next_turn(self._state.model if self._model is not None else None)
                if self._scheduler.waiting != waiting:
                    self._announce()
                if job is not None:
                    return partial(self._step, job)
                wanted = self._scheduler.wanted_model()
                if wanted is not None:
                    return partial(self._load, wanted)
                if self._closing:
                    return None
                work_s = self._idle.due_in() if self._model is not None else None
                if work_s is not None and work_s <= 0:
                    return self._work_idly
                idle_s = self._unload_in()
                if idle_s is not None and idle_s <= 0:
                    return self._unload
                waits = [wait for wait in (work_s, idle_s) if wait is not None]
                self._changed.wait(min(*waits, threading.TIMEOUT_MAX) if waits else None)

    def _unload_in(self) -> float | None:
        if self._model is None or not self._unload_after_s:
            return None
        return self._used_at + self._unload_after_s - time.monotonic()

    def _step(self, job: Job[EventT, ResultT]) -> None:
        outcome: ResultT | PlgdError | Ending
        try:
            if job.ending is not None:
                if job.steps is not None:
                    job.steps.close()
                outcome = job.ending
            else:
                if job.steps is None:
                    job.steps = job.start(self._model_in_memory())
                job.observer.happened(next(job.steps))
                return
        except StopIteration as done:
            outcome = done.value
        except Cancelled:
            outcome = Ending.CANCELLED
        except PlgdError as error:
            outcome = error
        except Exception as error:  # noqa: BLE001  # whatever fails in one job, the daemon lives
            _LOG.exception("a job failed")
            outcome = EngineError.during("the edit", _reason(error))
        job.steps = None
        self._used_at = time.monotonic()
        with self._changed:
            self._scheduler.remove(job)
            job.observer.ended(outcome)
            self._announce()
        self._look_at_device()

    def _work_idly(self) -> None:
        if self._idle.step(self._model_in_memory()):
            self._need_backend().release()
            self._look_at_device()
        self._used_at = time.monotonic()

    def _load(self, name: str) -> None:
        started = time.monotonic()
        # The old model goes first: two seldom fit.
        self._drop_model()
        self._state = replace(self._state, phase="loading", model=name, loading_percent=0.0, error="")
        self._loading_reached(0.0)
        try:
            self._model = self._need_backend().load(name, self._loading_reached)
        except PlgdError as error:
            self._load_failed(name, error)
        except Exception as error:  # noqa: BLE001  # a damaged model can fail in any way; the daemon lives
            _LOG.exception("model %s did not load", name)
            self._load_failed(name, EngineError.during("loading", _reason(error)))
        else:
            _LOG.info("model %s loaded in %.1f s", name, time.monotonic() - started)
            self._state = replace(self._state, phase="ready", model=name, loading_percent=100.0)
            self._used_at = time.monotonic()
            self._idle.loaded(self._model, self._need_backend().device())
            self._look_at_device()

    def _loading_reached(self, percent: float) -> None:
        self._state = replace(self._state, loading_percent=percent)
        with self._changed:
            if self._closing:
                raise ShuttingDown
            self._announce()

    def _load_failed(self, name: str, error: PlgdError) -> None:
        _LOG.error("model %s: %s", name, error)
        self._state = replace(self._state, phase="failed", model="", loading_percent=100.0, error=error.message)
        with self._changed:
            for job in self._scheduler.take_waiting(name):
                job.observer.ended(error)
            self._announce()

    def _unload(self) -> None:
        _LOG.info("model %s leaves memory after %.0f s without work", self._state.model, self._unload_after_s)
        self._drop_model()
        self._state = replace(self._state, phase="idle", model="")
        self._look_at_device()

    def _drop_model(self) -> None:
        if self._model is not None:
            self._idle.unloaded()
            self._model = None
            self._need_backend().release()

    def _look_at_device(self) -> None:
        device = self._need_backend().device()
        self._state = replace(self._state, device=device.kind, device_bytes=device.active_bytes)

    def _need_backend(self) -> Backend:
        if self._backend is None:
            self._backend = self._make_backend()
        return self._backend

    def _model_in_memory(self) -> Model:
        if self._model is None:
            raise EngineError.during("the edit", "its model is not in memory")
        return self._model

    def _announce(self) -> None:
        """Tell every waiting job where it stands; the lock is held."""
        state = self._state
        for position, job in enumerate(self._scheduler.waiting, 1):
            if state.phase == "loading" and job.model == state.model:
                job.observer.waiting(Stage.LOADING, state.loading_percent, 0)
            else:
                job.observer.waiting(Stage.QUEUED, 0.0, position)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
