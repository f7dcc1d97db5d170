"""Penalties and biases: what changes the logits before a token is taken from them."""

from __future__ import annotations

import mlx.core as mx

from plgd.engine.sampling import Sampling
from plgd.errors import InvalidParams

__all__ = (
    "Penalties",
    "count_past",
)


class Penalties:
    """Bias, repetition, presence and frequency penalty, in mlx-lm's order and with its meaning.

    Each row of a block has a past of its own: the rows behind a draft see the draft. All of it happens on the device,
    so that a token that the host has not read yet counts as well.

    Args:
        sampling: the settings.
    """

    def __init__(self, sampling: Sampling) -> None:
        self._sampling = sampling
        self._biased = mx.array([token for token, _ in sampling.logit_bias], mx.int32)
        self._biases = mx.array([bias for _, bias in sampling.logit_bias], mx.float32)

    @property
    def n_past(self) -> int:
        """How many tokens before a position matter to it."""
        return self._sampling.penalty_context if self._sampling.has_penalties else 0

    def apply(self, logits: mx.array, past: mx.array) -> mx.array:
        """Change logits.

        Args:
            logits: [B, T, V], float32.
            past: [P] tokens, the last of them the one that the last row follows; at least T.

        Returns:
            [B, T, V].

        Raises:
            InvalidParams: a bias for a token that the model does not have.
        """
        n_rows, n_vocabulary = logits.shape[1:]
        if self._biased.size:
            self._check(n_vocabulary)
            logits = logits.at[..., self._biased].add(self._biases)
        if not self._sampling.has_penalties:
            return logits
        counts = count_past(past, n_rows, self.n_past, n_vocabulary)
        seen = counts > 0
        if (factor := self._sampling.repetition_penalty) != 1:
            logits = mx.where(seen, mx.where(logits < 0, logits * factor, logits / factor), logits)
        if presence := self._sampling.presence_penalty:
            logits = logits - presence * seen
        if frequency := self._sampling.frequency_penalty:
            logits = logits - frequency * counts
        return logits

    def _check(self, n_vocabulary: int) -> None:
        highest = max(token for token, _ in self._sampling.logit_bias)
        if highest >= n_vocabulary:
            raise InvalidParams(
                f"`logit_bias` names token {highest}; the model's tokens are numbered 0 to {n_vocabulary - 1}."
            )


def count_past(past: mx.array, n_rows: int, n_context: int, n_vocabulary: int) -> mx.array:
    """Count how often each token occurred before each row of a block.

    Args:
        past: [P] tokens; the last row follows all of them, each row before it one less.
        n_rows: T, at most P.
        n_context: how many tokens before a row count.
        n_vocabulary: V.

    Returns:
        [T, V], float32.
    """
    n_context = min(n_context, past.size)
    ends = mx.arange(past.size - n_rows + 1, past.size + 1)[:, None]
    places = ends - n_context + mx.arange(n_context)
    # A row near the start has fewer tokens before it; the places before the first count nothing.
    tokens = past[mx.maximum(places, 0)]
    counts = mx.zeros((n_rows, n_vocabulary))
    return counts.at[mx.arange(n_rows)[:, None], tokens].add((places >= 0).astype(mx.float32))
