"""Turns of several jobs on real models: each says what it says alone, whatever the others do, and whatever fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mutations import Mutation, Noticed
from plgd.engine.mlx import flat_keys as flat_keys_module
from plgd.engine.mlx import joint as joint_module
from plgd.engine.mlx import mixers as mixers_module
from plgd.engine.mlx import rows as rows_module
from plgd.engine.mlx.joint import JointNetwork
from plgd.engine.mlx.model import MlxModel
from plgd.engine.mlx.passes import Passes
from plgd.engine.mlx.rows import Layout, RowsCache
from plgd.engine.mlx.sampling import Choices
from plgd.engine.sampling import GREEDY, Sampling
from plgd.engine.together import Pass
from plgd.errors import EngineError
from turns import KINDS, Plan, Told, make_model, reply_alone, run_together


@pytest.fixture(autouse=True, scope="module")
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


@cache
def model_of(kind: str) -> MlxModel:
    """Make a model, once."""
    return make_model(kind)


@cache
def alone(kind: str, plan: Plan) -> list[int]:
    """Decode a reply alone, once."""
    return reply_alone(model_of(kind), plan)


def prompt_of(seed: int, n: int) -> tuple[int, ...]:
    """Make up a prompt."""
    return tuple((7 * i * i + 3 * i + seed) % 256 for i in range(n))


# Prompts that a window of 16 tokens holds and such as it does not; few of them, so that replies alone are few.
PROMPTS = [prompt_of(seed, n) for seed, n in ((1, 3), (2, 11), (3, 14), (4, 30), (5, 45))]
SAMPLINGS = [GREEDY, Sampling(temperature=0.8, seed=3), Sampling(temperature=1.0, seed=9, repetition_penalty=1.2)]


def plans() -> st.SearchStrategy[Plan]:
    """Jobs of all lengths, with right, wrong and half right drafts behind all kinds of steps."""
    draft = st.tuples(st.integers(0, 9), st.none() | st.integers(0, 5))
    return st.builds(
        Plan,
        prompt=st.sampled_from(PROMPTS),
        n_reply=st.just(14),
        drafts=st.lists(draft, min_size=1, max_size=4).map(tuple),
        rounds=st.lists(st.tuples(st.integers(0, 9), st.booleans()), min_size=1, max_size=4).map(tuple),
        sampling=st.sampled_from(SAMPLINGS),
        arrives=st.integers(0, 6),
        leaves=st.none() | st.integers(1, 6),
    )


def check(kind: str, jobs: Sequence[Plan]) -> MlxModel:
    """Run jobs together; each has to say what it says alone, up to where it was cancelled."""
    model = model_of(kind)
    expected = [alone(kind, plan) for plan in jobs]
    for job, reply in zip(run_together(model, jobs, expected), expected, strict=True):
        if job.error is not None:
            raise Noticed(repr(job.error)) from job.error
        if job.reply != (reply if job.plan.leaves is None else reply[: len(job.reply)]):
            raise Noticed(job.plan)
    return model


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(jobs=st.lists(plans(), min_size=2, max_size=5), coins=st.lists(st.booleans(), min_size=1, max_size=5))
def test_each_reply_is_its_reply_alone(kind: str, jobs: list[Plan], coins: list[bool]) -> None:
    """Whoever comes, goes and drafts what, with whatever caches and sampling, each reply equals its solo run.

    Sometimes a turn's passes run apart, as costs may want.
    """
    model = model_of(kind)
    turn = iter(range(1 << 30))
    model.together.costs = Told(lambda: coins[next(turn) % len(coins)])
    check(kind, jobs)


FOUR = [Plan(prompt) for prompt in PROMPTS[1:]]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "chunks and rows"])
def test_passes_are_shared(kind: str) -> None:
    """Four jobs share most of their passes, whatever their caches."""
    model_of(kind).together.costs = None
    before = model_of(kind).together.counts.n_joint_passes
    check(kind, FOUR)
    assert "" == model_of(kind).together.refusal
    assert model_of(kind).together.counts.n_joint_passes - before > 5


def test_a_model_that_knows_no_rows_takes_turns() -> None:
    """A network that reckons with the caches' places itself runs no joint pass, and says why."""
    model = model_of("chunks and rows")
    check("chunks and rows", FOUR)
    assert "maybe_trim_front" in model.together.refusal
    assert 0 == model.together.counts.n_joint_passes


