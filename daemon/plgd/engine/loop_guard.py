"""The loop guard: ends a reply that does nothing but repeat itself."""

from __future__ import annotations

from typing import Final

__all__ = ("MIN_LOOP_REPEATS", "MIN_LOOP_TOKENS", "LoopGuard")

# A degenerate reply repeats one block for ever; tables and data files repeat too, but not for longer than this.
MIN_LOOP_TOKENS: Final = 256
MIN_LOOP_REPEATS: Final = 8

# Four tokens seen before suggest a period; fewer change it too often, more find it later.
ANCHOR: Final = 4


class LoopGuard:
    """Tells when a reply has been repeating one block for longer than any rewrite of its prompt would.

    A rewrite may well repeat itself: a table of equal rows, a column set to zero. But a stretch that it repeats
    stands for a stretch of the source, so it is at most about as long as the prompt. The guard therefore waits until
    the repetition covers `MIN_LOOP_REPEATS` blocks, `MIN_LOOP_TOKENS` tokens **and** as many tokens as the prompt
    has. Firing late costs seconds, firing wrongly costs the edit.

    It is a function of the reply alone, so drafting cannot change where it fires. One token costs O(1): the distance
    to the latest earlier occurrence of the last four tokens suggests a period, and a period is kept while it holds.

    Args:
        n_prompt: tokens of the prompt.
    """

    def __init__(self, n_prompt: int) -> None:
        self._min_tokens = max(MIN_LOOP_TOKENS, n_prompt)
        self._reply: list[int] = []
        self._latest: dict[tuple[int, ...], int] = {}
        self._period = 0
        self._n_repeated = 0

    def push(self, token: int) -> bool:
        """Take the next token of the reply; True: the reply loops."""
        reply = self._reply
        reply.append(token)
        position = len(reply) - 1
        if position + 1 < ANCHOR:
            return False
        anchor = tuple(reply[-ANCHOR:])
        earlier = self._latest.get(anchor)
        self._latest[anchor] = position
        if self._period and token == reply[position - self._period]:
            self._n_repeated += 1
        elif earlier is None:
            self._period = self._n_repeated = 0
        else:
            self._period = position - earlier
            self._n_repeated = ANCHOR
        return self._n_repeated >= max(self._min_tokens, MIN_LOOP_REPEATS * self._period)
