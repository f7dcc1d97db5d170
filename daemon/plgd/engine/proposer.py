"""The proposer: what guesses the next tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ("NO_DRAFT", "Draft", "Proposer")


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens with the evidence they rest on.

    Attributes:
        tokens: the proposal; may be empty.
        proposer: the name of what proposed it, for statistics.
        match_length: how many tokens before the proposal agreed with the place it was read from.
        chances: for each token, the chance that it is accepted if those before it are, where the proposer keeps count
            of that itself; empty where the governor is to learn it.
    """

    tokens: tuple[int, ...]
    proposer: str
    match_length: int
    chances: tuple[float, ...] = ()


NO_DRAFT = Draft((), "none", 0)


class Proposer(Protocol):
    """Guesses how the history goes on. It sees every token of prompt and reply exactly once, in order."""

    def extend(self, tokens: Sequence[int]) -> None:
        """Take in tokens that were appended to the history."""
        ...

    def propose(self, max_tokens: int) -> Draft:
        """Guess up to `max_tokens` tokens that follow the history; `NO_DRAFT` when nothing is known."""
        ...
