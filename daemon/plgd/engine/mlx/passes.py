"""How one sequence's passes run: alone, or with those of the other sequences of a turn."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import mlx.core as mx

from plgd.engine.mlx.kept import RestorePoints
from plgd.engine.mlx.sampling import Choices
from plgd.engine.together import JointFailed, Pass, Together

__all__ = ("Forward", "Passes")

ValueT = TypeVar("ValueT")

# Tokens [B, T] and the caches in, logits [B, T, V] out.
Forward = Callable[[mx.array, list[Any]], mx.array]

# Tokens of a pass when a sequence is read again.
SLICE: Final = 512


class Passes:
    """Runs the passes of one sequence.

    Args:
        forward: runs the model.
        caches: the sequence's, still fresh.
        together: where passes wait for those of other sequences while a turn goes on; None runs each alone.

    Attributes:
        is_shared: whether the last pass was a joint one, and so a wide one, whatever its own width.
    """

    def __init__(self, forward: Forward, caches: list[Any], together: Together | None) -> None:
        self._forward = forward
        self._caches = caches
        self._together = together
        self._fresh = copy.deepcopy(caches) if together is not None else []
        self._was_joined = False
        self.is_shared = False

    def run(self, tokens: mx.array, n_context: int, *, joins: bool, is_lazy: bool) -> mx.array:
        """Feed tokens [T] behind so many others; returns logits [1, T, V].

        Args:
            tokens: what to feed.
            n_context: tokens before them.
            joins: wait for the passes of other sequences, if a turn goes on, and run with them.
            is_lazy: a token is still being computed.
        """
        if joins and self._together is not None and self._together.takes(tokens.size):
            logits: mx.array | None = self._together.join(Pass(tokens.size, n_context, is_lazy, tokens, self._caches))
            if logits is not None:
                self.is_shared = self._was_joined = True
                return logits
        self.is_shared = False
        return self._forward(tokens[None], self._caches)

    def read(self, choices: Choices) -> tuple[list[int], list[bool]]:
        """Wait for choices, with the other sequences of a turn, and return tokens and near ties."""
        if self._together is not None:
            self._together.settle([array for array in (choices.tokens, choices.near_ties) if array is not None])
        return choices.read()

    def tried(self, act: Callable[[], ValueT], read_again: Callable[[], None]) -> ValueT:
        """Do something with passes; should it fail after others shared one, do it once more alone.

        Args:
            act: it.
            read_again: brings the sequence back to where it was before; the passes run alone from there on.
        """
        try:
            return act()
        except (RuntimeError, ValueError, MemoryError) as error:
            if self._together is None or not (self._was_joined or isinstance(error, JointFailed)):
                raise
            self._was_joined = False
            self._together.part()
            read_again()
            return act()

    def renew(self, tokens: Sequence[int], n_prompt: int) -> RestorePoints:
        """Read tokens into fresh caches: nobody knows what a failed joint pass did to those that it fed.

        Args:
            tokens: all that the caches are to hold.
            n_prompt: how many of them were prefilled.

        Returns:
            The ways back to parts of the prompt.
        """
        self._caches[:] = copy.deepcopy(self._fresh)
        points = RestorePoints()
        start = 0
        while start < len(tokens):
            end = min(start + SLICE, n_prompt if start < n_prompt else len(tokens))
            self._forward(mx.array(list(tokens[start:end]), mx.int32)[None], self._caches)
            mx.eval([cache.state for cache in self._caches])
            start = end
            if start <= n_prompt:
                points.note(self._caches, start)
        return points
