"""A target that says what a trace says, at the prices of a table."""

from __future__ import annotations

from collections.abc import Sequence

from plgd.engine.cost import StepCosts
from plgd.errors import EngineError, RollbackFailed

__all__ = ("TraceTarget",)


class TraceTarget:
    """Implements `plgd.engine.target.Target` on a trace. Time is the sum of its rounds' table costs.

    The choices behind a drafted token that is wrong are never used; they are given as -1. It never pipelines: in the
    tables a plain round costs the same either way.

    Args:
        reply: what it says.
        costs: the device's table.

    Attributes:
        elapsed_ms: simulated time so far.
    """

    in_flight = False
    n_near_ties = 0
    context_limit = max_draft = 1 << 40

    def __init__(self, reply: Sequence[int], costs: StepCosts) -> None:
        self.elapsed_ms = 0.0
        self._reply = reply
        self._costs = costs
        self._n_prompt = 0
        self._place = 0
        self._n_last = 0

    def clock(self) -> float:
        """Return the simulated time in seconds."""
        return self.elapsed_ms / 1000.0

    @property
    def offset(self) -> int:
        """Tokens fed: the history without its head."""
        return self._n_prompt + self._place - 1

    def prefill(self, tokens: Sequence[int]) -> None:
        """Count the tokens."""
        self._n_prompt += len(tokens)

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        """Choose the trace's tokens as far as the draft is right."""
        width = len(draft) + 1
        price_ms = self._costs.round_ms(width, self._n_prompt) if draft else self._costs.plain_ms(self._n_prompt)
        self.elapsed_ms += price_ms
        choices = list(self._reply[self._place : self._place + width])
        if not choices:
            raise EngineError.during("a replay", "the trace has ended")
        for place, token in enumerate(draft):
            if place >= len(choices) or token != choices[place]:
                choices[place + 1 :] = []
                break
        choices += [-1] * (width - len(choices))
        self._place += width
        self._n_last = len(draft)
        return choices

    def advance(self) -> int:
        """Choose the trace's next token."""
        return self.verify(())[0]

    def rollback(self, n: int) -> None:
        """Go back in the trace."""
        if not 0 <= n <= self._n_last:
            raise RollbackFailed.of(n, self._n_last, "the trace")
        self._place -= n
        self._n_last = 0
