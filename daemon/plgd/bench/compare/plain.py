"""The `plain` arm: mlx-lm's own decoding, without any of plgd's loop."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final

import mlx.core as mx
from mlx_lm.generate import generate_step

from plgd.bench.compare.arms import Reply
from plgd.bench.options import PLAIN

__all__ = ("PlainArm",)


class PlainArm:
    """Greedy `generate_step` with mlx-lm's defaults, as anyone would call it.

    Args:
        network: mlx-lm's model.
        eos_tokens: the tokens that end a reply.
    """

    name: Final = PLAIN

    def __init__(self, network: Any, eos_tokens: frozenset[int]) -> None:  # noqa: ANN401  # mlx-lm's, without a type
        self._network = network
        self._eos_tokens = eos_tokens

    def reply(self, prompt: Sequence[int], max_tokens: int) -> Reply:
        """Decode until an end token or `max_tokens`."""
        tokens: list[int] = []
        first_at: float | None = None
        started_at = time.perf_counter()
        for token, _ in generate_step(mx.array(list(prompt)), self._network, max_tokens=max_tokens):
            first_at = first_at or time.perf_counter()
            tokens.append(int(token))
            if token in self._eos_tokens:
                break
        ended_at = time.perf_counter()
        return Reply(
            tokens=tuple(tokens),
            ttft_ms=1000.0 * ((first_at or ended_at) - started_at),
            total_ms=1000.0 * (ended_at - started_at),
            stats=None,
        )
