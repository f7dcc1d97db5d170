"""The model in memory: loading, unloading, and what is known about it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from plgd.engine.model import Model
from plgd.errors import EngineError, PlgdError
from plgd.server.backend import Backend, MakeBackend
from plgd.server.sharing import Sharing, SharingCounts
from plgd.server.spare_time import Idle

__all__ = ("Resident", "WorkerState", "reason_of")

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
        sharing: how jobs have shared the model.
    """

    phase: Literal["idle", "loading", "ready", "failed"] = "idle"
    model: str = ""
    loading_percent: float = 100.0
    error: str = ""
    device: str = ""
    device_bytes: int = 0
    sharing: SharingCounts = field(default_factory=SharingCounts)


class Resident:
    """Holds one model at a time. Everything but `state` is the worker's thread's.

    Args:
        make_backend: makes what loads models, at the first need.
        idle: hears of models that come and go.

    Attributes:
        state: what is known about it.
        model: what is in memory.
    """

    def __init__(self, make_backend: MakeBackend, idle: Idle) -> None:
        self._make_backend = make_backend
        self._idle = idle
        self._backend: Backend | None = None
        self.state = WorkerState()
        self.model: Model | None = None
        self._sharing: Sharing | None = None

    @property
    def name(self) -> str | None:
        """The name of the model in memory."""
        return self.state.model if self.model is not None else None

    def shares(self, n_jobs: int) -> bool:
        """Tell whether the rounds of so many jobs are one turn."""
        return self._sharing is not None and self._sharing.shares(n_jobs)

    @property
    def backend(self) -> Backend:
        """What loads models."""
        if self._backend is None:
            self._backend = self._make_backend()
        return self._backend

    def need_model(self) -> Model:
        """Return the model in memory.

        Raises:
            EngineError: there is none.
        """
        if self.model is None:
            raise EngineError.during("the edit", "its model is not in memory")
        return self.model

    def load(self, name: str, on_progress: Callable[[], None]) -> PlgdError | None:
        """Load a model in place of the one in memory.

        Args:
            name: the model's.
            on_progress: called whenever the state says more; what it raises ends the load.

        Returns:
            Why it failed; None when it did not.
        """
        started = time.monotonic()
        # The old model goes first: two seldom fit.
        self.drop()

        def reached(percent: float) -> None:
            self.state = replace(self.state, loading_percent=percent)
            on_progress()

        self.state = replace(self.state, phase="loading", model=name, error="", sharing=SharingCounts())
        try:
            reached(0.0)
            model = self.backend.load(name, reached)
        except PlgdError as error:
            return self._failed(name, error)
        except Exception as error:  # noqa: BLE001  # a damaged model can fail in any way; the daemon lives
            _LOG.exception("model %s did not load", name)
            return self._failed(name, EngineError.during("loading", reason_of(error)))
        self.model, self._sharing = model, Sharing(model.together)
        _LOG.info("model %s loaded in %.1f s", name, time.monotonic() - started)
        self.state = replace(self.state, phase="ready", model=name, loading_percent=100.0)
        self._idle.loaded(model, self.backend.device())
        self.look_at_device()
        return None

    def unload(self) -> None:
        """Let the model leave memory."""
        self.drop()
        self.state = replace(self.state, phase="idle", model="")
        self.look_at_device()

    def drop(self) -> None:
        """Let go of the model, if there is one."""
        if self.model is not None:
            self._idle.unloaded()
            self.model = self._sharing = None
            self.backend.release()

    def forget(self) -> None:
        """Let go of the model at the end of the daemon, whose memory goes with it."""
        if self.model is not None:
            self._idle.unloaded()
        self.model = self._sharing = None

    def look_at_device(self) -> None:
        """Take note of the device and how much of it is in use."""
        device = self.backend.device()
        self.state = replace(self.state, device=device.kind, device_bytes=device.active_bytes)

    def note_turn(self, n_jobs: int, n_running: int) -> None:
        """Count a turn; see `Sharing`."""
        if self._sharing is not None:
            self._sharing.note_turn(n_jobs, n_running)
            self.state = replace(self.state, sharing=self._sharing.counts)

    def _failed(self, name: str, error: PlgdError) -> PlgdError:
        _LOG.error("model %s: %s", name, error)
        self.state = replace(self.state, phase="failed", model="", loading_percent=100.0, error=error.message)
        return error


def reason_of(error: BaseException) -> str:
    """Say what an unforeseen error is."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
