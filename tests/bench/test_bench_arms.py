"""The arms: the same reply, by other ways."""

from __future__ import annotations

import itertools
from functools import partial

import pytest

from plgd.bench.compare.arms import PolicyArm
from plgd.bench.compare.plain import PlainArm
from plgd.bench.options import ARMS, NGRAMS_ONLY, PLAIN
from plgd.engine.governor import POLICIES, make_governor, make_proposer
from plgd.engine.model import Model
from scripted_model import EOS, ByteTokenizer, ScriptedModel
from tiny_models import LLAMA, make_network

TEXT = "one two three, one two three, one two four.\n" * 3
PROMPT = ByteTokenizer().encode_chat("", TEXT, "")


def policy_arm(policy: str, model: Model) -> PolicyArm:
    """Make an arm whose clock ticks once a second each time it is read."""
    return PolicyArm(
        policy,
        model,
        partial(make_proposer, policy),
        partial(make_governor, policy),
        prefill_slice=16,
        clock=partial(next, itertools.count(1.0)),
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_gives_the_models_reply(policy: str) -> None:
    """An arm gives the whole reply and the token that ended it, whatever it drafted."""
    reply = policy_arm(policy, ScriptedModel(TEXT)).reply(PROMPT, 1000)
    assert (*TEXT.encode(), EOS) == reply.tokens


@pytest.mark.parametrize("policy", POLICIES)
def test_a_reply_ends_at_its_limit(policy: str) -> None:
    """No arm gives more tokens than it was asked for."""
    assert tuple(TEXT.encode()[:40]) == policy_arm(policy, ScriptedModel(TEXT)).reply(PROMPT, 40).tokens


def test_a_loop_is_not_cut_short() -> None:
    """An arm of plgd goes on where mlx-lm would, so that both are timed over the same tokens."""
    text = "x" * 2000
    assert (*text.encode(), EOS) == policy_arm("off", ScriptedModel(text)).reply(PROMPT[:8], 3000).tokens


def test_nothing_is_carried_over() -> None:
    """Each call prefills its whole prompt and drafts from it anew."""
    arm = policy_arm("graded", ScriptedModel(TEXT))
    first, second = arm.reply(PROMPT, 1000), arm.reply(PROMPT, 1000)
    assert first.stats == second.stats
    assert second.stats is not None
    assert len(PROMPT) == second.stats.n_prompt_tokens


def test_the_whole_call_is_timed() -> None:
    """The rate counts the time from the call to the last token; the first token comes between (reference A14)."""
    reply = policy_arm("off", ScriptedModel("abc")).reply(PROMPT, 1000)
    # Read at the call, twice a round, after the first round, at the end: ten seconds pass for four tokens.
    assert (3000.0, 10000.0, 7000.0) == (reply.ttft_ms, reply.total_ms, reply.decode_ms)
    assert pytest.approx(0.4) == reply.tokens_per_s


def test_plain_is_mlx_lms_own_loop() -> None:
    """The plain arm decodes greedily with mlx-lm, to an end token or the limit, and counts nothing of plgd's."""
    network = make_network(LLAMA)
    free = PlainArm(network, frozenset()).reply([5, 6, 7], 24)
    assert 24 == len(free.tokens)
    stopped = PlainArm(network, frozenset({free.tokens[10]})).reply([5, 6, 7], 24)
    assert free.tokens[: free.tokens.index(free.tokens[10]) + 1] == stopped.tokens
    assert None is free.stats
    assert 0 < free.ttft_ms < free.total_ms


def test_every_policy_has_its_arm() -> None:
    """What can be configured can be compared, and so can `cost` without the file draft."""
    assert {PLAIN, *POLICIES, NGRAMS_ONLY} == set(ARMS)
