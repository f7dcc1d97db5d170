"""A sequence's caches: quantized where asked and where it can be, refused where it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx_lm.models.cache import KVCache, QuantizedKVCache, RotatingKVCache

from plgd.engine.governor import POLICIES
from plgd.engine.mlx.caches import CacheMaker
from plgd.engine.mlx.load import load_model
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.stops import Stops
from plgd.errors import UnsupportedModel
from replies import drafted_reply, plain_reply
from session_replies import NEVER, decode_reply, policy_session
from tiny_configs import make_config
from tiny_models import LLAMA, make_network, write_model

PROMPT = list(range(20, 40))


@pytest.fixture(autouse=True)
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


@pytest.mark.parametrize("kv_bits", [4, 8])
def test_drafting_with_quantized_keys_and_values(tmp_path: Path, kv_bits: int) -> None:
    """With keys and values in 8 or 4 bits, right and wrong drafts leave the reply as it is (reference A9)."""
    folder = write_model(tmp_path / "model", {**LLAMA, "head_dim": 64})
    model = load_model(folder, name="tiny", kv_bits=kv_bits)
    target = model.target()
    target.prefill(PROMPT)
    reply = plain_reply(target, 40)

    def half_right(done: list[int]) -> list[int] | None:
        right = reply[len(done) : len(done) + 6]
        return [*right[:3], *((token + 1) % 400 for token in right[3:])] if len(done) % 3 else None

    drafted = model.target()
    drafted.prefill(PROMPT)
    assert reply == drafted_reply(drafted, 40, half_right)
    assert kv_bits == model.kv_bits


@pytest.mark.parametrize(
    ("head_dim", "expected"),
    [(64, [QuantizedKVCache, QuantizedKVCache]), (32, [QuantizedKVCache, QuantizedKVCache]), (16, [KVCache, KVCache])],
)
def test_heads_are_quantized_in_groups_that_fit(head_dim: int, expected: list[type]) -> None:
    """Heads of 64 and of 32 values are quantized in groups of as many; smaller ones stay as they are."""
    made = CacheMaker(make_network({**LLAMA, "head_dim": head_dim}), "tiny", kv_bits=8)()
    assert expected == [type(cache) for cache in made]
    assert {head_dim} >= {cache.group_size for cache in made if isinstance(cache, QuantizedKVCache)}


def test_windows_stay_as_they_are() -> None:
    """A sliding window is not quantized; what lies between is."""
    made = CacheMaker(make_network(make_config("gemma3_text")), "tiny", kv_bits=8)()
    assert [RotatingKVCache, QuantizedKVCache] * 2 == [type(cache) for cache in made]


@pytest.mark.parametrize("model_type", ["deepseek_v3", "gpt_oss", "minimax_m3_vl"])
def test_attention_that_reads_its_cache_itself_is_refused(model_type: str) -> None:
    """Quantized keys and values are refused, with the reason, for attention that cannot use them."""
    module: Any = __import__(f"mlx_lm.models.{model_type}", fromlist=["Model"])
    network = make_network(make_config(model_type), classes=(module.Model, module.ModelArgs))
    with pytest.raises(UnsupportedModel, match="cannot use quantized keys and values"):
        CacheMaker(network, "tiny", kv_bits=8)


@pytest.mark.parametrize("kv_bits", [0, 8])
def test_a_model_that_remembers_nothing_is_refused(kv_bits: int) -> None:
    """A model for which mlx-lm makes no cache at all is refused, with the reason (reference A12)."""

    class Forgetful(nn.Module):  # type: ignore[misc]  # mlx-lm has no annotations
        layers: tuple[nn.Module, ...] = ()

    with pytest.raises(UnsupportedModel, match="no caches for it"):
        CacheMaker(Forgetful(), "tiny", kv_bits=kv_bits)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_with_quantized_keys_and_values(policy: str) -> None:
    """With 8-bit keys and values a reply under any policy is that of plain decoding (reference A9)."""
    network = make_network({**LLAMA, "head_dim": 64, "vocab_size": 6})
    make = CacheMaker(network, "tiny", kv_bits=8)

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        logits: mx.array = network(tokens, cache=caches)
        return logits

    replies = []
    for name in ("off", policy):
        session = policy_session(MlxTarget(forward, make(), context_limit=512), name)
        decode_reply(session, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1], Stops(NEVER, 60, loop_guard=False))
        replies.append(session.tokens)
    assert replies[0] == replies[1]
    assert (policy == "off") == (session.stats.n_drafted == 0)


def test_attention_that_turns_sparse_keeps_its_shapes() -> None:
    """Where attention turns sparse at some length, fixed shapes are left off before that length is reached."""
    network = make_network(LLAMA)
    network.model_type = "minimax_m3_vl"
    assert CacheMaker(network, "tiny", shapes=FixedShapes((4, 8), 32)).shapes is None
