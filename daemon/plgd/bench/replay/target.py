"""A target that says what a trace says, at the prices of a table."""

from __future__ import annotations

from collections.abc import Sequence

from plgd.bench.replay.price import Prices, price_round
from plgd.errors import EngineError, RollbackFailed

__all__ = ("TraceTarget",)


class TraceTarget:
    """Implements `plgd.engine.target.Target` on a trace. Time is the sum of its rounds' table costs.

    The choices behind a drafted token that is wrong are never used; they are given as -1.

    Args:
        reply: what it says.
        costs: the device's prices.
        pipelines: whether `advance` submits the next step ahead, as a model does. In a table whose plain round costs
            the same either way, it makes blocks wait for nothing.

    Attributes:
        elapsed_ms: simulated time so far.
        in_flight: whether a step was submitted that waits to be used.
    """

    n_near_ties = 0
    context_limit = max_draft = 1 << 40

    def __init__(self, reply: Sequence[int], costs: Prices, *, pipelines: bool = False) -> None:
        self.elapsed_ms = 0.0
        self.in_flight = False
        self._reply = reply
        self._costs = costs
        self._pipelines = pipelines
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
        choices = self._choose(draft)
        self.in_flight = False
        return choices

    def advance(self) -> int:
        """Choose the trace's next token."""
        (token,) = self._choose(())
        self.in_flight = self._pipelines
        return token

    def rollback(self, n: int) -> None:
        """Go back in the trace."""
        if not 0 <= n <= self._n_last:
            raise RollbackFailed.of(n, self._n_last, "the trace")
        self._place -= n
        self._n_last = 0

    def _choose(self, draft: Sequence[int]) -> list[int]:
        n_history = self._n_prompt + self._place
        # Without a pipeline a plain round costs what it does in one: what is compared with it does so, too.
        is_ahead = self.in_flight or not (draft or self._pipelines)
        self.elapsed_ms += price_round(self._costs, len(draft), n_history, in_flight=is_ahead)
        choices = list(self._reply[self._place : self._place + len(draft) + 1])
        if not choices:
            raise EngineError.during("a replay", "the trace has ended")
        for place, token in enumerate(draft):
            if place >= len(choices) or token != choices[place]:
                choices[place + 1 :] = []
                break
        choices += [-1] * (len(draft) + 1 - len(choices))
        self._place += len(draft) + 1
        self._n_last = len(draft)
        return choices
