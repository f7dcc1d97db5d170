"""A target that costs nothing, so that what remains of a round's time is plgd's own."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ("FreeTarget",)


class FreeTarget:
    """Implements `plgd.engine.target.Target`: says a known reply, whatever it is fed.

    The choices behind a drafted token that is wrong are never used, so it need not find them out: each verify is one
    slice of the reply.

    Args:
        reply: what it says; it must be long enough for the test.
    """

    in_flight = False
    n_near_ties = 0
    context_limit = max_draft = 1 << 40

    def __init__(self, reply: Sequence[int]) -> None:
        self._reply = list(reply)
        self._n_prompt = 0
        self._place = 0

    @property
    def offset(self) -> int:
        """Tokens fed: the history without its head."""
        return self._n_prompt + self._place - 1

    def prefill(self, tokens: Sequence[int]) -> None:
        """Count the tokens."""
        self._n_prompt += len(tokens)

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        """Return the next k + 1 tokens of the reply."""
        choices = self._reply[self._place : self._place + len(draft) + 1]
        self._place += len(choices)
        return choices

    def advance(self) -> int:
        """Return the next token of the reply."""
        self._place += 1
        return self._reply[self._place - 1]

    def rollback(self, n: int) -> None:
        """Go back in the reply."""
        self._place -= n
