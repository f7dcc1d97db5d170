"""Divergences are counted token by token, and `exact` has none."""

from __future__ import annotations

from collections.abc import Iterator

import mlx.core as mx
import pytest

from low_precision import low_precision_model
from plgd.bench.divergence import Divergences, count_divergences
from tiny_models import LLAMA

PROMPTS = {"one": [(7 * i * i + 3 * i + 1) % 97 for i in range(40)], "two": list(range(30, 60))}


@pytest.fixture(autouse=True)
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


def test_every_token_is_compared() -> None:
    """After a divergence the comparison goes on from there, so each length of draft compares the same tokens."""
    model = low_precision_model(LLAMA, mx.bfloat16, 5)
    found = list(count_divergences(model, PROMPTS, max_tokens=120, drafts=(3, 12)))
    assert [(3, False), (3, True), (12, False), (12, True)] == [(each.n_drafted, each.exact) for each in found]
    assert {240} == {each.n_tokens for each in found}
    narrow, narrow_exact, wide, wide_exact = (each.n_divergences for each in found)
    # Blocks of 4 round as plain decoding does, blocks of 13 do not.
    assert (0, 0, 0) == (narrow, narrow_exact, wide_exact)
    assert wide > 1
    assert found[3].n_near_ties == 0 < found[2].n_near_ties


def test_drafts_are_as_long_as_they_can_be() -> None:
    """Rounds are few where drafts are right, and `exact` takes as many as its widest block asks for."""
    model = low_precision_model(LLAMA, mx.bfloat16, 5)
    plain, exact = count_divergences(model, {"two": PROMPTS["two"]}, max_tokens=60, drafts=(9,))
    assert plain.n_rounds < exact.n_rounds == 60 // 5


def test_the_rate_is_per_10_000_tokens() -> None:
    """Three divergences in 2,000 tokens are 15 in 10,000."""
    found = Divergences(n_drafted=7, exact=False, n_tokens=2000, n_rounds=9, n_near_ties=4, n_divergences=3)
    assert 15.0 == found.per_10_000
