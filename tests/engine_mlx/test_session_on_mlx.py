"""The whole engine over real models and caches: every policy says what mlx-lm says."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import mlx.core as mx
import pytest
from mlx_lm.generate import generate_step
from mlx_lm.models.cache import make_prompt_cache

from plgd.engine.governor import make_governor
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.session import Session
from plgd.engine.stops import Stops
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


@pytest.mark.parametrize("policy", ["off", "ds4", "graded", "gated", "cost"])
@pytest.mark.parametrize("model_type", ["qwen3", "gemma3_text", "lfm2"])
def test_every_policy_says_what_mlx_lm_says(model_type: str, policy: str) -> None:
    """Under each policy, over rows, windows and states, a drafted reply is mlx-lm's own."""
    network = make_network(make_config(model_type))
    expected = [token for token, _ in generate_step(mx.array(PROMPT), network, max_tokens=N_REPLY)]

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        logits: mx.array = network(tokens, cache=caches)
        return logits

    target = MlxTarget(forward, make_prompt_cache(network), context_limit=512)
    session = Session(target, HalfRight(PROMPT + expected), make_governor(policy))
    assert [8, 16, 24, 30] == list(session.prefill(PROMPT, 8))
    for _ in session.decode(Stops(frozenset(), N_REPLY)):
        pass
    assert PROMPT + expected == session.tokens
    if policy != "off":
        assert session.stats.n_accepted > 0
