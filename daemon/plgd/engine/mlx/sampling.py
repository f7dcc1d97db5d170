"""How the next token is taken from the model's logits."""

from __future__ import annotations

from typing import Protocol

import mlx.core as mx

__all__ = ("Greedy", "Sampler")


class Sampler(Protocol):
    """Takes tokens from logits, on the device, without waiting for them."""

    def choose(self, logits: mx.array, position: int) -> mx.array:
        """Take one token from each row.

        Args:
            logits: [B, T, V].
            position: where in the history the token of row 0 will stand; row i stands at `position + i`. Randomness
                is keyed by it, so that a reply does not depend on how its tokens were grouped into passes.

        Returns:
            [B, T] tokens; -1 where the logits hold no number.
        """
        ...


class Greedy:
    """The most likely token; of equals, the first."""

    def choose(self, logits: mx.array, position: int) -> mx.array:  # noqa: ARG002  # greedy needs no randomness
        """Take the most likely token of each row."""
        best = mx.argmax(logits, axis=-1, keepdims=True)
        # A NaN anywhere in a pass spreads to all logits of its row: looking at the chosen one finds it.
        broken = mx.isnan(mx.take_along_axis(logits, best, axis=-1))
        return mx.where(broken, -1, best.astype(mx.int32)).squeeze(-1)
