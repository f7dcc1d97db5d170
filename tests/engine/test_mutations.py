"""Deliberate defects in trimming, acceptance and in-flight logic: each must be noticed (reference A16).

A mutation rewrites one expression of a method and runs the same checks that the intact engine passes. A mutation that
went unnoticed would mean that the checks look at nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

import doubles
from doubles import HistoryTarget
from mutations import Mutation, Noticed
from plgd.engine import decode
from plgd.engine.acceptance import count_accepted
from plgd.engine.decode import Decoder
from plgd.engine.session import Session
from plgd.engine.stops import Ending, Stops
from plgd.errors import EngineError
from session_replies import NEVER, PatternWatcher, decode_reply, reference_reply, session_of

PROMPT = [0, 1, 2, 0, 1]
REPLY = reference_reply(PROMPT, 30, vocabulary=16)
EOS = REPLY.index(next(token for token in REPLY[8:] if token not in REPLY[:8]))

DRAFTS: tuple[list[tuple[int, int | None]], ...] = ([(5, None)], [(5, 2)], [(4, 0)], [(3, 2), (0, None), (6, None)])
PLANS = ([(9, False)], [(9, False), (0, True)], [(0, True), (0, True), (9, False), (0, False), (9, False)])
STOPS: tuple[Callable[[], Stops], ...] = (
    lambda: Stops(NEVER, 21),
    lambda: Stops(frozenset({REPLY[EOS]}), 99),
    lambda: Stops(NEVER, 99, PatternWatcher(REPLY[11:14])),
)


def check_engine() -> None:
    """Run replies in every combination of drafts, pipelining and stops, two turns each, against a slow reckoning."""
    for drafts, plan, stops in product(DRAFTS, PLANS, STOPS):
        target = HistoryTarget(vocabulary=16, context_limit=len(PROMPT) + 27)
        session = session_of(target, PROMPT + REPLY, drafts, plan)
        rounds = decode_reply(session, PROMPT, stops())
        if not all(each.tokens for each in rounds):
            raise Noticed(rounds)
        if drafts is DRAFTS[0] and stops is STOPS[0] and session.stats.n_accepted != session.stats.n_drafted:
            raise Noticed(session.stats)
        expected = {(True, False): 21, (False, True): EOS + 1, (False, False): 14}
        n_tokens = expected[stops().max_tokens == 21, bool(stops().eos - NEVER)]
        if session.tokens != PROMPT + REPLY[:n_tokens]:
            raise Noticed(session.tokens)
        if target.offset != len(session.tokens) - 1:
            raise Noticed(target.offset)
        list(session.prefill([3, 1], 1))
        history = list(session.tokens)
        rounds = list(session.decode(Stops(NEVER, 99)))
        if not all(each.tokens for each in rounds):
            raise Noticed(rounds)
        n_left = target.context_limit - len(history)
        if session.tokens != history + reference_reply(history, n_left, vocabulary=16):
            raise Noticed(session.tokens)


MUTATIONS = {
    "acceptance takes one token too many": Mutation(
        decode, count_accepted, "return n_accepted", "return n_accepted + 1"
    ),
    "acceptance takes one token too few": Mutation(
        decode, count_accepted, "return len(draft)", "return max(len(draft) - 1, 0)"
    ),
    "the correction is left out": Mutation(
        Decoder,
        Decoder._accept,
        "return tuple(choices[: n_accepted + 1]), n_accepted, None",
        "return tuple(choices[: max(n_accepted, 1)]), n_accepted, None",
    ),
    "nothing is rolled back": Mutation(
        Decoder,
        Decoder.run_round,
        "self._target.rollback(n_drafted - (len(committed) - 1))",
        "pass",
    ),
    "one token too few is rolled back": Mutation(
        Decoder,
        Decoder.run_round,
        "self._target.rollback(n_drafted - (len(committed) - 1))",
        "self._target.rollback(n_drafted - len(committed))",
    ),
    "one token too many is rolled back": Mutation(
        Decoder,
        Decoder.run_round,
        "self._target.rollback(n_drafted - (len(committed) - 1))",
        "self._target.rollback(min(n_drafted, n_drafted - len(committed) + 2))",
    ),
    "a rollback follows pipelined rounds only": Mutation(
        Decoder, Decoder.run_round, "if not pipelined and len", "if pipelined and len"
    ),
    "a stop inside a block is noticed at its end": Mutation(
        Decoder, Decoder._accept, "tuple(choices[:n_committed])", "tuple(choices[: n_accepted + 1])"
    ),
    "a draft runs past the room": Mutation(Decoder, Decoder._propose, "self._ending.room - 1", "self._ending.room"),
    "the context wall is one token late": Mutation(
        Ending, Ending.push, "self._n_tokens >= self._context_room", "self._n_tokens > self._context_room"
    ),
    "a reply after a stop keeps a token of the last": Mutation(
        Session, Session._take_in, "self.tokens.extend(prompt)", "self.tokens[-1:] = prompt"
    ),
    "a cache trims one token too few": Mutation(
        HistoryTarget, HistoryTarget._trim, "del self._states[-n:]", "del self._states[-n:-1]"
    ),
    "a cache trims nothing": Mutation(HistoryTarget, HistoryTarget._trim, "if n:", "if not n:"),
    "the head after a rollback is the last choice": Mutation(
        HistoryTarget, HistoryTarget.rollback, "[len(self._last_choices) - 1 - n]", "[-1]"
    ),
    "a step in flight is fed again by a block": Mutation(
        HistoryTarget, HistoryTarget._choices, "if not self._head_is_fed:", "if True:"
    ),
    "a step in flight is forgotten": Mutation(
        HistoryTarget, HistoryTarget.advance, "self._head_is_fed = True", "self._head_is_fed = False"
    ),
    "a step in flight is believed in for ever": Mutation(
        HistoryTarget, HistoryTarget.verify, "self._head_is_fed = False", "pass"
    ),
    "a prompt is fed behind a head that was fed": Mutation(
        HistoryTarget, HistoryTarget.prefill, "if self._n_history and not self._head_is_fed:", "if self._n_history:"
    ),
}


def test_the_intact_engine_passes() -> None:
    """The checks find nothing in the engine as it is."""
    check_engine()


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_a_mutation_is_noticed(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each defect makes a check fail or breaks a contract that is watched (reference A16)."""
    mutation.apply(monkeypatch)
    with pytest.raises((Noticed, EngineError, ValueError)):
        check_engine()


def test_the_doubles_are_those_that_were_mutated() -> None:
    """The checks run on the very classes that the mutations change."""
    assert doubles.HistoryTarget is HistoryTarget
