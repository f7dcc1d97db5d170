"""Whatever fails in a pass of a real model, in any state, a session is closed or right, and the next one is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count, islice
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx_lm.models.cache import make_prompt_cache

from doubles import PlannedGovernor, PlannedProposer
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.errors import EngineError
from replies import plain_reply
from session_replies import NEVER
from tiny_configs import make_config
from tiny_models import make_network

PROMPT = [(7 * i * i + 3 * i + 1) % 256 for i in range(11)]
N_REPLY = 36
SLICE = 4
# Three slices feed all of the prompt but its last token.
N_PREFILL_PASSES = 3
# Half right, right and wrong drafts; plain rounds, synchronous and pipelined, and drafts that meet a step in flight.
DRAFTS: list[tuple[int, int | None]] = [(6, 2), (0, None), (6, None), (6, 0), (5, None), (3, 1)]
ROUNDS = [(6, False), (0, False), (0, True), (0, True), (6, False), (6, False), (0, True)]

Case = tuple[nn.Module, list[int]]
Fault = Callable[[mx.array], mx.array]


class Faulty:
    """A network that is struck in one of its passes.

    Attributes:
        n_passes: passes so far.
    """

    def __init__(self, network: nn.Module, struck_pass: int = 0, fault: Fault | None = None) -> None:
        self.n_passes = 0
        self._network = network
        self._struck_pass = struck_pass
        self._fault = fault

    def __call__(self, tokens: mx.array, caches: list[Any]) -> mx.array:
        self.n_passes += 1
        logits: mx.array = self._network(tokens, cache=caches)
        return self._fault(logits) if self._fault and self.n_passes == self._struck_pass else logits


def out_of_memory(logits: mx.array) -> mx.array:
    """Fail as mlx does when a buffer cannot be had."""
    raise RuntimeError(f"[metal::malloc] Attempting to allocate {logits.nbytes << 20} bytes")


def not_numbers(logits: mx.array) -> mx.array:
    """Compute nonsense."""
    return logits * math.nan


@pytest.fixture(scope="module", params=["qwen3", "gemma3_text", "lfm2"])
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    """A small model with its plain reply: rows only; windows that fill up, and rows; states, and rows."""
    mx.disable_compile()
    network = make_network(make_config(request.param))
    target = MlxTarget(Faulty(network), make_prompt_cache(network), context_limit=512)
    target.prefill(PROMPT)
    yield network, plain_reply(target, N_REPLY)
    mx.enable_compile()


def session_over(forward: Faulty, network: nn.Module, reply: list[int]) -> Session:
    """Make a session that goes through every state."""
    target = MlxTarget(forward, make_prompt_cache(network), context_limit=512)
    return Session(target, PlannedProposer([*PROMPT, *reply], DRAFTS), PlannedGovernor(ROUNDS))


def run(session: Session) -> None:
    """Prefill the prompt and decode the reply."""
    list(session.prefill(PROMPT, SLICE))
    list(session.decode(Stops(NEVER, N_REPLY)))


@pytest.mark.parametrize("fault", [out_of_memory, not_numbers])
def test_a_pass_that_fails_closes_the_session(case: Case, fault: Fault) -> None:
    """Whichever pass fails, what was committed is right, no more is said, and another session says it all.

    A pass of which nothing is read may hold nonsense: one of the prefill, or a step that the reply ended before.
    """
    network, reply = case
    whole = Faulty(network)
    run(session_over(whole, network, reply))
    unharmed = []
    for struck_pass in range(1, whole.n_passes + 1):
        session = session_over(Faulty(network, struck_pass, fault), network, reply)
        try:
            run(session)
        except EngineError:
            assert [*PROMPT, *reply][: len(session.tokens)] == session.tokens
            with pytest.raises(EngineError, match="an earlier round failed"):
                session.prefill([1], 1)
        else:
            assert [*PROMPT, *reply] == session.tokens
            unharmed.append(struck_pass)
    expected = [] if fault is out_of_memory else [*range(1, N_PREFILL_PASSES + 1)]
    assert expected == [struck_pass for struck_pass in unharmed if struck_pass < whole.n_passes]
    again = session_over(Faulty(network), network, reply)
    run(again)
    assert [*PROMPT, *reply] == again.tokens


def test_a_reply_can_be_cancelled_after_any_round(case: Case) -> None:
    """A reply that is closed in whatever state goes on from there as if nothing had been."""
    network, reply = case
    for n_rounds in count():
        session = session_over(Faulty(network), network, reply)
        list(session.prefill(PROMPT, SLICE))
        with closing(session.decode(Stops(NEVER, N_REPLY))) as rounds:
            n_run = len(list(islice(rounds, n_rounds)))
        n_left = N_REPLY - (len(session.tokens) - len(PROMPT))
        if not n_left:
            break
        list(session.decode(Stops(NEVER, n_left)))
        assert [*PROMPT, *reply] == session.tokens
    assert n_run > len(ROUNDS)


@pytest.mark.parametrize("n_slices", [1, 2])
def test_a_prefill_can_be_cancelled_after_any_slice(case: Case, n_slices: int) -> None:
    """A prefill that is closed between two slices may be continued with the rest of the prompt."""
    network, reply = case
    session = session_over(Faulty(network), network, reply)
    with closing(session.prefill(PROMPT, SLICE)) as slices:
        n_done = list(islice(slices, n_slices))[-1]
    list(session.prefill(PROMPT[n_done:], SLICE))
    list(session.decode(Stops(NEVER, N_REPLY)))
    assert [*PROMPT, *reply] == session.tokens
