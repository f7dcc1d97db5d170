"""Texts to draft from that are of no use, on a real model: the reply is plain decoding's, greedy or sampled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx_lm.models.cache import make_prompt_cache

from plgd.engine.drafting import make_file_proposer
from plgd.engine.governor import make_governor, make_proposer
from plgd.engine.mlx.sampling import make_sampler
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.proposer import Proposer
from plgd.engine.sampling import GREEDY, Sampling
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from scripted_model import ByteTokenizer
from session_replies import NEVER, decode_reply
from tiny_models import LLAMA, make_network

PROMPT = ByteTokenizer().encode("total = 1\nprint(total)\n" * 2)
N_REPLY = 48

# From the plain reply, the texts that a request offers: to rewrite first, then a hint.
SOURCES: dict[str, Callable[[list[int]], list[list[int]]]] = {
    "an empty text": lambda _: [[]],
    "no text at all": lambda _: [],
    "one token repeated": lambda reply: [reply[:1] * 5000],
    "a line of a megabyte": lambda _: [ByteTokenizer().encode("x = 1; " * 143_000)],
    "a wrong hint": lambda reply: [reply[::2], list(range(200, 256)) * 20],
    "the reply in another order": lambda reply: [[*reply[24:], *reply[:24]]],
    "the reply with every fifth token wrong": lambda reply: [
        [token if place % 5 else (token + 1) % 256 for place, token in enumerate(reply)]
    ],
    "the reply itself, twice": lambda reply: [reply, reply],
}


@pytest.fixture(scope="module")
def network() -> nn.Module:
    """A small model of bytes; where its words are not its own doing, they repeat nothing."""
    return make_network({**LLAMA, "vocab_size": 256})


def reply_of(network: nn.Module, sampling: Sampling, policy: str, proposer: Proposer) -> tuple[list[int], Session]:
    """Decode a reply."""

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        logits: mx.array = network(tokens, cache=caches)
        return logits

    target = MlxTarget(forward, make_prompt_cache(network), context_limit=512, sampler=make_sampler(sampling))
    session = Session(target, proposer, make_governor(policy))
    decode_reply(session, PROMPT, Stops(NEVER, N_REPLY, loop_guard=False))
    return session.tokens[len(PROMPT) :], session


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(temperature=1.0, top_p=0.9, seed=5)], ids=["greedy", "sampled"])
@pytest.mark.parametrize("sources", SOURCES.values(), ids=SOURCES)
def test_texts_of_no_use_change_nothing(
    network: nn.Module, sampling: Sampling, sources: Callable[[list[int]], list[list[int]]]
) -> None:
    """Whatever the reply is drafted from, it is the one of plain decoding, in no more passes."""
    plain, _ = reply_of(network, sampling, "off", make_proposer("off"))
    proposer = make_file_proposer(sources(plain), n_prompt=len(PROMPT), codec=ByteTokenizer())
    drafted, session = reply_of(network, sampling, "cost", proposer)
    assert plain == drafted
    assert session.stats.n_rounds <= N_REPLY


def test_a_text_that_the_reply_copies_is_of_use(network: nn.Module) -> None:
    """The tests above draft: behind the reply itself there are few passes."""
    plain, _ = reply_of(network, GREEDY, "off", make_proposer("off"))
    proposer = make_file_proposer([plain], n_prompt=len(PROMPT), codec=ByteTokenizer())
    _, session = reply_of(network, GREEDY, "cost", proposer)
    assert session.stats.n_rounds < N_REPLY / 4
