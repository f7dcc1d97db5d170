"""One turn: each of some jobs makes one step."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, TypeVar

from plgd.engine.model import Model
from plgd.errors import Cancelled, EngineError, PlgdError
from plgd.server.job import Doing, Ending, Job
from plgd.server.resident import reason_of

__all__ = ("Over", "Turns")

EventT = TypeVar("EventT")
ResultT = TypeVar("ResultT")

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Over(Generic[ResultT]):
    """What became of a job that is over."""

    outcome: ResultT | PlgdError | Ending


class Turns(Generic[EventT, ResultT]):
    """Lets jobs make their steps; nothing that fails in one of them reaches another.

    Args:
        doing_after: tells by an event what its job does next; None when its step is not over yet.
    """

    def __init__(self, doing_after: Callable[[EventT], Doing | None]) -> None:
        self._doing_after = doing_after

    def run(self, jobs: Sequence[Job[EventT, ResultT]], need_model: Callable[[], Model]) -> list[Doing | Over[ResultT]]:
        """Let each job make a step, all in one pass if there are several.

        Args:
            jobs: one, or several whose next steps are rounds.
            need_model: returns the model in memory; a job that only ends does without.

        Returns:
            What each job does next or what became of it, in their order.
        """
        if len(jobs) == 1:
            return [self._step(job, need_model) for job in jobs]
        made = need_model().together.run([partial(self._step, job, need_model) for job in jobs])
        return [
            self._gone(job, each) if isinstance(each, BaseException) else each
            for job, each in zip(jobs, made, strict=True)
        ]

    def _gone(self, job: Job[EventT, ResultT], error: BaseException) -> Over[ResultT]:
        """Clean up behind a step that did not come to its own end."""
        if job.steps is not None:
            job.steps.close()
        return _failed(error)

    def _step(self, job: Job[EventT, ResultT], need_model: Callable[[], Model]) -> Doing | Over[ResultT]:
        try:
            if job.ending is not None:
                if job.steps is not None:
                    job.steps.close()
                return Over(job.ending)
            if job.steps is None:
                job.steps = job.start(need_model())
            while True:
                event = next(job.steps)
                job.observer.happened(event)
                doing = self._doing_after(event)
                if doing is not None:
                    return doing
        except StopIteration as done:
            return Over(done.value)
        except Exception as error:  # noqa: BLE001  # whatever fails in one job, the daemon lives
            return _failed(error)


def _failed(error: BaseException) -> Over[ResultT]:
    match error:
        case Cancelled():
            return Over(Ending.CANCELLED)
        case PlgdError():
            return Over(error)
        case _:
            _LOG.error("a job failed", exc_info=error)
            return Over(EngineError.during("the edit", reason_of(error)))
