"""The target: the only thing that runs the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ("Target",)


class Target(Protocol):
    """The model whose output is reproduced, over one sequence of tokens.

    The target holds a *history*: every token it was given or chose itself. The last token of the history is the
    *head*: it is known but has not been fed to the model yet. `offset` counts the tokens that have been fed, so
    `offset == len(history) - 1` between any two calls, and a caller that keeps the same history can check it.

    One thread owns a target. After any method raised, the target must not be used again.
    """

    @property
    def offset(self) -> int:
        """Tokens fed to the model: the history without its head."""
        ...

    @property
    def in_flight(self) -> bool:
        """Whether a step submitted by `advance` still waits to be used.

        A `verify` that finds one has its first choice paid for: the block is fed behind the step without waiting for
        it, `draft` alone wide, and `verify(())` only reads it. Governors weigh this and statistics count it. A target
        that never pipelines says False.
        """
        ...

    @property
    def n_near_ties(self) -> int:
        """Choices so far that a pass of several tokens made and a pass of one token might have made otherwise.

        Only choices up to a draft's first miss count. A target without rounding says 0.
        """
        ...

    @property
    def context_limit(self) -> int:
        """The longest history that the model takes."""
        ...

    @property
    def max_draft(self) -> int:
        """The longest draft that `verify` takes whole; a longer one is cut to it. 0: plain rounds only."""
        ...

    def prefill(self, tokens: Sequence[int]) -> None:
        """Append known tokens to the history; the last becomes the head.

        Call it as often as needed, slice by slice. The model's work may still be under way on return.

        Args:
            tokens: at least one token.

        Raises:
            EngineError: the model failed.
            ValueError: no tokens, or more than the context limit leaves room for.
        """
        ...

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        """Feed the head and the draft in one pass and return the target's choices.

        The history grows by the draft and the last choice, which becomes the head. A target may cut the draft: it
        then makes fewer choices, at least one, and what it cut counts as never drafted.

        Args:
            draft: k proposed tokens; empty for a plain one-token round.

        Returns:
            k + 1 choices, where k is the length of the draft or of what was left of it: at position i the target's
            own token after the head and `draft[:i]`. Behind the first choice that differs from the draft they have no
            meaning; the caller drops that part by `rollback`.

        Raises:
            EngineError: the model failed.
            ValueError: the context limit leaves no room for the draft.
        """
        ...

    def advance(self) -> int:
        """Plain one-token round: return what `verify(())[0]` would, in a pipeline.

        The next step may already be submitted on return. `verify`, `prefill` and `rollback` take an in-flight step
        into account; callers never see it.
        """
        ...

    def rollback(self, n: int) -> None:
        """Drop the last n tokens of the last verify's draft from the history.

        The head becomes the choice that stood at the first dropped position. After
        `choices = verify(draft)` with the first m tokens accepted, `rollback(len(draft) - m)` leaves the history
        ending in `draft[:m] + [choices[m]]`.

        Args:
            n: 0 to the length of the last draft, or of what was left of it.

        Raises:
            RollbackFailed: a cache did not drop exactly n tokens.
            ValueError: n is out of range, a token that differs from its choice would stay, or the last call was not
                `verify`.
        """
        ...
