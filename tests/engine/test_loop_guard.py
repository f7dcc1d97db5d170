"""The loop guard ends replies that only repeat themselves, and no others."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from doubles import ScriptedTarget
from plgd.engine.loop_guard import MIN_LOOP_REPEATS, MIN_LOOP_TOKENS, LoopGuard
from plgd.engine.stops import Stops
from plgd.engine.types import StopReason
from session_replies import NEVER, decode_reply, session_of


def fires_at(guard: LoopGuard, tokens: list[int]) -> int | None:
    """Return after how many tokens the guard fires."""
    return next((n for n, token in enumerate(tokens, start=1) if guard.push(token)), None)


@settings(max_examples=40)
@given(
    block=st.lists(st.integers(0, 5), min_size=1, max_size=24),
    before=st.lists(st.integers(0, 5), max_size=40),
    n_prompt=st.integers(0, 600),
)
def test_every_loop_is_found(block: list[int], before: list[int], n_prompt: int) -> None:
    """A block repeated for ever ends the reply once it is long enough, at most three blocks later (reference A11)."""
    enough = max(MIN_LOOP_TOKENS, MIN_LOOP_REPEATS * len(block), n_prompt)
    n = fires_at(LoopGuard(n_prompt), before + block * (2 * enough // len(block) + 4))
    assert n is not None
    assert max(MIN_LOOP_TOKENS, n_prompt) <= n <= len(before) + enough + 3 * len(block) + 4


def test_text_that_varies_is_left_alone() -> None:
    """Rows that differ in one cell are no loop, however many there are."""
    rows = [token for row in range(3000) for token in (1, 2, 3, 4, 1000 + row, 5, 6)]
    assert fires_at(LoopGuard(10), rows) is None
    noise = random.Random(7)  # noqa: S311 - no secret
    assert fires_at(LoopGuard(10), [noise.randrange(3) for _ in range(20_000)]) is None


def test_a_table_of_equal_rows_as_long_as_its_source_is_left_alone() -> None:
    """A rewrite that makes all rows of its source equal is finished: a repetition may be as long as the prompt."""
    n_prompt = 2000
    rows = [1, 2, 3, 4, 5, 6, 7, 8] * 245
    assert len(rows) < n_prompt
    assert fires_at(LoopGuard(n_prompt), rows) is None


def test_a_loop_ends_inside_an_accepted_block() -> None:
    """The guard sees each token of an accepted draft: where it fires, drafting or not, is the same (reference A11)."""
    reply = [7, 8, 9] * 400
    n_tokens = []
    for drafts, plan in (([], [(0, False)]), ([(60, None)], [(60, False)])):
        session = session_of(ScriptedTarget(reply), [1, 2, *reply], drafts, plan)
        rounds = decode_reply(session, [1, 2], Stops(NEVER, 2000))
        assert rounds[-1].stopped is StopReason.LOOP
        n_tokens.append(len(session.tokens))
    assert n_tokens[0] == n_tokens[1] < 300


def test_the_guard_can_be_left_out() -> None:
    """Without the guard a loop runs to the reply's limit, as a benchmark against plain decoding needs."""
    reply = [7, 8, 9] * 400
    session = session_of(ScriptedTarget(reply))
    rounds = decode_reply(session, [1, 2], Stops(NEVER, 900, loop_guard=False))
    assert rounds[-1].stopped is StopReason.MAX_TOKENS
