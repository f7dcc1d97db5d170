"""A job on the model: a piece of work that is done in steps, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import Generic, Protocol, TypeVar

from plgd.engine.model import Model
from plgd.errors import PlgdError
from plgd.protocol.edits import Priority, Stage

__all__ = ("Doing", "Ending", "Job", "Observer")

EventT = TypeVar("EventT")
EventT_contra = TypeVar("EventT_contra", contravariant=True)
ResultT = TypeVar("ResultT")
ResultT_contra = TypeVar("ResultT_contra", contravariant=True)


class Ending(Enum):
    """Why a job is to end before its time."""

    CANCELLED = "cancelled"
    REPLACED = "replaced"
    DEADLINE = "deadline"


class Doing(Enum):
    """What the next step of a job is; before its first it reads."""

    READING = "reading"  # a slice of a prompt
    AWAITING = "awaiting"  # a look whether another job has read the prompt that both begin with
    STARTING = "starting"  # the first round of a reply; nobody has a token before it is over
    WRITING = "writing"  # a round of a reply; rounds of several jobs may be one pass of the model


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
        start: makes the generator; each step is one round or one slice of prefill, and closing it cancels.
        observer: hears what becomes of it.
        priority: whether a person waits for it.
        owner: whose it is, where owners are limited.
        ending: set when it is to end at its next turn.
        steps: its generator, once it has begun.
        doing: what its next step is.
        n_overtaken: later jobs that were put before it in the queue.
        last_turn: number of the last turn that it had part in; 0 before its first.
        started_at: seconds of the worker's clock at its first step.
    """

    model: str
    key: Hashable | None
    start: Callable[[Model], Generator[EventT, None, ResultT]]
    observer: Observer[EventT, ResultT]
    priority: Priority = Priority.INTERACTIVE
    owner: Hashable | None = None
    ending: Ending | None = None
    steps: Generator[EventT, None, ResultT] | None = field(default=None, repr=False)
    doing: Doing = Doing.READING
    n_overtaken: int = 0
    last_turn: int = 0
    started_at: float = 0.0
