"""Leads a model along a recorded reply: every pass is computed, the token that is taken is the recorded one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import mlx.core as mx

from plgd.errors import BenchError

__all__ = ("RecordedNetwork",)

# Lifts the recorded token above every other logit, in half precision too.
LIFT: Final = 1e4


class RecordedNetwork:
    """One of mlx-lm's models whose most likely next token is always the recorded one.

    It stands in for the model on both sides of a comparison, so text and acceptance are those of the recording and
    costs are the model's own. What it adds, one addition over the logits, both sides pay.

    Args:
        network: mlx-lm's model.
        history: tokens of the prompt and of the reply, up to the token that ends it.

    Raises:
        BenchError: no cache of the model counts its tokens, so that places in the recording cannot be told.
    """

    def __init__(self, network: Any, history: Sequence[int]) -> None:  # noqa: ANN401  # mlx-lm's, without a type
        self._network = network
        self._history = mx.array(list(history), mx.int32)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Pass on what else mlx-lm asks a model for, such as its layers and its own kind of cache."""
        return getattr(self._network, name)

    def __call__(self, tokens: mx.array, cache: Sequence[Any]) -> mx.array:
        """Feed tokens [B, T]; returns logits [B, T, V]."""
        counting = next((layer for layer in cache if hasattr(layer, "offset")), None)
        if counting is None:
            raise BenchError("This model's caches do not count tokens; it cannot be led along a recorded reply.")
        start = int(counting.offset) + 1
        logits: mx.array = self._network(tokens, cache=cache)
        n_tokens, n_vocabulary = logits.shape[1:]
        # Drafts may reach past the end of the recording; what is chosen there is never committed.
        places = mx.minimum(mx.arange(start, start + n_tokens), self._history.size - 1)
        recorded = mx.arange(n_vocabulary) == self._history[places][None, :, None]
        return logits + mx.where(recorded, LIFT, 0.0).astype(logits.dtype)
