"""The records that a reply is made of: rounds, what they cost, and why a reply ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from plgd.engine.proposer import Draft, Share

__all__ = ("Outcome", "Round", "StopReason")


class StopReason(Enum):
    """What ended a reply. Where one token meets several, the earlier of this list is told."""

    EOS = "eos"
    STOP = "stop"
    LOOP = "loop"
    MAX_TOKENS = "max_tokens"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Round:
    """One pass of the target, as the reader of a reply sees it.

    Attributes:
        tokens: what was committed, in order; the token that ends the reply is the last of them. Empty only when the
            context was full before the reply began.
        n_drafted: tokens that the pass verified.
        n_accepted: those of them that were committed.
        proposer: who proposed them; `none` in a plain round.
        stopped: why the reply ends with this round, None while it goes on.
        shares: whose the accepted tokens are, in order; a token behind them is the target's alone.
    """

    tokens: tuple[int, ...]
    n_drafted: int
    n_accepted: int
    proposer: str
    stopped: StopReason | None
    shares: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """One round, as the governor learns from it.

    Attributes:
        draft: the whole proposal, verified or not.
        n_drafted: how many of its tokens were verified; 0 in a plain round.
        n_accepted: how many of those were committed.
        tokens: what was committed.
        n_history: tokens of prompt and reply before the round.
        pipelined: a plain round that submitted the next step before it was read.
        in_flight: a step submitted earlier was under way when the round began; the round used it.
        elapsed_ms: from the end of the round before to the end of this one; None when that says nothing about the
            target, as in a reply's first round or after a long time spent elsewhere.
    """

    draft: Draft
    n_drafted: int
    n_accepted: int
    tokens: tuple[int, ...]
    n_history: int
    pipelined: bool
    in_flight: bool
    elapsed_ms: float | None
