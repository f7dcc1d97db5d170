"""Kept caches: warm replies equal cold ones, for every way that caches go back."""

from __future__ import annotations

import functools
import importlib
import random
from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plgd.engine.mlx.caches import CacheMaker
from plgd.engine.mlx.kept import MAX_POINTS, KeptCaches, RestorePoints
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.mlx.target import MlxTarget
from replies import drafted_reply, plain_reply
from tiny_configs import WINDOW, make_config
from tiny_models import make_network

SLICE = 16
N_REPLY = 12
VOCABULARY = 256
# Rows, rows in 8 bits, rounded rows, windows, convolutions, chunks, recurrent states alone and with windows.
KINDS: dict[str, dict[str, Any]] = {
    "llama": {},
    "llama in 8 bits": {"kv_bits": 8},
    "llama in fixed shapes": {"shapes": FixedShapes((2, 4, 8, 16, 32), 32)},
    "gemma3_text": {},
    "lfm2": {},
    "llama4": {},
    "mamba2": {},
    "recurrent_gemma": {},
    "deepseek_v41": {},
}


@pytest.fixture(autouse=True)
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


class Maker:
    """Makes targets of one small model."""

    def __init__(self, kind: str) -> None:
        model_type = kind.partition(" ")[0]
        module = importlib.import_module(f"mlx_lm.models.{model_type}")
        self._network = make_network(make_config(model_type), classes=(module.Model, module.ModelArgs))
        self._make = CacheMaker(self._network, model_type, **KINDS[kind])

    def target(self) -> MlxTarget:
        """Make an unused target."""

        def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
            logits: mx.array = self._network(tokens, cache=caches)
            return logits

        return MlxTarget(forward, self._make(), context_limit=1 << 20, shapes=self._make.shapes)


@functools.cache
def maker(kind: str) -> Maker:
    """Make each model once."""
    return Maker(kind)


def prefill(target: MlxTarget, prompt: list[int], n_warm: int) -> None:
    """Feed what is not warm, slice by slice."""
    for start in range(n_warm + 1 if n_warm else 0, len(prompt), SLICE):
        target.prefill(prompt[start : start + SLICE])


def reply(target: MlxTarget, seed: int) -> list[int]:
    """Decode with drafts, most of them wrong, and steps in flight between them."""
    rng = random.Random(seed)  # noqa: S311  # the same drafts in every run
    return drafted_reply(
        target, N_REPLY, lambda _: None if rng.random() < 0.4 else [rng.randrange(VOCABULARY) for _ in range(4)]
    )


@st.composite
def histories(draw: st.DrawFn) -> list[list[int]]:
    """Prompts, each made from the one before by an edit; longer and shorter than a window."""
    rng = random.Random(draw(st.integers(0, 1 << 16)))  # noqa: S311
    prompt = [rng.randrange(VOCABULARY) for _ in range(draw(st.integers(2, 5 * WINDOW)))]
    prompts = [prompt]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(prompt)))
        end = start + draw(st.sampled_from((0, 1, 5, 1000)))
        new = [rng.randrange(VOCABULARY) for _ in range(draw(st.integers(1, 40)))]
        prompt = prompt[:start] + new + prompt[end:]
        prompts.append(prompt)
    return prompts


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prompts=histories(), seed=st.integers(0, 1 << 16))
def test_warm_replies_equal_cold_ones(kind: str, prompts: list[list[int]], seed: int) -> None:
    """Whatever was edited and replied before, a warm reply is the cold one token for token."""
    made = maker(kind)
    kept: KeptCaches | None = None
    for prompt in prompts:
        cold = made.target()
        cold.prefill(prompt)
        target = made.target()
        expected_warm = 0 if kept is None else kept.reach(prompt)
        n_warm = 0 if kept is None else target.resume(kept, prompt)
        assert expected_warm == n_warm
        prefill(target, prompt, n_warm)
        assert plain_reply(cold, N_REPLY) == reply(target, seed)
        kept = target.keep(len(prompt))


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_at_the_end_keeps_the_beginning(kind: str) -> None:
    """When the end of a prompt changes, at most a slice and the change are fed again; caches of rows lose nothing."""
    target = maker(kind).target()
    prompt = [place * 7 % VOCABULARY for place in range(3 * WINDOW)]
    prefill(target, prompt, 0)
    reply(target, 1)
    kept = target.keep(len(prompt))
    assert kept is not None
    assert len(prompt) - 1 == kept.n_tokens
    changed = [*prompt[:-3], 1, 2, 3]
    n_warm = kept.reach(changed)
    assert len(prompt) - 3 - SLICE < n_warm <= len(prompt) - 3
    if kind.startswith("llama "):
        assert len(prompt) - 3 == n_warm


def test_a_cancelled_prefill_is_kept() -> None:
    """What was prefilled until an edit was cancelled is warm for the next."""
    target = maker("llama").target()
    target.prefill(list(range(40)))
    kept = target.keep(1 << 20)
    assert kept is not None
    assert list(range(39)) == kept.tokens


def test_an_unused_target_keeps_nothing() -> None:
    """Nothing fed, nothing kept."""
    assert maker("llama").target().keep(5) is None


def test_kept_bytes_are_those_of_the_arrays() -> None:
    """What is kept says how much memory it takes: keys and values of both layers, spare room included."""
    target = maker("llama").target()
    target.prefill(list(range(40)))
    kept = target.keep(40)
    assert kept is not None
    expected = sum(cache.keys.nbytes + cache.values.nbytes for cache in kept.caches)
    assert 0 < expected == kept.n_bytes


def test_restore_points_are_bounded() -> None:
    """However long a prompt, only some restore points stay: the newest, and ever fewer before them."""
    target = maker("mamba2").target()
    for _ in range(40):
        target.prefill([1] * SLICE)
    points = [point.n for point in target._points.points]
    assert len(points) <= MAX_POINTS
    assert [SLICE * n - 1 for n in (37, 38, 39, 40)] == points[-4:]
    assert SLICE - 1 == points[0]


def test_no_points_for_rows() -> None:
    """Caches that drop their tails need no restore points, and pay for none."""
    target = maker("llama").target()
    target.prefill(list(range(40)))
    assert RestorePoints() == target._points


def test_used_targets_do_not_resume() -> None:
    """A target that has a history already takes nothing over."""
    target = maker("llama").target()
    target.prefill([1, 2, 3])
    kept = maker("llama").target()
    kept.prefill([1, 2, 3])
    state = kept.keep(3)
    assert state is not None
    with pytest.raises(ValueError, match="unused target"):
        target.resume(state, [1, 2, 3])
