"""Fixed shapes, forced on: the same tokens, few widths, rounded lengths; off where a model cannot do with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.models.base import create_causal_mask
from mlx_lm.models.cache import KVCache

from plgd.engine.mlx.caches import CacheMaker
from plgd.engine.mlx.model import MlxModel
from plgd.engine.mlx.shapes import FixedShapes, RoundedKVCache
from plgd.engine.mlx.target import MlxTarget
from replies import drafted_reply, plain_reply
from tiny_configs import make_config
from tiny_models import LLAMA, make_network

SHAPES = FixedShapes(widths=(4, 8, 16), kv_step=32)
PROMPT = [(7 * i * i + 3 * i + 1) % 256 for i in range(21)]
N_REPLY = 50


@pytest.fixture(autouse=True)
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


class Watched:
    """A network that notes the widths of its passes and the lengths that its first layer attends to."""

    def __init__(self, network: nn.Module, shapes: FixedShapes | None) -> None:
        self._network = network
        self._make = CacheMaker(network, "small", shapes=shapes)
        self.shapes = self._make.shapes
        self.widths: list[int] = []

    def target(self) -> MlxTarget:
        """Start an empty sequence."""
        return MlxTarget(self._forward, self._make(), context_limit=512, shapes=self.shapes)

    def _forward(self, tokens: mx.array, caches: list[Any]) -> mx.array:
        self.widths.append(tokens.shape[1])
        logits: mx.array = self._network(tokens, cache=caches)
        return logits


@pytest.mark.parametrize(("width", "filled"), [(1, 1), (2, 4), (4, 4), (5, 8), (16, 16), (17, 17)])
def test_passes_are_filled_up(width: int, filled: int) -> None:
    """A pass is filled up to the next width; a single token and what is wider than all stay."""
    assert filled == SHAPES.fill(width)


@given(n_held=st.integers(0, 70), n_new=st.integers(2, 70), window=st.none() | st.integers(1, 80))
def test_rounded_mask_hides_what_is_not_there(n_held: int, n_new: int, window: int | None) -> None:
    """Of the rounded length a pass sees exactly what it would see of the true one."""
    cache, rows = RoundedKVCache(32), mx.ones((1, 1, 1, 4))
    if n_held:
        cache.update_and_fetch(mx.repeat(rows, n_held, axis=2), mx.repeat(rows, n_held, axis=2))
    mask = cache.make_mask(n_new, window_size=window)
    keys, _ = cache.update_and_fetch(mx.repeat(rows, n_new, axis=2), mx.repeat(rows, n_new, axis=2))
    assert 0 == keys.shape[2] % 32
    assert (n_new, keys.shape[2]) == mask.shape
    true = create_causal_mask(n_new, n_held, window_size=window)
    assert mx.array_equal(true, mask[:, : n_held + n_new]).item()
    assert not mask[:, n_held + n_new :].any().item()


@settings(deadline=None, max_examples=6)
@given(data=st.data())
@pytest.mark.parametrize("config", [LLAMA, make_config("gemma3_text"), make_config("deepseek_v3"), make_config("lfm2")])
def test_fixed_shapes_change_nothing(config: dict[str, Any], data: st.DataObject) -> None:
    """With fixed shapes every reply is what it is without, drafted or not, and passes have few widths."""
    network = make_network(config)
    expected = Watched(network, None).target()
    expected.prefill(PROMPT)
    reply = plain_reply(expected, N_REPLY)
    watched = Watched(network, SHAPES)
    assert SHAPES == watched.shapes

    def draft(done: list[int]) -> list[int] | None:
        right = reply[len(done) : len(done) + data.draw(st.integers(0, 12))]
        if data.draw(st.booleans()):
            return right or None
        n_right = data.draw(st.integers(0, len(right)))
        return [*right[:n_right], *((token + 1) % 256 for token in right[n_right:])]

    target = watched.target()
    target.prefill(PROMPT)
    assert reply == drafted_reply(target, N_REPLY, draft)
    if not target.rollback_method(1).by_snapshot:
        assert {1, 4, 8, 16, 20} >= set(watched.widths)


def test_attention_that_cannot_round_keeps_its_shapes() -> None:
    """Where a model goes wrong with rounded lengths, or fails, it runs without fixed shapes."""
    network = make_network(LLAMA)

    class Careless:
        """Uses the caches but attends without their masks."""

        layers = network.layers

        def __call__(self, tokens: mx.array, cache: list[KVCache]) -> mx.array:
            logits: mx.array = network(tokens, cache=cache)
            factor: int = cache[0].update_and_fetch(*[mx.ones((1, 2, 2, 16))] * 2)[0].shape[2]
            return logits * factor

    assert Watched(Careless(), SHAPES).shapes is None


@pytest.mark.parametrize(("context_limit", "longest"), [(512, 160), (130, 96)])
def test_warm_up_meets_every_pair_of_shapes(context_limit: int, longest: int) -> None:
    """Warming up runs each width once at each rounded length, as far as was asked and as the context has room."""
    network, seen = make_network(LLAMA), set()

    class Noting:
        """Notes the width and the length of keys of each pass."""

        layers = network.layers

        def __call__(self, tokens: mx.array, cache: list[RoundedKVCache]) -> mx.array:
            logits: mx.array = network(tokens, cache=cache)
            seen.add((tokens.shape[1], -(-cache[0].offset // 32) * 32))
            return logits

    model = MlxModel(
        Noting(),
        tokenizer=None,  # type: ignore[arg-type]  # tokens are all that is needed here
        name="small",
        eos_tokens=frozenset(),
        context_limit=context_limit,
        shapes=SHAPES,
    )
    seen.clear()
    model.warm_up_lengths((1, 2, 3, 7), 150)
    blocks = {pair for pair in seen if pair[0] in (4, 8)}
    assert {(width, n) for width in (4, 8) for n in range(32, longest + 1, 32)} == blocks


def test_without_fixed_shapes_there_are_no_pairs() -> None:
    """Where passes may have any shape, nothing is run for the lengths."""
    model = MlxModel(
        make_network(LLAMA),
        tokenizer=None,  # type: ignore[arg-type]  # as above
        name="small",
        eos_tokens=frozenset(),
        context_limit=512,
    )
    model.target = None  # type: ignore[method-assign, assignment]  # any use would fail
    model.warm_up_lengths((2, 8))
