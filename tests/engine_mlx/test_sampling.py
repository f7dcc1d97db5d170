"""Taking tokens from logits: mlx-lm's filters and penalties, noise keyed by position, and near ties."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import cast

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm import sample_utils as reference

from plgd.engine.mlx.penalties import Penalties, count_past
from plgd.engine.mlx.sampling import (
    MARGINS,
    Greedy,
    Sampled,
    choose,
    default_margin,
    gumbel_noise,
    make_sampler,
    top_p_threshold,
)
from plgd.engine.sampling import GREEDY, Sampling
from plgd.errors import EngineError, InvalidParams

V = 97
NONE = mx.array([0], mx.int32)


@pytest.fixture(autouse=True, scope="module")
def uncompiled() -> Iterator[None]:
    """Run mlx-lm's filters as they are: it compiles each anew for every value of a setting."""
    mx.disable_compile()
    yield
    mx.enable_compile()


def logits_of(seed: int, n_rows: int = 1, spread: float = 3.0) -> mx.array:
    """Draw logits [1, n_rows, V], all different."""
    return spread * mx.random.normal((1, n_rows, V), key=mx.random.key(seed))


def logprobs_of(seed: int, n_rows: int = 1) -> mx.array:
    """Draw log-probabilities."""
    logits = logits_of(seed, n_rows)
    return logits - mx.logsumexp(logits, axis=-1, keepdims=True)


def kept(logprobs: mx.array) -> list[list[bool]]:
    """Say which tokens a filter left in."""
    return cast("list[list[bool]]", (logprobs > -mx.inf).tolist())


top_ps = st.floats(0.01, 0.999)
min_ps = st.floats(0.001, 1.0)
top_ks = st.integers(1, V - 1)


@settings(deadline=None)
@given(seed=st.integers(0, 999), top_p=top_ps)
def test_top_p_keeps_what_mlx_lm_keeps(seed: int, top_p: float) -> None:
    """Top-p leaves the tokens in that mlx-lm leaves in."""
    logprobs = logprobs_of(seed, 3)
    assert kept(reference.apply_top_p(logprobs, top_p)) == kept(Sampled(Sampling(top_p=top_p))._filter(logprobs))


@settings(deadline=None)
@given(seed=st.integers(0, 999), min_p=min_ps)
def test_min_p_keeps_what_mlx_lm_keeps(seed: int, min_p: float) -> None:
    """Min-p leaves the tokens in that mlx-lm leaves in."""
    logprobs = logprobs_of(seed, 3)
    assert kept(reference.apply_min_p(logprobs, min_p)) == kept(Sampled(Sampling(min_p=min_p))._filter(logprobs))


@settings(deadline=None)
@given(seed=st.integers(0, 999), top_k=top_ks)
def test_top_k_keeps_what_mlx_lm_keeps(seed: int, top_k: int) -> None:
    """Top-k leaves the tokens in that mlx-lm leaves in."""
    logprobs = logprobs_of(seed, 3)
    assert kept(reference.apply_top_k(logprobs, top_k)) == kept(Sampled(Sampling(top_k=top_k))._filter(logprobs))


@settings(deadline=None)
@given(seed=st.integers(0, 999), top_p=top_ps, min_p=min_ps, top_k=top_ks)
def test_filters_combine_as_in_mlx_lm(seed: int, top_p: float, min_p: float, top_k: int) -> None:
    """All filters together leave the tokens in that mlx-lm's chain leaves in, and change no other probability."""
    logprobs = logprobs_of(seed, 3)
    chain = reference.apply_top_k(reference.apply_min_p(reference.apply_top_p(logprobs, top_p), min_p), top_k)
    filtered = Sampled(Sampling(top_p=top_p, min_p=min_p, top_k=top_k))._filter(logprobs)
    assert chain.tolist() == filtered.tolist()


@pytest.mark.parametrize("sampling", [Sampling(), Sampling(top_k=V), Sampling(top_k=V + 1)])
def test_filters_that_keep_everything_change_nothing(sampling: Sampling) -> None:
    """Filters at their defaults, and a top-k as large as the vocabulary, leave all tokens in."""
    logprobs = logprobs_of(1)
    assert logprobs.tolist() == Sampled(sampling)._filter(logprobs).tolist()


