"""The block of a verify: what its pass fed and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("Block",)


@dataclass(frozen=True, slots=True)
class Block:
    """The last verify, as far as a rollback needs it.

    Attributes:
        tokens: all tokens that the pass fed, a replay and the head in front.
        n_before: how many of them come before the draft.
        k: the length of the draft, as far as its choices were given out.
        n_cut: tokens of the draft behind that, dropped because the choice after them is made again.
        n_agreed: how many tokens of the draft, from its start, equal their choices.
        choices: k + n_cut + 1 tokens.
        near_ties: for each choice, whether it is one.
        joined: whether an in-flight token was fed in the place of `draft[0]`.
    """

    tokens: list[int]
    n_before: int
    k: int
    n_cut: int
    n_agreed: int
    choices: list[int]
    near_ties: list[bool]
    joined: bool
