"""Turns of several jobs: their passes of the model wait for each other and run as one.

Each job of a turn does its step in a greenlet of its own. A narrow pass parks its greenlet; when all are parked or
done, one *joint pass* runs, each job gets its row of the result and goes on. What they do then, such as replays, forms
the next joint pass. Nothing between the job and its target knows of this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeVar

from greenlet import greenlet

__all__ = ("JointFailed", "JointPasses", "Pass", "Together", "TogetherCounts")

StepT = TypeVar("StepT")

# A wider pass fills the device by itself, and would make the others of its turn wait.
MAX_JOINT_WIDTH: Final = 160


class JointFailed(RuntimeError):
    """The joint pass that a row was in has failed; the row's caches are not to be trusted."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One sequence's part of a joint pass.

    Attributes:
        width: tokens that it feeds.
        n_context: tokens that its caches hold.
        is_lazy: a token of it is still being computed, so nobody is to wait for the pass.
        tokens: what it feeds, as the model takes it.
        caches: the sequence's.
    """

    width: int
    n_context: int
    is_lazy: bool
    tokens: Any
    caches: list[Any]


class JointPasses(Protocol):
    """A model's way to run the passes of several sequences as one."""

    @property
    def refusal(self) -> str:
        """Why it cannot; empty when it can."""
        ...

    def run(self, passes: Sequence[Pass]) -> Sequence[Any]:
        """Run them as one and return each one's logits, which may still be computed.

        Raises:
            Exception: anything that the model raised; the caches may be half fed.
        """
        ...

    def wait(self, arrays: Sequence[Any]) -> None:
        """Wait until what is in the arrays is computed.

        Raises:
            Exception: what the device raised. Whoever reads the array that failed gets it again.
        """
        ...


@dataclass(slots=True)
class TogetherCounts:
    """What came of turns.

    Attributes:
        n_turns: turns of two and more jobs.
        n_joint_passes: passes that several rows shared.
        n_joint_rows: rows in them.
        n_apart: narrow passes that ran alone although others waited, because that was faster.
        n_failed: joint passes that failed; their rows ran alone then.
    """

    n_turns: int = 0
    n_joint_passes: int = 0
    n_joint_rows: int = 0
    n_apart: int = 0
    n_failed: int = 0


@dataclass(slots=True, eq=False)
class _Row:
    """A job in a turn.

    Attributes:
        thread: the greenlet that does its step.
        wanted: what it waits for: a pass, or arrays that it is about to read.
        alone: nothing of it joins the others any more in this turn.
        outcome: what its step returned or raised.
    """

    thread: greenlet | None = None
    wanted: Pass | list[Any] | None = None
    alone: bool = False
    outcome: Any = field(default=None)


class Together:
    """Runs turns. One thread owns it, the thread of its model.

    Args:
        passes: the model's joint passes; None where there are none, so that the jobs of a turn go one after the other.

    Attributes:
        counts: what came of turns.
    """

    def __init__(self, passes: JointPasses | None = None) -> None:
        self.counts = TogetherCounts()
        self._passes = passes
        self._running: _Row | None = None
        self._hub: greenlet | None = None

    @property
    def refusal(self) -> str:
        """Why the model's jobs take turns; empty where they share passes. The first call may run the model."""
        return "the model has no joint passes" if self._passes is None else self._passes.refusal

    def run(self, steps: Sequence[Callable[[], StepT]]) -> list[StepT | BaseException]:
        """Let each of several jobs do one step.

        Args:
            steps: one call per job, such as `partial(next, job.steps)`.

        Returns:
            For each what it returned or, for it alone, what it raised; `StopIteration` is one of these.
        """
        return [_outcome_of(step) for step in steps]


def _outcome_of(step: Callable[[], StepT]) -> StepT | BaseException:
    try:
        return step()
    except BaseException as error:  # noqa: BLE001  # it is its job's, and the others go on
        return error
