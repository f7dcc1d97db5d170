"""In low precision `exact` drafts only as wide as passes compute each row as plain decoding does, bit for bit."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx.utils import tree_map_with_path

from plgd.engine.mlx.model import MlxModel
from plgd.engine.sampling import Sampling
from replies import drafted_reply, plain_reply
from tiny_configs import make_config
from tiny_models import LLAMA, make_network

PROMPT = [(7 * i * i + 3 * i + 1) % 97 for i in range(40)]
N_REPLY = 250


@pytest.fixture(autouse=True, scope="module")
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


class SplitLinear(nn.Module):  # type: ignore[misc]  # mlx-lm has no annotations
    """A product that adds up wide passes in two halves, as kernels for many rows do, and narrow ones in one go.

    Args:
        weight: [outputs, inputs].
        widest_narrow: passes of more tokens are wide.
    """

    def __init__(self, weight: mx.array, widest_narrow: int) -> None:
        super().__init__()
        self.weight = weight
        self._widest_narrow = widest_narrow

    def __call__(self, x: mx.array) -> mx.array:
        if x.shape[1] <= self._widest_narrow or x.shape[1] > 100:  # a prompt is fed alike by all
            return x @ self.weight.T
        half = x.shape[-1] // 2
        return x[..., :half] @ self.weight[:, :half].T + x[..., half:] @ self.weight[:, half:].T


def model_of(config: dict[str, Any], dtype: mx.Dtype, widest_narrow: int | None = None) -> MlxModel:
    """Make a small model, all of whose products round otherwise in passes wider than `widest_narrow`."""
    network = make_network(config)
    network.set_dtype(dtype)
    if widest_narrow is not None:
        layers = network.leaf_modules()

        def split(_path: str, layer: nn.Module) -> nn.Module:
            return SplitLinear(layer.weight, widest_narrow) if type(layer) is nn.Linear else layer

        network.update_modules(tree_map_with_path(split, layers, is_leaf=nn.Module.is_module))
    return MlxModel(
        network,
        tokenizer=None,  # type: ignore[arg-type]  # tokens are all that is needed here
        name="small",
        eos_tokens=frozenset(),
        context_limit=512,
    )


def plain(model: MlxModel, sampling: Sampling) -> list[int]:
    """Decode plainly."""
    target = model.target(sampling)
    target.prefill(PROMPT)
    return plain_reply(target, N_REPLY)


def drafted(model: MlxModel, sampling: Sampling, reply: Sequence[int], draft_tokens: int) -> list[int]:
    """Decode with drafts, most of them right."""
    target = model.target(sampling)
    target.prefill(PROMPT)
    rng = random.Random(3)  # noqa: S311  # the same drafts in every run

    def draft(done: list[int]) -> list[int] | None:
        if rng.random() < 0.1:
            return None
        right = list(reply[len(done) : len(done) + draft_tokens])
        if right and rng.random() < 0.2:
            right[-1] = (right[-1] + 1) % 256
        return right

    return drafted_reply(target, N_REPLY, draft)


@pytest.mark.parametrize("widest_narrow", [1, 2, 5, 15])
def test_the_width_is_found(widest_narrow: int) -> None:
    """The search finds the widest pass that rounds as one-token passes do."""
    assert widest_narrow == model_of(LLAMA, mx.bfloat16, widest_narrow).exact_width


def test_float32_needs_no_search() -> None:
    """In float32 near ties are decided again instead, at any width."""
    model = model_of(LLAMA, mx.float32, 1)
    assert model.exact_width is None
    assert model.target(Sampling(exact=True)).max_draft == 512


@pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16])
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_exact_replies_are_plain_ones(dtype: mx.Dtype, temperature: float) -> None:
    """Where wide passes do flip choices, an exact reply is still plain decoding's own."""
    model = model_of(LLAMA, dtype, 5)
    reply = plain(model, Sampling(temperature=temperature, seed=1))
    assert reply != drafted(model, Sampling(temperature=temperature, seed=1), reply, 12)
    assert reply == drafted(model, Sampling(temperature=temperature, seed=1, exact=True), reply, 12)


@pytest.mark.parametrize("model_type", ["gemma3_text", "lfm2"])
def test_what_would_be_fed_again_is_not_drafted(model_type: str) -> None:
    """Where drafts are taken back by snapshot, exact replies are decoded plainly: a replay would round otherwise."""
    model = model_of(make_config(model_type), mx.bfloat16, 5)
    reply = plain(model, Sampling())
    assert reply == drafted(model, Sampling(exact=True), reply, 12)


def test_an_exact_target_says_how_much_it_takes() -> None:
    """A target tells the longest draft that it takes whole, and cuts a longer one without counting near ties."""
    model = model_of(LLAMA, mx.bfloat16, 5)
    target = model.target(Sampling(exact=True))
    target.prefill(PROMPT)
    assert 4 == target.max_draft
    assert 5 == len(target.verify(plain(model, Sampling())[:9]))
    assert 0 == target.n_near_ties
