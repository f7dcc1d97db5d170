"""The proposer: what guesses the next tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

__all__ = ("NO_DRAFT", "Draft", "Proposer", "Share")


class Share(NamedTuple):
    """Tokens of a draft, one behind the other, that one proposer put there.

    Attributes:
        proposer: its name.
        n_tokens: how many.
    """

    proposer: str
    n_tokens: int


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens with the evidence they rest on.

    Attributes:
        tokens: the proposal; may be empty.
        proposer: the name of what proposed it, by which evidence is kept.
        match_length: how many tokens before the proposal agreed with the place it was read from.
        chances: for each token, the chance that it is accepted if those before it are, where the proposer keeps count
            of that itself; empty where the governor is to learn it.
        shares: whose the tokens are, in order, where they are not all `proposer`'s; of a draft that was shortened they
            reach behind its end.
    """

    tokens: tuple[int, ...]
    proposer: str
    match_length: int
    chances: tuple[float, ...] = ()
    shares: tuple[Share, ...] = ()

    def shares_of(self, n_tokens: int) -> tuple[Share, ...]:
        """Return whose the first tokens are, in order, `n_tokens` in all."""
        if n_tokens < 1:
            return ()
        if not self.shares:
            return (Share(self.proposer, n_tokens),)
        found: list[Share] = []
        for share in self.shares:
            if share.n_tokens >= n_tokens:
                break
            found.append(share)
            n_tokens -= share.n_tokens
        return (*found, Share(share.proposer, n_tokens))


NO_DRAFT = Draft((), "none", 0)


class Proposer(Protocol):
    """Guesses how the history goes on. It sees every token of prompt and reply exactly once, in order."""

    def extend(self, tokens: Sequence[int]) -> None:
        """Take in tokens that were appended to the history."""
        ...

    def propose(self, max_tokens: int) -> Draft:
        """Guess up to `max_tokens` tokens that follow the history; `NO_DRAFT` when nothing is known."""
        ...
