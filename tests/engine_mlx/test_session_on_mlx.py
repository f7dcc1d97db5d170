"""The whole engine over real models and caches: every policy says what mlx-lm says."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx.utils import tree_flatten
from mlx_lm.generate import generate_step
from mlx_lm.models.cache import make_prompt_cache

from plgd.engine.governor import make_governor
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.engine.types import StopReason
from session_replies import NEVER
from tiny_configs import make_config
from tiny_models import make_network

PROMPT = [(7 * i * i + 3 * i + 1) % 256 for i in range(30)]
N_REPLY = 60


class HalfRight:
    """Knows the reply, and drafts it with a mistake here and there and now and then nothing."""

    def __init__(self, history: list[int]) -> None:
        self._history = history
        self._n_seen = 0
        self._rng = random.Random(2)  # noqa: S311  # the same drafts in every run

    def extend(self, tokens: Sequence[int]) -> None:
        """Count what was committed."""
        self._n_seen += len(tokens)

    def propose(self, max_tokens: int) -> Draft:
        """Draft what comes, not quite."""
        draft = self._history[self._n_seen : self._n_seen + max_tokens]
        if not draft or self._rng.random() < 0.2:
            return NO_DRAFT
        if self._rng.random() < 0.6:
            place = self._rng.randrange(len(draft))
            draft[place] = (draft[place] + 1) % 256
        return Draft(tuple(draft), "half-right", 8)


@pytest.fixture(autouse=True)
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


class Watched:
    """A network that keeps the width and the last row of logits of every pass."""

    def __init__(self, network: nn.Module) -> None:
        self.layers = network.layers
        self.widths: list[int] = []
        self.last_logits: list[mx.array] = []
        self._network = network

    def __call__(self, tokens: mx.array, cache: list[Any]) -> mx.array:
        logits: mx.array = self._network(tokens, cache=cache)
        self.widths.append(tokens.shape[1])
        self.last_logits.append(logits[0, -1])
        return logits


def target_of(network: Any, caches: list[Any], context_limit: int = 512) -> MlxTarget:  # noqa: ANN401  # or a stand-in
    """Start an empty sequence."""

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        logits: mx.array = network(tokens, cache=caches)
        return logits

    return MlxTarget(forward, caches, context_limit=context_limit)


def bits(caches: list[Any]) -> list[object]:
    """Read what caches hold, arrays bit by bit."""
    held = [value for _, value in tree_flatten([cache.state for cache in caches])]
    return [value.view(mx.uint8).tolist() if isinstance(value, mx.array) else value for value in held]


@pytest.mark.parametrize("policy", ["off", "ds4", "graded", "gated", "cost"])
@pytest.mark.parametrize("model_type", ["qwen3", "gemma3_text", "lfm2"])
def test_every_policy_says_what_mlx_lm_says(model_type: str, policy: str) -> None:
    """Under each policy, over rows, windows and states, a drafted reply is mlx-lm's own (references A1, A8)."""
    network = make_network(make_config(model_type))
    expected = [token for token, _ in generate_step(mx.array(PROMPT), network, max_tokens=N_REPLY)]
    target = target_of(network, make_prompt_cache(network))
    session = Session(target, HalfRight(PROMPT + expected), make_governor(policy))
    assert [9, 17, 25, 30] == list(session.prefill(PROMPT, 8))
    for _ in session.decode(Stops(frozenset(), N_REPLY)):
        pass
    assert PROMPT + expected == session.tokens
    if policy != "off":
        assert session.stats.n_accepted > 0


@pytest.mark.parametrize("n_prompt", [1, 2, 8, 9, 10, 16, 17, 18, 30])
@pytest.mark.parametrize("model_type", ["qwen3", "gemma3_text", "lfm2"])
def test_prefill_is_mlx_lms_bit_by_bit(model_type: str, n_prompt: int) -> None:
    """In low precision too, caches and the first token's logits are mlx-lm's, at every length (reference A8)."""
    network = make_network(make_config(model_type))
    network.set_dtype(mx.bfloat16)
    plain, ours = Watched(network), Watched(network)
    plain_caches, our_caches = make_prompt_cache(network), make_prompt_cache(network)
    prompt = PROMPT[:n_prompt]
    # With no token asked for, mlx-lm still makes the first one.
    list(generate_step(mx.array(prompt), plain, prompt_cache=plain_caches, prefill_step_size=8, max_tokens=0))
    session = Session(target_of(ours, our_caches), HalfRight([]), make_governor("off"))
    list(session.prefill(prompt, 8))
    list(session.decode(Stops(NEVER, 1)))
    assert plain.widths == ours.widths
    assert mx.array_equal(plain.last_logits[-1], ours.last_logits[-1])
    assert bits(plain_caches) == bits(our_caches)


@pytest.mark.parametrize("policy", ["off", "ds4", "graded", "gated", "cost"])
@pytest.mark.parametrize("n_room", range(1, 12))
def test_at_the_context_wall_every_policy_says_what_mlx_lm_says(policy: str, n_room: int) -> None:
    """However little room the context leaves, a drafted reply fills it with mlx-lm's own tokens (reference B4)."""
    network = make_network(make_config("qwen3"))
    expected = [token for token, _ in generate_step(mx.array(PROMPT), network, max_tokens=n_room)]
    target = target_of(network, make_prompt_cache(network), context_limit=len(PROMPT) + n_room)
    session = Session(target, HalfRight([*PROMPT, *expected, 1, 2, 3]), make_governor(policy))
    list(session.prefill(PROMPT, 8))
    rounds = list(session.decode(Stops(NEVER, 1000)))
    assert PROMPT + expected == session.tokens
    assert StopReason.CONTEXT is rounds[-1].stopped
