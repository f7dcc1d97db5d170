"""The governor: decides how many tokens to draft in each round."""

from __future__ import annotations

from typing import Final, Protocol

from plgd.engine.fixed import FixedGovernor
from plgd.engine.gated import GatedGovernor
from plgd.engine.graded import GradedGovernor
from plgd.engine.ngram import NgramProposer
from plgd.engine.proposer import Draft, Proposer
from plgd.engine.stats import GovernorCounts
from plgd.engine.types import Outcome

__all__ = ("POLICIES", "Governor", "make_governor", "make_proposer")

POLICIES: Final = ("graded", "gated", "ds4", "off")

DEFAULT_DRAFT: Final = 7
MAX_DRAFT: Final = 64
DS4_MAX_DRAFT: Final = 15
DS4_NGRAM: Final = 4


class Governor(Protocol):
    """Decides k, round by round: `limit`, then `choose` where something was proposed, then `observe`."""

    @property
    def policy(self) -> str:
        """The name of its policy."""
        ...

    @property
    def counts(self) -> GovernorCounts:
        """What it did about drafts that do not land."""
        ...

    @property
    def pipeline_after(self) -> int:
        """Plain rounds in a row after which a plain round submits the next step at once; 0: already the first."""
        ...

    def limit(self) -> int:
        """Return the most tokens worth proposing now; 0: do not ask the proposer."""
        ...

    def choose(self, draft: Draft, n_history: int, *, in_flight: bool) -> int:
        """Say how much of a draft to verify.

        Args:
            draft: at least one proposed token, shortened to what the reply has room for.
            n_history: tokens of prompt and reply.
            in_flight: whether a plain step has been submitted already, so that its pass is paid for.

        Returns:
            k, 0 to the draft's length; 0 asks for a plain round.
        """
        ...

    def observe(self, outcome: Outcome) -> None:
        """Learn from a round, plain or drafted."""
        ...


def make_governor(policy: str, *, max_draft: int = 0) -> Governor:
    """Make the governor of a policy.

    Args:
        policy: one of `POLICIES`.
        max_draft: most tokens in one draft; 0 takes the policy's own.

    Raises:
        ValueError: no such policy, or `max_draft` is out of its bounds.
    """
    if policy not in POLICIES:
        raise ValueError(f"no policy is called {policy!r}; there are {', '.join(POLICIES)}")
    bound = DS4_MAX_DRAFT if policy == "ds4" else MAX_DRAFT
    if not 0 <= max_draft <= bound:
        raise ValueError(f"max_draft must be 1 to {bound} for policy {policy}, not {max_draft}")
    n_tokens = max_draft or DEFAULT_DRAFT
    if policy == "graded":
        return GradedGovernor(n_tokens)
    if policy == "gated":
        return GatedGovernor(n_tokens)
    return FixedGovernor(policy, n_tokens if policy == "ds4" else 0)


def make_proposer(policy: str, *, ngram_min: int = 2, ngram_max: int = 3) -> Proposer:
    """Make the n-gram proposer that belongs to a policy: 4-grams for `ds4`, else what is asked for.

    Raises:
        ValueError: the n-gram lengths are out of bounds.
    """
    if policy == "ds4":
        return NgramProposer(DS4_NGRAM, DS4_NGRAM)
    return NgramProposer(ngram_min, ngram_max)