def _round_coarsely(patch: pytest.MonkeyPatch) -> None:
    """Let products of several tokens have eight bits, and those of one token all of theirs."""
    intact = nn.Linear.__call__

    def coarse(layer: nn.Linear, x: mx.array) -> mx.array:
        product: mx.array = intact(layer, x if x.shape[-2] == 1 else x.astype(mx.bfloat16).astype(mx.float32))
        return product

    patch.setattr(nn.Linear, "__call__", coarse)


def test_a_device_that_rounds_coarsely_shares_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where passes of one token and of several differ by rounding, joint passes may, too."""
    _round_coarsely(monkeypatch)
    assert "" == make_model("rows").together.refusal
    monkeypatch.setattr(joint_module, "N_ROUNDINGS", 0)
    assert "than the same passes alone" in make_model("rows").together.refusal


OF_ROWS = [
    Mutation(RowsCache, RowsCache.offset.fget, "int(cache.offset)", "int(self.caches[0].offset)"),  # type: ignore[attr-defined]
    Mutation(Layout, Layout.split, "[: len(self.widths)]", "[len(self.widths) - 1 :: -1]"),
    Mutation(rows_module.RowOffsets, rows_module.RowOffsets._find_places, "offset + place", "offset"),
    Mutation(JointNetwork, JointNetwork._run, "join_caches(caches, layout)", "join_caches(caches[::-1], layout)"),
]


def make_strict_model(kind: str) -> MlxModel:
    """Make a model that refuses what its probe finds wrong: what was taught once is not taught to run row by row."""
    assert "" == model_of(kind).together.refusal
    return make_model(kind)


@pytest.mark.parametrize("mutation", OF_ROWS, ids=lambda m: f"{m.function.__name__}: {m.new}")
def test_coarse_rounding_hides_no_defect(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are mixed up are farther apart than what is rounded."""
    model = make_strict_model("rows")
    _round_coarsely(monkeypatch)
    mutation.apply(monkeypatch)
    assert model.together.refusal


def test_a_pass_is_as_wide_as_its_rows() -> None:
    """Rows of a joint pass lie behind one another without padding; only fixed shapes fill it up."""
    widths: dict[str, set[int]] = {}
    for kind in ("rows", "fixed shapes"):
        model, seen = model_of(kind), widths.setdefault(kind, set())
        joint = JointNetwork(model.network, _noting(model, seen), model._make_caches, model.shapes)
        targets = [model.target() for _ in range(3)]
        for target in targets:
            target.prefill(PROMPTS[0])
        joint.run(
            [Pass(n, 2, False, mx.zeros(n, mx.int32), t._caches) for n, t in zip((1, 3, 5), targets, strict=True)]
        )
    assert {"rows": {9}, "fixed shapes": {16}} == widths


def test_passes_are_new_until_their_shapes_were_run() -> None:
    """Where shapes are fixed, the first passes of each say nothing about what they cost; elsewhere every pass does."""
    new: dict[str, list[bool]] = {}
    for kind in ("rows", "fixed shapes"):
        model = model_of(kind)
        joint = JointNetwork(model.network, model._forward, model._make_caches, model.shapes)
        assert "" == joint.refusal
        targets = [model.target() for _ in range(2)]
        for target in targets:
            target.prefill(PROMPTS[0])
            target.verify(())
        for width in (1, 1, 1, 9, 9, 9):
            joint.run([Pass(width, 2, False, mx.zeros(width, mx.int32), t._caches) for t in targets])
            new.setdefault(kind, []).append(joint.was_new)
            for target in targets:
                for cache_ in target._caches:
                    cache_.trim(width)
    assert {"rows": [False] * 6, "fixed shapes": [True, True, False] * 2} == new


