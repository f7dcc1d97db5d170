"""Statistics of a session: raw counts and histograms. Rates are derived by whoever reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Final

from plgd.engine.types import Outcome

__all__ = ("GovernorCounts", "ProposerCounts", "Stats")


@dataclass(slots=True)
class GovernorCounts:
    """What a governor did about drafts that do not land.

    Attributes:
        n_pauses: times it stopped drafting.
        n_paused_rounds: rounds run while paused.
        n_shadow_probes: proposals checked against plain output while paused.
        n_shadow_confirmations: those that came true and made it draft again.
    """

    n_pauses: int = 0
    n_paused_rounds: int = 0
    n_shadow_probes: int = 0
    n_shadow_confirmations: int = 0


@dataclass(slots=True)
class ProposerCounts:
    """How one proposer fared.

    Attributes:
        n_drafts: verified drafts with tokens of its.
        n_drafted: tokens of its in them.
        n_accepted: those of them that were committed.
    """

    n_drafts: int = 0
    n_drafted: int = 0
    n_accepted: int = 0


@dataclass(slots=True)
class Stats:
    """Counts over all replies of a session.

    Attributes:
        n_prompt_tokens: tokens of the prompts.
        n_cached_tokens: those of them whose state was warm.
        n_tokens: tokens of the replies.
        n_rounds: passes whose result was used, plain and drafted.
        n_plain_rounds: those without a draft.
        n_pipelined_rounds: plain rounds that submitted the next step before the host read the last.
        n_drafted_rounds: those with a draft.
        n_read_first: plain rounds that read a step in flight and submitted none, so that the next may draft.
        n_met_in_flight: drafted rounds that began behind a step still in flight.
        n_drafted: tokens drafted and verified.
        n_accepted: tokens of drafts that were committed.
        n_near_ties: see `plgd.engine.target.Target`.
        proposers: drafts, tokens drafted and tokens accepted, by proposer; a draft may hold tokens of several.
        acceptance_lengths: tokens committed by a drafted round -> how many rounds.
        widths: verify width -> how many rounds.
        governor: the governor's own counts.
    """

    n_prompt_tokens: int = 0
    n_cached_tokens: int = 0
    n_tokens: int = 0
    n_rounds: int = 0
    n_plain_rounds: int = 0
    n_pipelined_rounds: int = 0
    n_drafted_rounds: int = 0
    n_read_first: int = 0
    n_met_in_flight: int = 0
    n_drafted: int = 0
    n_accepted: int = 0
    n_near_ties: int = 0
    proposers: dict[str, ProposerCounts] = field(default_factory=dict)
    acceptance_lengths: Counter[int] = field(default_factory=Counter)
    widths: Counter[int] = field(default_factory=Counter)
    governor: GovernorCounts = field(default_factory=GovernorCounts)

    @classmethod
    def together(cls, several: Iterable[Stats]) -> Stats:
        """Return the sums of several sessions' counts; the governors' own are left out."""
        total = cls()
        for stats in several:
            for name in _SUMMED:
                setattr(total, name, getattr(total, name) + getattr(stats, name))
            for proposer, counts in stats.proposers.items():
                own = total.proposers.setdefault(proposer, ProposerCounts())
                own.n_drafts += counts.n_drafts
                own.n_drafted += counts.n_drafted
                own.n_accepted += counts.n_accepted
        return total

    def count(self, outcome: Outcome) -> None:
        """Take in one round."""
        self.n_rounds += 1
        self.n_tokens += len(outcome.tokens)
        self.widths[outcome.n_drafted + 1] += 1
        if not outcome.n_drafted:
            self.n_plain_rounds += 1
            self.n_pipelined_rounds += outcome.pipelined
            self.n_read_first += outcome.in_flight and not outcome.pipelined
            return
        self.n_drafted_rounds += 1
        self.n_met_in_flight += outcome.in_flight
        self.n_drafted += outcome.n_drafted
        self.n_accepted += outcome.n_accepted
        self.acceptance_lengths[len(outcome.tokens)] += 1
        drafted = outcome.draft.shares_of(outcome.n_drafted)
        for name in {share.proposer for share in drafted}:
            self.proposers.setdefault(name, ProposerCounts()).n_drafts += 1
        for share in drafted:
            self.proposers[share.proposer].n_drafted += share.n_tokens
        for share in outcome.draft.shares_of(outcome.n_accepted):
            self.proposers[share.proposer].n_accepted += share.n_tokens

    def acceptance_histogram(self) -> tuple[int, ...]:
        """Return how often a drafted round committed 1, 2, 3 ... tokens; without trailing zeros."""
        longest = max(self.acceptance_lengths, default=0)
        return tuple(self.acceptance_lengths[length] for length in range(1, longest + 1))


_SUMMED: Final = tuple(each.name for each in fields(Stats) if each.name not in {"proposers", "governor"})