def test_the_nucleus_is_never_empty() -> None:
    """The likeliest token stays in, however small top-p is."""
    logprobs = logprobs_of(5, 4)
    for top_p in (1e-9, 1e-320):  # the second is 0 in float32
        assert mx.max(logprobs, axis=-1, keepdims=True).tolist() == top_p_threshold(logprobs, top_p).tolist()


@settings(deadline=None)
@given(
    seed=st.integers(0, 999),
    history=st.lists(st.integers(0, V - 1), min_size=1, max_size=40),
    n_rows=st.integers(1, 9),
    n_context=st.integers(1, 30),
    penalties=st.tuples(st.sampled_from((1.0, 0.5, 1.3)), *[st.sampled_from((0.0, 0.7, -0.4))] * 2),
    bias=st.dictionaries(st.integers(0, V - 1), st.floats(-5, 5, width=32), max_size=4),
)
def test_penalties_are_mlx_lms_at_every_position(
    seed: int,
    history: list[int],
    n_rows: int,
    n_context: int,
    penalties: tuple[float, float, float],
    bias: dict[int, float],
) -> None:
    """Each row of a block is penalised as mlx-lm penalises it behind the history and the draft up to that row."""
    n_rows = min(n_rows, len(history))
    logits = logits_of(seed, n_rows)
    repetition, presence, frequency = penalties
    processors = reference.make_logits_processors(
        bias,
        repetition_penalty=repetition,
        repetition_context_size=n_context,
        presence_penalty=presence,
        presence_context_size=n_context,
        frequency_penalty=frequency,
        frequency_context_size=n_context,
    )
    expected = []
    for row in range(n_rows):
        one = mx.array(logits[:, row])
        for process in processors:
            one = process(mx.array(history[: len(history) - n_rows + 1 + row]), one)
        expected.append(one[0])
    actual = Penalties(
        Sampling(
            repetition_penalty=repetition,
            presence_penalty=presence,
            frequency_penalty=frequency,
            penalty_context=n_context,
            logit_bias=tuple(bias.items()),
        )
    ).apply(logits, mx.array(history))
    np.testing.assert_allclose(mx.stack(expected), actual[0], rtol=1e-5, atol=1e-5)


def test_each_row_counts_its_own_past() -> None:
    """A row of a block counts the tokens before it, as many as the context has, and no places before the first."""
    expected = [[1, 0, 1, 0], [0, 0, 2, 0], [0, 1, 1, 0]]
    assert expected == count_past(mx.array([0, 2, 2, 1]), 3, 2, 4).tolist()
    assert [[1, 0, 0, 0], [1, 0, 1, 0]] == count_past(mx.array([0, 2]), 2, 9, 4).tolist()


def test_only_penalties_need_the_past() -> None:
    """A sampler without penalties asks for no past."""
    assert 0 == make_sampler(Sampling(temperature=1.0, logit_bias=((3, 1.0),))).n_past
    assert 7 == make_sampler(Sampling(presence_penalty=1.0, penalty_context=7)).n_past


def test_a_bias_for_a_token_that_is_none_is_refused() -> None:
    """A bias for a token outside the vocabulary is an error that says what the vocabulary is."""
    with pytest.raises(InvalidParams, match="names token 97; the model's tokens are numbered 0 to 96"):
        Penalties(Sampling(logit_bias=((V, 1.0),))).apply(logits_of(1), NONE)


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(top_p=0.5, top_k=3, min_p=0.1, seed=3)])
def test_nothing_to_sample_is_greedy(sampling: Sampling) -> None:
    """At temperature 0 and without penalties the logits are taken as they are, whatever filters and seed say."""
    assert isinstance(make_sampler(sampling), Greedy)


@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1), position=st.integers(0, 2**20), n_rows=st.integers(1, 8))
def test_noise_belongs_to_the_position(seed: int, position: int, n_rows: int) -> None:
    """A position's noise is the same in a block of any width, and another at another position or seed."""
    block = gumbel_noise(seed, position, n_rows, V)
    for row in range(n_rows):
        assert block[row].tolist() == gumbel_noise(seed, position + row, 1, V)[0].tolist()
    assert block[0].tolist() != gumbel_noise(seed, position + n_rows, 1, V)[0].tolist()
    assert block[0].tolist() != gumbel_noise(seed ^ 1, position, 1, V)[0].tolist()