def test_very_long_rows_attend_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the keys of all rows would be too many for one array, replies are still what they are alone."""
    monkeypatch.setattr(flat_keys_module, "MAX_SLOTS", 1)
    check("fixed shapes", FOUR)


def _noting(model: MlxModel, seen: set[int]) -> Any:  # noqa: ANN401 - a forward
    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        seen.add(tokens.size)
        return model._forward(tokens, caches)

    return forward


FAULTY = ("rows", "8 bits", "windows and rows", "states and rows")


@pytest.mark.parametrize("kind", FAULTY)
@pytest.mark.parametrize("struck", [1, 2, 5])
def test_a_joint_pass_that_fails_disturbs_nobody(kind: str, struck: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a joint pass fails in its middle, its rows are read again and run alone: nobody hears of it."""
    model = make_model(kind)
    _strike(monkeypatch, struck)
    expected = [alone(kind, plan) for plan in FOUR]
    jobs = run_together(model, FOUR, expected)
    assert [(reply, None) for reply in expected] == [(job.reply, job.error) for job in jobs]
    counts = model.together.counts
    assert 1 == counts.n_failed
    assert 2 <= counts.n_rebuilt <= len(FOUR)


def _strike(patch: pytest.MonkeyPatch, struck: int) -> None:
    """Let one joint pass fail once it has fed its rows."""
    n_passes = iter(range(1, 1 << 30))
    intact = JointNetwork.run

    def run(joint: JointNetwork, passes: Sequence[Pass]) -> Sequence[mx.array]:
        found = intact(joint, passes)
        if next(n_passes) == struck:
            raise RuntimeError("[metal::malloc] Attempting to allocate 1 bytes")
        return found

    patch.setattr(JointNetwork, "run", run)


