"""Turns of several jobs: their passes of the model wait for each other and run as one.

Each job of a turn does its step in a greenlet of its own. A narrow pass parks its greenlet; when all are parked or
done, one *joint pass* runs, each job gets its row of the result and goes on. What they do then, such as replays, forms
the next joint pass. Nothing between the job and its target knows of this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from greenlet import getcurrent, greenlet

from plgd.engine.company import JointCosts
from plgd.engine.correction import Company
from plgd.errors import EngineError

__all__ = ("JointFailed", "JointPasses", "Pass", "Together", "TogetherCounts")

StepT = TypeVar("StepT")

# A wider pass fills the device by itself, and would make the others of its turn wait.
MAX_JOINT_WIDTH: Final = 160

# Turns without joint passes after one that failed: should it be for want of memory, the rows' own passes are smaller.
REST: Final = 64


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

    @property
    def was_new(self) -> bool:
        """Whether the last one had shapes for which something had to be made first, so that its time says nothing."""
        ...

    def submit(self, arrays: Sequence[Any]) -> None:
        """Start computing what is in the arrays, without waiting for it. What fails is raised to whoever reads it."""
        ...

    def wait(self, arrays: Sequence[Any]) -> None:
        """Wait until what is in the arrays is computed, or has failed; that is raised to whoever reads it."""
        ...


@dataclass(slots=True)
class TogetherCounts:
    """What came of turns.

    Attributes:
        n_turns: turns of two and more jobs.
        n_joint_passes: passes that several rows shared.
        n_joint_rows: rows in them.
        n_apart: passes that ran alone although others waited, because that was faster.
        n_failed: joint passes that could not be built; their rows ran alone then.
        n_rebuilt: sequences that were read again, because a joint pass had failed.
    """

    n_turns: int = 0
    n_joint_passes: int = 0
    n_joint_rows: int = 0
    n_apart: int = 0
    n_failed: int = 0
    n_rebuilt: int = 0


@dataclass(slots=True, eq=False)
class _Row:
    """A job in a turn.

    Attributes:
        thread: the greenlet that does its step.
        wanted: what it waits for: a pass, or arrays that it is about to read.
        alone: none of its passes joins the others any more in this turn.
        outcome: what its step returned or raised.
    """

    thread: greenlet
    wanted: Pass | list[Any] | None = None
    alone: bool = False
    outcome: Any = None


@dataclass(slots=True)
class _Group:
    """Passes that began at a moment, as one or one by one.

    Attributes:
        is_telling: whether their time says what such passes cost.
    """

    passes: Sequence[Pass]
    is_joint: bool
    started_at: float
    is_telling: bool = True


class Together:
    """Runs turns. One thread owns it, the thread of its model.

    Args:
        passes: the model's joint passes; None where there are none, so that the jobs of a turn go one after the other.
        costs: what joint passes cost; without, they are taken to pay.
        clock: seconds from any start.

    Attributes:
        counts: what came of turns.
        costs: as given; may be replaced between turns.
        refused: why jobs take turns, empty where they share passes; None until a turn has asked. Anybody may read it.
    """

    def __init__(
        self,
        passes: JointPasses | None = None,
        costs: JointCosts | None = None,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.counts = TogetherCounts()
        self.costs = costs
        self.refused: str | None = None
        self._passes = passes
        self._clock = clock
        self._hub: greenlet | None = None
        self._running: _Row | None = None
        self._groups: list[_Group] = []
        self._n_rest = 0

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
        if len(steps) < 2 or self._hub is not None or not self._can_join():
            return [_outcome_of(step) for step in steps]
        self.counts.n_turns += 1
        self._n_rest = max(0, self._n_rest - 1)
        self._hub = getcurrent()
        rows = [_Row(greenlet(_outcome_of)) for _ in steps]
        company = self.costs.begin_turn(len(steps)) if self.costs is not None else None
        try:
            for row, step in zip(rows, steps, strict=True):
                self._resume(row, step)
            while parked := [row for row in rows if row.wanted is not None]:
                self._go_on(parked)
        finally:
            self._end_turn(rows, company)
        return [row.outcome for row in rows]

    def _can_join(self) -> bool:
        if self.refused is None:
            self.refused = self.refusal
        return not self.refused

    def takes(self, width: int) -> bool:
        """Tell whether a pass of so many tokens would wait for others: a turn goes on, and it is narrow enough."""
        return self._running is not None and not self._running.alone and width <= MAX_JOINT_WIDTH

    def join(self, wanted: Pass) -> Any:  # noqa: ANN401  # the model's own kind of array
        """Wait until the other jobs of the turn want a pass too or are done.

        Returns:
            Logits [1, T, V] of the pass; None when it is to run alone, now.

        Raises:
            JointFailed: the caches may be half fed.
        """
        return self._park(wanted)

    def settle(self, arrays: Sequence[Any]) -> None:
        """Wait, together with the others, until arrays are computed or have failed; outside of a turn, for nothing."""
        if self._running is not None:
            self._park(list(arrays))

    def part(self) -> None:
        """Let the running job's passes run alone for the rest of this turn: its sequence is being read again."""
        self.counts.n_rebuilt += 1
        if self._running is not None:
            self._running.alone = True

    def _park(self, wanted: Pass | list[Any]) -> Any:  # noqa: ANN401  # as above
        if self._hub is None:
            raise RuntimeError("there is no turn to wait in")
        return self._hub.switch(wanted)

    def _resume(self, row: _Row, value: object = None) -> None:
        """Let a job go on until it parks or is done."""
        self._running, row.wanted = row, None
        came = row.thread.throw(value) if isinstance(value, JointFailed) else row.thread.switch(value)
        self._running = None
        if row.thread.dead:
            row.outcome = came
        else:
            row.wanted = came

    def _go_on(self, parked: Sequence[_Row]) -> None:
        """Give parked jobs what they wait for: passes first, since what is read together is read once."""
        for row in parked:
            if isinstance(row.wanted, list) and self._passes is not None:
                self._passes.submit(row.wanted)  # before the next pass is, so as not to wait for that
        if wanting := [row for row in parked if isinstance(row.wanted, Pass)]:
            for row, answer in zip(wanting, self._run_passes(wanting), strict=True):
                self._resume(row, answer)
            return
        self._wait(parked)
        for row in parked:
            self._resume(row)

    def _run_passes(self, wanting: Sequence[_Row]) -> Sequence[object]:
        """Run the passes as one where that pays; an answer of None lets a row run its own."""
        passes = [row.wanted for row in wanting if isinstance(row.wanted, Pass)]
        apart: list[object] = [None] * len(passes)
        if len(passes) < 2 or self._passes is None or self._n_rest:
            return apart
        is_joint = self.costs is None or self.costs.pays(passes)
        group = _Group(passes, is_joint, self._clock())
        self._groups.append(group)
        if not is_joint:
            self.counts.n_apart += len(passes)
            return apart
        try:
            answers = self._passes.run(passes)
        except Exception as error:  # noqa: BLE001  # whatever a network raises, each row is to be tried alone
            self.counts.n_failed += 1
            self._n_rest = REST
            return [JointFailed(str(error) or type(error).__name__) for _ in passes]
        group.is_telling = not self._passes.was_new
        self.counts.n_joint_passes += 1
        self.counts.n_joint_rows += len(passes)
        return answers

    def _wait(self, parked: Sequence[_Row]) -> None:
        """Wait until all that the parked jobs are about to read is computed, and learn from the time."""
        if self._passes is not None:
            self._passes.wait([array for row in parked if isinstance(row.wanted, list) for array in row.wanted])
        groups, self._groups = self._groups, []
        if self.costs is None or len(groups) != 1:
            return
        (group,) = groups
        if group.is_telling and not any(each.is_lazy for each in group.passes):
            self.costs.observe(group.passes, 1000.0 * (self._clock() - group.started_at), is_joint=group.is_joint)

    def _end_turn(self, rows: Sequence[_Row], company: Company | None) -> None:
        """Leave nobody parked, also when the turn itself was broken off."""
        for row in rows:
            if not row.thread.dead and row.wanted is not None:
                row.thread.throw(EngineError.during("a turn", "it was broken off"))
        self._hub = self._running = None
        self._groups = []
        if self.costs is not None and company is not None:
            self.costs.end_turn(company)


def _outcome_of(step: Callable[[], StepT]) -> StepT | BaseException:
    try:
        return step()
    except BaseException as error:  # noqa: BLE001  # it is its job's, and the others go on
        return error
