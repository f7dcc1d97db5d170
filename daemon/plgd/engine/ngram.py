"""The n-gram proposer: classical prompt lookup over prompt and reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from plgd.engine.proposer import NO_DRAFT, Draft

__all__ = ("MAX_NGRAM", "NgramProposer")

# Each length adds a table with one key per token of context, so a mistyped bound must not eat the memory.
MAX_NGRAM: Final = 16

# Longer agreement than this says nothing more about a proposal, and measuring it would cost O(n).
MATCH_LIMIT: Final = 32


class NgramProposer:
    """Proposes what followed the latest earlier occurrence of the last n tokens, longest n first.

    The index is incremental: when a token arrives, each n-gram that ends just before it has gained a follower and is
    entered; an n-gram that ends the history has none and is not, so a look-up never finds itself. A token costs one
    entry per length and a proposal one probe per length, however long the history is.

    The rules are those of mlxcel's prompt lookup (lengths 2 to 3) and, with lengths 4 to 4, of ds4's.

    Args:
        ngram_min: shortest n-gram that is looked up.
        ngram_max: longest n-gram that is looked up.

    Raises:
        ValueError: not 1 <= ngram_min <= ngram_max <= 16.
    """

    def __init__(self, ngram_min: int = 2, ngram_max: int = 3) -> None:
        if not 1 <= ngram_min <= ngram_max <= MAX_NGRAM:
            raise ValueError(
                f"n-gram lengths {ngram_min} to {ngram_max} are refused: 1 <= ngram_min <= ngram_max <= {MAX_NGRAM}"
            )
        self._ngram_max = ngram_max
        self._history: list[int] = []
        self._tail: tuple[int, ...] = ()
        # Per length n, the n-gram -> position of the token after its latest occurrence.
        self._followers: dict[int, dict[tuple[int, ...], int]] = {n: {} for n in range(ngram_min, ngram_max + 1)}

    def extend(self, tokens: Sequence[int]) -> None:
        """Take in tokens that were appended to the history."""
        start, end = len(self._history), len(self._history) + len(tokens)
        self._history.extend(tokens)
        # Each length in one pass in C: a long prompt is taken in before the first token of every reply.
        for n, followers in self._followers.items():
            first = max(start, n)
            recent = self._history[first - n : end - 1]
            grams = zip(*(recent[place:] for place in range(n)), strict=False)
            followers.update(zip(grams, range(first, end), strict=False))
        self._tail = tuple(self._history[-self._ngram_max :])

    def propose(self, max_tokens: int) -> Draft:
        """Guess up to `max_tokens` tokens that follow the history; `NO_DRAFT` when nothing is known."""
        if max_tokens < 1:
            return NO_DRAFT
        history = self._history
        for n in reversed(self._followers):
            if n > len(history):
                continue
            start = self._followers[n].get(self._tail[-n:])
            if start is not None:
                tokens = tuple(history[start : start + max_tokens])
                return Draft(tokens, "ngram", self._match_length(start, n))
        return NO_DRAFT

    def _match_length(self, start: int, n: int) -> int:
        history = self._history
        distance = len(history) - start
        longest = min(MATCH_LIMIT, start)
        while n < longest and history[start - n - 1] == history[start - n - 1 + distance]:
            n += 1
        return n
