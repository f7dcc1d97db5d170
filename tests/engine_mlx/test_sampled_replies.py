"""Sampled replies: the target's own distribution, and with a seed the same tokens however they were drafted."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.generate import generate_step
from mlx_lm.models.cache import KVCache, make_prompt_cache
from mlx_lm.sample_utils import make_logits_processors

from plgd.engine.governor import POLICIES
from plgd.engine.mlx.sampling import make_sampler
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.sampling import Sampling
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.errors import EngineError, InvalidParams
from replies import drafted_reply, plain_reply
from session_replies import NEVER, decode_reply, policy_session
from tiny_configs import make_config
from tiny_models import LLAMA, make_network

# So few tokens that look-ups draft often, and are right often, by chance.
FEW = 6
PROMPT = [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]
N_REPLY = 30

samplings = st.builds(
    Sampling,
    temperature=st.sampled_from((0.0, 0.3, 0.8, 1.5)),
    top_p=st.sampled_from((1.0, 0.9, 0.5)),
    top_k=st.sampled_from((0, 2, 5)),
    min_p=st.sampled_from((0.0, 0.05, 0.3)),
    repetition_penalty=st.sampled_from((1.0, 1.3)),
    presence_penalty=st.sampled_from((0.0, 0.6)),
    frequency_penalty=st.sampled_from((0.0, 0.4, -0.2)),
    penalty_context=st.sampled_from((1, 6, 20, 1000)),
    logit_bias=st.sampled_from(((), ((1, 2.0), (3, -1.5)))),
    seed=st.integers(0, 2**32 - 1),
)


@pytest.fixture(autouse=True, scope="module")
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


@pytest.fixture(scope="module")
def networks() -> list[nn.Module]:
    """Small models of few tokens: rows only; windows that fill up and rows; states and rows."""
    few = {"vocab_size": FEW}
    sizes = {"hidden_size": 32, "num_hidden_layers": 1, "intermediate_size": 32}
    return [
        make_network({**LLAMA, **sizes, **few}),
        make_network({**LLAMA, **sizes, **few}, seed=1),
        make_network({**make_config("gemma3_text"), **few}),
        make_network({**make_config("lfm2"), **few}),
    ]


def start(network: nn.Module, sampling: Sampling) -> MlxTarget:
    """Start an empty sequence."""

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        logits: mx.array = network(tokens, cache=caches)
        return logits

    return MlxTarget(forward, make_prompt_cache(network), context_limit=512, sampler=make_sampler(sampling))


@settings(deadline=None, derandomize=True, max_examples=12)
@given(place=st.integers(0, 3), sampling=samplings)
def test_a_seed_gives_one_reply(networks: list[nn.Module], place: int, sampling: Sampling) -> None:
    """With a seed the reply is the same under every policy and in every run, with any settings (references A10, B5)."""

    def reply(policy: str) -> list[int]:
        session = policy_session(start(networks[place], sampling), policy)
        decode_reply(session, PROMPT, Stops(NEVER, N_REPLY, loop_guard=False))
        return session.tokens

    expected = reply("off")
    assert [expected] * (len(POLICIES) + 1) == [reply(policy) for policy in (*POLICIES, "off")]


@settings(deadline=None, derandomize=True, max_examples=20)
@given(place=st.integers(0, 3), sampling=samplings, data=st.data())
def test_drafts_change_no_sampled_token(
    networks: list[nn.Module], place: int, sampling: Sampling, data: st.DataObject
) -> None:
    """Right, wrong and half-right drafts behind steps in flight leave a sampled reply as it is (references A2, A10)."""
    target = start(networks[place], sampling)
    target.prefill(PROMPT)
    reply = plain_reply(target, N_REPLY)

    def draft(done: list[int]) -> list[int] | None:
        if data.draw(st.booleans()):
            return None
        right = reply[len(done) : len(done) + data.draw(st.integers(0, 7))]
        n_right = data.draw(st.integers(0, len(right)))
        return [*right[:n_right], *((token + 1) % FEW for token in right[n_right:])]

    drafted = start(networks[place], sampling)
    drafted.prefill(PROMPT)
    assert reply == drafted_reply(drafted, N_REPLY, draft)


def test_another_seed_is_another_reply(networks: list[nn.Module]) -> None:
    """Seeds matter: ten of them give ten replies."""
    replies = set()
    for seed in range(10):
        target = start(networks[0], Sampling(temperature=1.0, seed=seed))
        target.prefill(PROMPT)
        replies.add(tuple(plain_reply(target, N_REPLY)))
    assert 10 == len(replies)


@pytest.mark.parametrize("n_slices", [1, 3])
def test_penalised_replies_equal_mlx_lm(networks: list[nn.Module], n_slices: int) -> None:
    """A penalised reply is mlx-lm's own: the prompt counts as history, in however many slices (reference A10)."""
    processors = make_logits_processors(
        {2: 0.5}, repetition_penalty=1.4, presence_penalty=0.5, frequency_penalty=0.3, repetition_context_size=20
    )
    steps = generate_step(mx.array(PROMPT), networks[0], max_tokens=N_REPLY, logits_processors=processors)
    expected = [token for token, _ in steps]
    sampling = Sampling(
        repetition_penalty=1.4, presence_penalty=0.5, frequency_penalty=0.3, logit_bias=((2, 0.5),), penalty_context=20
    )
    target = start(networks[0], sampling)
    for i in range(n_slices):
        target.prefill(PROMPT[i * len(PROMPT) // n_slices : (i + 1) * len(PROMPT) // n_slices])
    assert expected == [target.advance() for _ in range(N_REPLY)]


@pytest.mark.parametrize("n_drafted", [0, 1, 2, 5])
@pytest.mark.parametrize("in_flight", [False, True])
def test_penalties_see_the_token_just_before(n_drafted: int, in_flight: bool) -> None:
    """A token is penalised in the very next place, in a draft and behind a step in flight too (reference A10).

    With logits that never change and a penalty on the last token alone, the two likeliest take turns. One token too
    late, each would be said twice.
    """
    logits = mx.array([1.0, 0.9, 0.0])
    sampler = make_sampler(Sampling(presence_penalty=0.5, penalty_context=1))
    target = MlxTarget(
        lambda tokens, _caches: mx.broadcast_to(logits, (*tokens.shape, 3)),
        [KVCache()],
        context_limit=99,
        sampler=sampler,
    )
    target.prefill([2, 0])
    reply = [1, 0] * 8

    def draft(done: list[int]) -> list[int] | None:
        if in_flight and len(done) % 3 == 0:
            return None
        return reply[len(done) : len(done) + n_drafted]

    assert reply == drafted_reply(target, len(reply), draft)


# A chain: what comes next depends on the last token alone, so that probabilities can be multiplied by hand.
CHAIN = mx.array([[0.4, 0.1, -0.3], [0.3, 0.1, 0.5], [-0.3, 0.5, 0.0]])
N_SEEDS = 1500


def chain(seed: int) -> MlxTarget:
    """Start a reply of the chain behind token 0."""
    sampler = make_sampler(Sampling(temperature=0.8, seed=seed))
    target = MlxTarget(lambda tokens, _caches: CHAIN[tokens], [KVCache()], context_limit=99, sampler=sampler)
    target.prefill([0])
    return target


def good(seed: int) -> list[int]:
    """Draft what will be said."""
    return plain_reply(chain(seed), 1 + seed % 2)


def bad(seed: int) -> list[int]:
    """Draft what will not be said."""
    return [(token + 1) % 3 for token in good(seed)]


def blind(seed: int) -> list[int]:
    """Draft the likeliest tokens, without knowing what will be said."""
    return [0, 0] if seed % 2 else [0]


def three_tokens(seed: int, draft: list[int], *, in_flight: bool) -> tuple[int, ...]:
    """Decode three tokens, beginning with a draft or with a step that the draft then meets in flight."""

    def drafter(done: list[int]) -> list[int] | None:
        return None if in_flight and not done else draft[len(done) :]

    return tuple(drafted_reply(chain(seed), 3, drafter))


@pytest.mark.parametrize("in_flight", [False, True])
@pytest.mark.parametrize("drafts", [good, bad, blind])
def test_drafted_replies_follow_the_targets_distribution(drafts: Callable[[int], list[int]], in_flight: bool) -> None:
    """Good, bad and blind drafts leave replies as frequent as the target's probabilities say (reference A2).

    Chi-square of the replies of three tokens stays below its 99.99 % quantile.
    """
    counts = Counter(three_tokens(seed, drafts(seed), in_flight=in_flight) for seed in range(N_SEEDS))
    steps = np.array(mx.softmax(CHAIN / 0.8, axis=-1))
    expected = {
        (a, b, c): N_SEEDS * steps[0, a] * steps[a, b] * steps[b, c]
        for a, b, c in itertools.product(range(3), repeat=3)
    }
    assert min(expected.values()) > 5
    assert sum((counts[reply] - n) ** 2 / n for reply, n in expected.items()) < 62.0  # 26 degrees of freedom


@pytest.mark.parametrize("broken_pass", range(1, 6))
@pytest.mark.parametrize("policy", ["off", "graded"])
def test_a_nan_closes_the_session(networks: list[nn.Module], policy: str, broken_pass: int) -> None:
    """Logits that are no numbers, in whichever pass, are an error; what was committed is right and no more is said."""
    sampling = Sampling(temperature=0.7, top_p=0.9, presence_penalty=0.3, seed=4)
    expected = policy_session(start(networks[0], sampling), policy)
    decode_reply(expected, PROMPT, Stops(NEVER, N_REPLY))
    n_passes = 0

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        nonlocal n_passes
        n_passes += 1
        logits: mx.array = networks[0](tokens, cache=caches)
        return logits * math.nan if n_passes == 1 + broken_pass else logits

    caches = make_prompt_cache(networks[0])
    target = MlxTarget(forward, caches, context_limit=512, sampler=make_sampler(sampling))
    session: Session = policy_session(target, policy)
    with pytest.raises(EngineError, match="not numbers"):
        decode_reply(session, PROMPT, Stops(NEVER, N_REPLY))
    assert expected.tokens[: len(session.tokens)] == session.tokens
    with pytest.raises(EngineError, match="an earlier round failed"):
        session.decode(Stops(NEVER, 1))


def test_a_bias_beyond_the_vocabulary_ends_the_reply(networks: list[nn.Module]) -> None:
    """A bias for a token that the model lacks is told as the caller's mistake, not as the model's."""
    session = policy_session(start(networks[0], Sampling(logit_bias=((FEW, 1.0),))), "off")
    with pytest.raises(InvalidParams, match=f"names token {FEW}"):
        decode_reply(session, PROMPT, Stops(NEVER, 3))