@pytest.mark.parametrize("kind", FAULTY)
@pytest.mark.parametrize("struck", [1, 3, 6, 9])
def test_a_device_that_fails_disturbs_nobody(kind: str, struck: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the device fails and caches hold nonsense, a row that shared a pass is read again; its reply stays."""
    model = make_model(kind)
    n_reads = iter(range(1, 1 << 30))
    intact = Passes.read

    def strike(passes: Passes, choices: Choices) -> tuple[list[int], list[bool]]:
        found = intact(passes, choices)
        if passes._was_joined and next(n_reads) == struck:
            _spoil(passes._caches)
            raise RuntimeError("[METAL] Command buffer execution failed: Insufficient Memory")
        return found

    monkeypatch.setattr(Passes, "read", strike)
    expected = [alone(kind, plan) for plan in FOUR]
    jobs = run_together(model, FOUR, expected)
    assert [(reply, None) for reply in expected] == [(job.reply, job.error) for job in jobs]
    assert 1 == model.together.counts.n_rebuilt


def _spoil(caches: list[Any]) -> None:
    for cache_ in caches:
        for name, value in vars(cache_).items():
            if isinstance(value, mx.array) and value.dtype == mx.float32:
                setattr(cache_, name, value * math.nan)


@pytest.mark.parametrize("kind", FAULTY)
def test_a_row_that_fails_fails_alone(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logits of one row that are no numbers end its job; the others' replies are as ever."""
    model = make_model(kind)
    n_passes = iter(range(1, 1 << 30))
    intact = JointNetwork.run

    def strike(joint: JointNetwork, passes: Sequence[Pass]) -> Sequence[mx.array]:
        found = list(intact(joint, passes))
        if next(n_passes) == 3:
            found[1] = found[1] * math.nan
        return found

    monkeypatch.setattr(JointNetwork, "run", strike)
    synchronous = [Plan(plan.prompt, rounds=((6, False), (0, False))) for plan in FOUR]
    expected = [alone(kind, plan) for plan in synchronous]
    jobs = run_together(model, synchronous, expected)
    failed = [job for job in jobs if job.error is not None]
    assert [EngineError] == [type(job.error) for job in failed]
    assert [job.reply for job in jobs if job not in failed] == [
        reply for job, reply in zip(jobs, expected, strict=True) if job not in failed
    ]


def test_a_kept_state_is_whole_after_a_failed_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a sequence keeps for the next edit after its caches were read again is as good as before."""
    for kind in FAULTY:
        model = make_model(kind)
        target, other = model.target(), model.target()
        for each in (target, other):
            each.prefill(PROMPTS[3])
        with monkeypatch.context() as patch:
            patch.setattr(JointNetwork, "run", _fail)
            model.together.run([partial(each.verify, ()) for each in (target, other)])
        assert 2 == model.together.counts.n_rebuilt
        kept = target.keep(len(PROMPTS[3]) - 1)
        assert kept is not None
        again = model.target()
        n = again.resume(kept, PROMPTS[3])
        if rest := PROMPTS[3][n + 1 :]:
            again.prefill(rest)
        assert alone(kind, Plan(PROMPTS[3]))[:6] == [again.verify(())[0] for _ in range(6)]


def _fail(joint: JointNetwork, passes: Sequence[Pass]) -> Sequence[mx.array]:
    joint._forward(passes[0].tokens[None], passes[0].caches)
    raise RuntimeError("a kernel failed")


def test_pipelined_rounds_share_passes_that_nobody_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain rounds in a pipeline submit their next joint pass before anybody reads the last, one pass a turn."""
    model = make_model("rows")
    assert "" == model.together.refusal
    happened: list[str] = []
    run, wait = JointNetwork.run, JointNetwork.wait

    def noting_run(joint: JointNetwork, passes: Sequence[Pass]) -> Sequence[mx.array]:
        happened.append("lazy" if all(each.is_lazy for each in passes) else "pass")
        return run(joint, passes)

    def noting_wait(joint: JointNetwork, arrays: Sequence[mx.array]) -> None:
        happened.append("wait")
        wait(joint, arrays)

    monkeypatch.setattr(JointNetwork, "run", noting_run)
    monkeypatch.setattr(JointNetwork, "wait", noting_wait)
    targets = [model.target() for _ in range(3)]
    for target, prompt in zip(targets, PROMPTS, strict=False):
        target.prefill(prompt)
    for _ in range(4):
        model.together.run([target.advance for target in targets])
    assert ["pass", *["lazy", "wait"] * 4] == happened


def test_exact_replies_share_no_pass() -> None:
    """A reply that is to be exact in every bit runs its passes alone."""
    model = make_model("rows")
    jobs = [Plan(prompt, sampling=Sampling(exact=True)) for prompt in PROMPTS[1:3]]
    expected = [alone("rows", Plan(plan.prompt)) for plan in jobs]
    assert expected == [job.reply for job in run_together(model, jobs, expected)]
    assert 0 == model.together.counts.n_joint_passes


MUTATIONS = [
    *OF_ROWS,
    Mutation(RowsCache, RowsCache.make_mask, "self.layout.widths, strict", "reversed(self.layout.widths), strict"),
    Mutation(Layout, Layout.join, "if self.n_filling:", "if False:"),
    Mutation(mixers_module, rows_module.of_row, "value.caches[row]", "value.caches[0]"),
    Mutation(Passes, Passes.renew, "copy.deepcopy(self._fresh)", "self._caches"),
    Mutation(Passes, Passes.renew, "tokens[start:end]", "tokens[start : end - 1]"),
    Mutation(Passes, Passes.tried, "read_again()", "pass"),
]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: f"{m.function.__name__}: {m.new}")
def test_a_defect_is_noticed(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect of rows or of what follows a failure is noticed: by the probe, a reply or an error."""
    with pytest.raises((Noticed, AssertionError)):
        check_everything(mutation, monkeypatch)


def test_the_intact_code_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a defect, nothing is noticed."""
    check_everything(None, monkeypatch)


def check_everything(mutation: Mutation | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run jobs together, on a model whose probe found nothing wrong, with a pass that fails in between."""
    for kind in ("rows", "fixed shapes", "windows and rows", "states and rows"):
        expected = [alone(kind, plan) for plan in FOUR]
        model = make_strict_model(kind)
        with monkeypatch.context() as patch:
            if mutation is not None:
                mutation.apply(patch)
            if model.together.refusal:
                raise Noticed(model.together.refusal)
            _strike(patch, 3)
            for job, reply in zip(run_together(model, FOUR, expected), expected, strict=True):
                if job.error is not None or job.reply != reply:
                    raise Noticed(job.plan)
