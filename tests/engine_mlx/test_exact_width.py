"""In low precision `exact` drafts only as wide as passes compute each row as plain decoding does, bit for bit."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import mlx.core as mx
import pytest

from low_precision import low_precision_model
from plgd.engine.mlx.model import MlxModel
from plgd.engine.sampling import Sampling
from replies import drafted_reply, plain_reply
from tiny_configs import make_config
from tiny_models import LLAMA

PROMPT = [(7 * i * i + 3 * i + 1) % 97 for i in range(40)]
N_REPLY = 250


@pytest.fixture(autouse=True, scope="module")
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


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
    assert widest_narrow == low_precision_model(LLAMA, mx.bfloat16, widest_narrow).exact_width


def test_float32_needs_no_search() -> None:
    """In float32 near ties are decided again instead, at any width."""
    model = low_precision_model(LLAMA, mx.float32, 1)
    assert model.exact_width is None
    assert model.target(Sampling(exact=True)).max_draft == 512


def test_quantized_keys_need_a_search_in_float32_too() -> None:
    """Quantized keys and values make a whole step out of a last bit, so exact drafts stay narrow (reference A9)."""
    model = low_precision_model({**LLAMA, "head_dim": 64}, mx.float32, 5, kv_bits=8)
    assert 5 == model.exact_width
    reply = plain(model, Sampling())
    assert reply == drafted(model, Sampling(exact=True), reply, 12)


@pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16])
@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_exact_replies_are_plain_ones(dtype: mx.Dtype, temperature: float) -> None:
    """Where wide passes do flip choices, an exact reply is still plain decoding's own (reference A8)."""
    model = low_precision_model(LLAMA, dtype, 5)
    reply = plain(model, Sampling(temperature=temperature, seed=1))
    assert reply != drafted(model, Sampling(temperature=temperature, seed=1), reply, 12)
    assert reply == drafted(model, Sampling(temperature=temperature, seed=1, exact=True), reply, 12)


@pytest.mark.parametrize("model_type", ["gemma3_text", "lfm2"])
def test_what_would_be_fed_again_is_not_drafted(model_type: str) -> None:
    """Where drafts are taken back by snapshot, exact replies are decoded plainly: a replay would round otherwise."""
    model = low_precision_model(make_config(model_type), mx.bfloat16, 5)
    reply = plain(model, Sampling())
    assert reply == drafted(model, Sampling(exact=True), reply, 12)


def test_an_exact_target_says_how_much_it_takes() -> None:
    """A target tells the longest draft that it takes whole, and cuts a longer one without counting near ties."""
    model = low_precision_model(LLAMA, mx.bfloat16, 5)
    target = model.target(Sampling(exact=True))
    target.prefill(PROMPT)
    assert 4 == target.max_draft
    assert 5 == len(target.verify(plain(model, Sampling())[:9]))
    assert 0 == target.n_near_ties