def test_noise_lets_no_filtered_token_win(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the only token left in draws the lowest noise there is, it is still the one that is taken."""
    monkeypatch.setattr(mx.random, "gumbel", lambda shape, key: mx.full(shape, -mx.inf) + 0 * key[0])
    sampler = Sampled(Sampling(temperature=1.0, top_k=1))
    logits = logits_of(3, 4)
    assert mx.argmax(logits, axis=-1).tolist() == mx.argmax(sampler.score(logits, 5, NONE), axis=-1).tolist()


def draws(
    sampling: Callable[[int], Sampling], logits: mx.array, n_draws: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Draw from the same logits [V] at many positions and count the tokens."""
    scores = Sampled(sampling(11)).score(mx.broadcast_to(logits, (1, n_draws, logits.size)), 1000, NONE)
    return np.bincount(np.array(mx.argmax(scores, axis=-1)[0]), minlength=logits.size)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.7])
def test_draws_follow_the_distribution(temperature: float) -> None:
    """Draws at many positions follow softmax(logits / temperature): chi-square below its 99.99 % quantile."""
    logits = mx.array([1.0, 0.0, -1.0, 0.5, 2.0, -0.5])
    n_draws = 60_000
    expected = n_draws * np.array(mx.softmax(logits / temperature))
    observed = draws(lambda seed: Sampling(temperature=temperature, seed=seed), logits, n_draws)
    assert ((observed - expected) ** 2 / expected).sum() < 25.75  # 5 degrees of freedom


def test_filtered_tokens_are_never_drawn() -> None:
    """With top-k 2 the two likeliest tokens share all draws, in proportion."""
    logits = mx.array([1.0, 0.0, -1.0, 0.5, 2.0, -0.5])
    observed = draws(lambda seed: Sampling(temperature=1.0, top_k=2, seed=seed), logits, 20_000)
    assert {0, 4} == set(np.flatnonzero(observed))
    assert 1 / (1 + math.e) == pytest.approx(observed[0] / 20_000, abs=0.015)


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_near_ties_are_marked(dtype: mx.Dtype) -> None:
    """A choice is marked when its runner-up is within the margin, equal ones first of all."""
    scores = mx.array([[[20.0, 18.0, 3.0], [20.0, 19.5, 3.0], [20.0, 20.0, 3.0]]], dtype)
    tokens, near_ties = choose(scores, 0.5).read()
    assert ([0, 0, 0], [False, True, True]) == (tokens, near_ties)
    assert [False, False, True] == choose(scores, 0.001).read()[1]
    assert MARGINS[dtype] == default_margin(scores)


def test_without_a_margin_nothing_is_marked() -> None:
    """One-token passes ask for no marks."""
    assert ([1], [False]) == choose(mx.array([[[2.0, 2.0 + 1e-6]]])).read()


PENALISED = Sampling(repetition_penalty=1.2, presence_penalty=0.5, frequency_penalty=0.5)
FILTERED = Sampling(temperature=0.7, top_p=0.9, min_p=0.1, top_k=5)


@pytest.mark.parametrize(
    ("sampling", "broken"),
    [
        (GREEDY, math.nan),
        (PENALISED, math.nan),
        (FILTERED, math.nan),
        (FILTERED, math.inf),
        (Sampling(temperature=1.0), math.nan),
        (Sampling(temperature=1.0), math.inf),
    ],
)
def test_logits_that_are_no_numbers_are_noticed(sampling: Sampling, broken: float) -> None:
    """One row without numbers among good ones is an error under every setting, and infinity where it leads to one."""
    logits = mx.concatenate([logits_of(1, 2), mx.full((1, 1, V), broken)], axis=1)
    scores = make_sampler(sampling).score(logits, 5, mx.array([1, 2, 3]))
    with pytest.raises(EngineError, match="not numbers"):
        choose(scores, 0.1).read()
