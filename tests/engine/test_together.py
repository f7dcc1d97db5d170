"""Turns of several jobs, on passes that are doubles: who waits for whom, who hears of what, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from plgd.engine.company import RETRIES_EVERY, JointCosts
from plgd.engine.correction import LiveCosts
from plgd.engine.cost import StepCosts
from plgd.engine.cost_governor import CostGovernor
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.together import MAX_JOINT_WIDTH, REST, JointFailed, Pass, Together
from plgd.engine.types import Outcome
from plgd.errors import EngineError

# A pass costs the same at every width, or is dear from seven tokens on.
FLAT = StepCosts(widths=(1, 8, 64), contexts=(0,), costs_ms=((10.0, 10.1, 11.0),), pipelined_ms=(10.0,), max_width=64)
CLIFF = StepCosts(
    widths=(1, 2, 6, 7, 64),
    contexts=(0,),
    costs_ms=((10.0, 10.0, 10.1, 90.0, 900.0),),
    pipelined_ms=(9.9,),
    max_width=64,
)


class DoublePasses:
    """Joint passes that answer each row with its own tokens.

    Args:
        failing: which of the joint passes raise, counted from 1.
        refusal: as for `JointPasses`.

    Attributes:
        was_new: as for `JointPasses`.
        ran: the tokens of each joint pass.
        waited: what was waited for, each time.
    """

    def __init__(self, failing: Sequence[int] = (), refusal: str = "") -> None:
        self.ran: list[list[Any]] = []
        self.waited: list[list[Any]] = []
        self.refusal = refusal
        self.was_new = False
        self._failing = failing

    def run(self, passes: Sequence[Pass]) -> Sequence[Any]:
        self.ran.append([each.tokens for each in passes])
        if len(self.ran) in self._failing:
            raise RuntimeError("no memory")
        return [f"logits of {each.tokens}" for each in passes]

    def submit(self, arrays: Sequence[Any]) -> None:
        """Do nothing: it is there already."""

    def wait(self, arrays: Sequence[Any]) -> None:
        self.waited.append(list(arrays))


def pass_of(tokens: str, width: int = 1) -> Pass:
    """Make a pass."""
    return Pass(width, 0, is_lazy=False, tokens=tokens, caches=[])


def step(together: Together, name: str, n_passes: int = 1) -> list[str]:
    """Run passes one after another, and read each."""
    said = []
    for place in range(n_passes):
        tokens = f"{name}{place}"
        answer = together.join(pass_of(tokens)) if together.takes(1) else None
        said.append(answer or f"alone {tokens}")
        together.settle([tokens])
    return said


def test_passes_of_a_turn_run_as_one() -> None:
    """Passes wait until every job of the turn wants one or is done; what comes after them is the next joint pass."""
    passes = DoublePasses()
    together = Together(passes)
    done = together.run([partial(step, together, name, n) for name, n in (("a", 1), ("b", 3), ("c", 2))])
    assert [["a0", "b0", "c0"], ["b1", "c1"]] == passes.ran
    assert [["a0", "b0", "c0"], ["b1", "c1"], ["b2"]] == passes.waited
    assert [["logits of a0"], ["logits of b0", "logits of b1", "alone b2"], ["logits of c0", "logits of c1"]] == done
    assert (1, 2, 5) == (together.counts.n_turns, together.counts.n_joint_passes, together.counts.n_joint_rows)


@pytest.mark.parametrize("passes", [None, DoublePasses(refusal="it cannot")])
def test_without_joint_passes_jobs_go_one_after_the_other(passes: DoublePasses | None) -> None:
    """Where the model has none, or a turn has one job, each job runs its own passes as if it were alone."""
    together = Together(passes)
    assert [["alone a0"], ["alone b0"]] == together.run([partial(step, together, name) for name in "ab"])
    assert together.refusal
    alone = Together(DoublePasses())
    assert [["alone a0"]] == alone.run([partial(step, alone, "a")])


def test_what_a_job_raises_is_its_own() -> None:
    """A job that fails, ends or is cancelled before or behind a pass gets its exception back; the others go on."""
    together = Together(DoublePasses())

    def fails(error: BaseException, n_passes: int) -> list[str]:
        step(together, "x", n_passes)
        raise error

    errors = [StopIteration(7), EngineError.during("a round", "it failed"), KeyboardInterrupt()]
    jobs: list[Callable[[], list[str]]] = [partial(fails, error, n) for n, error in enumerate(errors)]
    jobs.append(partial(step, together, "a"))
    done: list[object] = [*together.run(jobs)]
    assert errors == done[:3]
    assert ["logits of a0"] == done[3]


def test_wide_passes_do_not_wait() -> None:
    """A pass that fills the device by itself runs at once; outside of a turn every pass does."""
    together = Together(DoublePasses())
    seen: list[bool] = []
    together.run([lambda: seen.append(together.takes(MAX_JOINT_WIDTH)), lambda: seen.append(together.takes(1 << 20))])
    assert [True, False, False] == [*seen, together.takes(1)]


def test_after_a_joint_pass_failed_rows_run_alone_for_a_while() -> None:
    """Each row of a joint pass that failed hears of it, and for some turns nobody waits for the others' passes."""
    passes = DoublePasses(failing=[1])
    together = Together(passes)

    def brave(name: str) -> list[str]:
        try:
            return step(together, name)
        except JointFailed:
            together.part()
            return ["again", *step(together, name)]

    assert [["again", "alone a0"], ["again", "alone b0"]] == together.run([partial(brave, name) for name in "ab"])
    assert (1, 2) == (together.counts.n_failed, together.counts.n_rebuilt)
    turns = [together.run([partial(brave, name) for name in "ab"]) for _ in range(REST)]
    assert [[["alone a0"], ["alone b0"]]] * (REST - 1) == turns[:-1]
    assert [["logits of a0"], ["logits of b0"]] == turns[-1]


