"""The arms of a comparison: ways to get the same reply out of the same model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from plgd.engine.governor import Governor
from plgd.engine.model import Model
from plgd.engine.proposer import Proposer
from plgd.engine.session import Session
from plgd.engine.stats import Stats
from plgd.engine.stops import Stops

__all__ = ("Arm", "PolicyArm", "Reply")


@dataclass(frozen=True, slots=True)
class Reply:
    """One whole call: a prompt prefilled and its reply decoded.

    Attributes:
        tokens: the reply, the token that ended it included.
        ttft_ms: from the call to the first token of the reply; all of the prefill is in it.
        total_ms: from the call to the last token.
        stats: the session's counts; None where no session of plgd ran.
    """

    tokens: tuple[int, ...]
    ttft_ms: float
    total_ms: float
    stats: Stats | None

    @property
    def decode_ms(self) -> float:
        """The time after the first token."""
        return self.total_ms - self.ttft_ms

    @property
    def tokens_per_s(self) -> float:
        """The rate of the whole call, prefill included."""
        return 1000.0 * len(self.tokens) / self.total_ms


class Arm(Protocol):
    """A way to decode. Each call starts from nothing: no cache and no index is carried over."""

    @property
    def name(self) -> str:
        """What tables and options call it."""
        ...

    def reply(self, prompt: Sequence[int], max_tokens: int) -> Reply:
        """Decode greedily until the model ends its reply or it has `max_tokens`.

        Raises:
            EngineError: the model failed.
        """
        ...


class PolicyArm:
    """plgd's own loop under one policy.

    Args:
        name: what tables call it.
        model: the model.
        make_proposer: makes a fresh proposer.
        make_governor: makes a fresh governor.
        prefill_slice: prompt tokens per pass.
        clock: seconds from any start.
    """

    def __init__(
        self,
        name: str,
        model: Model,
        make_proposer: Callable[[], Proposer],
        make_governor: Callable[[], Governor],
        *,
        prefill_slice: int,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.name = name
        self._model = model
        self._make_proposer = make_proposer
        self._make_governor = make_governor
        self._prefill_slice = prefill_slice
        self._clock = clock

    def reply(self, prompt: Sequence[int], max_tokens: int) -> Reply:
        """Decode in a session of its own.

        The loop guard is off: mlx-lm has none, and both sides are to stop at the same token.
        """
        started_at = self._clock()
        session = Session(self._model.target(), self._make_proposer(), self._make_governor(), clock=self._clock)
        stops = Stops(self._model.eos_tokens, max_tokens, loop_guard=False)
        for _ in session.prefill(prompt, self._prefill_slice):
            pass
        first_at: float | None = None
        with closing(session.decode(stops)) as rounds:
            for _ in rounds:
                first_at = first_at or self._clock()
        ended_at = self._clock()
        return Reply(
            tokens=tuple(session.tokens[len(prompt) :]),
            ttft_ms=1000.0 * ((first_at or ended_at) - started_at),
            total_ms=1000.0 * (ended_at - started_at),
            stats=session.stats,
        )