def test_a_turn_that_is_broken_off_leaves_nobody_waiting() -> None:
    """When the turn itself is interrupted, each job that waits in it fails, so that it can be closed."""
    heard: list[BaseException] = []

    class Interrupted(DoublePasses):
        def run(self, passes: Sequence[Pass]) -> Sequence[Any]:  # noqa: ARG002 - it does not come to that
            raise KeyboardInterrupt

    together = Together(Interrupted())

    def listening(name: str) -> None:
        try:
            step(together, name)
        except EngineError as error:
            heard.append(error)

    with pytest.raises(KeyboardInterrupt):
        together.run([partial(listening, name) for name in "ab"])
    assert 2 == len(heard)
    assert not together.takes(1)


def test_a_turn_within_a_turn_takes_turns() -> None:
    """A job that runs a turn of its own does not mix it with the one that it is in."""
    together = Together(DoublePasses())
    jobs: list[Callable[[], object]] = [
        lambda: together.run([partial(step, together, "x")]),
        partial(step, together, "a"),
    ]
    done = together.run(jobs)
    assert [[["logits of x0"]], ["logits of a0"]] == done


PASSES = [pass_of("a", 4), pass_of("b", 4)]


def test_joint_passes_run_where_they_are_expected_to_pay() -> None:
    """Before anything is measured, the table decides: one wide pass, or each row's own."""
    assert JointCosts(LiveCosts(FLAT)).pays(PASSES)
    assert not JointCosts(LiveCosts(CLIFF)).pays(PASSES)


def measured(table: StepCosts) -> LiveCosts:
    """Make costs of which a round has shown that the table is right."""
    live = LiveCosts(table)
    live.observe(outcome_of(NO_DRAFT, 0, table.round_ms(1, 100)))
    return live


def test_the_first_passes_of_a_shape_teach_nothing() -> None:
    """The time of a joint pass for which plans were made says nothing about the next."""
    learnt: list[float] = []
    passes, costs = DoublePasses(), JointCosts(measured(FLAT))
    costs.observe = lambda _, elapsed_ms, **__: learnt.append(elapsed_ms)  # type: ignore[method-assign]
    together = Together(passes, costs, clock=iter(range(100)).__next__)
    for was_new in (True, True, False, True):
        passes.was_new = was_new
        together.run([partial(step, together, name) for name in "ab"])
    assert [1000.0] == learnt


def test_a_table_in_other_units_gives_nothing_up() -> None:
    """Before any round was measured, the time of a joint pass is compared with nothing but the table."""
    costs = JointCosts(LiveCosts(FLAT))
    for _ in range(3):
        costs.observe(PASSES, 50.0, is_joint=True)
    assert costs.pays(PASSES)


def test_joint_passes_that_are_slow_are_given_up_and_tried_again() -> None:
    """Measured to be slower than turns, joint passes stop; now and then one runs, and when it is fast they go on."""
    costs = JointCosts(measured(FLAT))
    for _ in range(3):
        costs.observe(PASSES, 50.0, is_joint=True)
    tried = [costs.pays(PASSES) for _ in range(RETRIES_EVERY)]
    assert [False] * (RETRIES_EVERY - 1) + [True] == tried
    for _ in range(30):
        costs.observe(PASSES, 10.0, is_joint=True)
    assert costs.pays(PASSES)


def test_turns_that_are_slow_are_given_up() -> None:
    """When everything has become slow, for rows apart too, they run as one again."""
    costs = JointCosts(measured(FLAT))
    for _ in range(3):
        costs.observe(PASSES, 50.0, is_joint=True)
    assert not costs.pays(PASSES)
    costs.observe(PASSES, 100.0, is_joint=False)
    assert costs.pays(PASSES)


def test_a_hiccup_gives_nothing_up() -> None:
    """One slow pass among fast ones changes nothing."""
    costs = JointCosts(measured(FLAT))
    for elapsed_ms in (10.0, 10.0, 10.0, 10.0, 900.0):
        costs.observe(PASSES, elapsed_ms, is_joint=True)
    assert costs.pays(PASSES)


def test_few_rows_say_nothing_against_many() -> None:
    """What passes of two rows cost decides nothing about passes of four that were measured."""
    costs = JointCosts(measured(FLAT))
    for _ in range(3):
        costs.observe(PASSES * 2, 10.0, is_joint=True)
        costs.observe(PASSES, 50.0, is_joint=True)
    assert costs.pays(PASSES * 2)
    assert not costs.pays(PASSES)


def outcome_of(draft: Draft, n_drafted: int, elapsed_ms: float) -> Outcome:
    """Make a round whose draft came true."""
    return Outcome(
        draft=draft,
        n_drafted=n_drafted,
        n_accepted=n_drafted,
        tokens=(*draft.tokens[:n_drafted], 1),
        n_history=100,
        pipelined=False,
        in_flight=False,
        elapsed_ms=elapsed_ms,
    )


DRAFT = Draft(tuple(range(30)), "file", 20)


def test_rounds_in_company_leave_the_prices_of_rounds_alone() -> None:
    """A round that shares its passes teaches nothing about the cost of one that does not."""
    live = LiveCosts(FLAT)
    governor, costs = CostGovernor(live), JointCosts(live)
    governor.observe(outcome_of(DRAFT, 7, 10.0))
    before = live.prices(100)
    for _ in range(20):
        company = costs.begin_turn(4)
        costs.pays(PASSES * 2)
        governor.observe(outcome_of(DRAFT, 7, 4000.0))
        costs.end_turn(company)
    assert before == live.prices(100)


def test_a_row_drafts_for_the_pass_of_all() -> None:
    """A draft that alone would be free is cut where it would make the pass of all rows dear."""
    live = LiveCosts(CLIFF)
    governor, costs = CostGovernor(live), JointCosts(live)
    for _ in range(10):
        governor.observe(outcome_of(DRAFT, 5, 10.0))
    assert 5 == governor.choose(DRAFT, 100, in_flight=False)
    joint = [pass_of(name, 2) for name in "abc"]
    for _ in range(10):
        company = costs.begin_turn(3)
        assert costs.pays(joint)
        n_drafted = governor.choose(DRAFT, 100, in_flight=False)
        costs.end_turn(company)
    assert 1 == n_drafted


def test_a_row_drafts_more_when_the_pass_runs_anyway() -> None:
    """Where a pass costs much whatever its width, company makes no draft narrower."""
    live = LiveCosts(FLAT)
    governor, costs = CostGovernor(live), JointCosts(live)
    for _ in range(10):
        governor.observe(outcome_of(DRAFT, 7, 10.0))
    alone = governor.choose(DRAFT, 100, in_flight=False)
    for _ in range(10):
        company = costs.begin_turn(3)
        costs.pays(PASSES)
        n_drafted = governor.choose(DRAFT, 100, in_flight=False)
        governor.observe(outcome_of(DRAFT, 7, 10.0))
        costs.end_turn(company)
    assert alone <= n_drafted
