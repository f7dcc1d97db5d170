"""The governor: decides how many tokens to draft in each round."""

from __future__ import annotations

from typing import Final, Protocol

from plgd.engine.correction import LiveCosts
from plgd.engine.cost import ASSUMED_COSTS, StepCosts
from plgd.engine.cost_governor import MAX_COST_DRAFT, CostGovernor
from plgd.engine.fixed import FixedGovernor
from plgd.engine.gated import GatedGovernor
from plgd.engine.graded import GradedGovernor
from plgd.engine.ngram import NgramProposer
from plgd.engine.proposer import Draft, Proposer
from plgd.engine.stats import GovernorCounts
from plgd.engine.types import Outcome

__all__ = ("DEFAULT_DRAFT", "MAX_DRAFTS", "POLICIES", "Governor", "make_governor", "make_proposer")

POLICIES: Final = ("cost", "graded", "gated", "ds4", "off")

# The references' own options and bounds. The cost policy may go as wide as its table pays for, and it judges a match
# by its length, so longer n-grams are worth looking up.
DEFAULT_DRAFT: Final = 7
MAX_DRAFTS: Final = {"cost": MAX_COST_DRAFT, "graded": 64, "gated": 64, "ds4": 15, "off": 64}
NGRAMS: Final = {"cost": (2, 8), "graded": (2, 3), "gated": (2, 3), "ds4": (4, 4), "off": (2, 3)}


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


def make_governor(policy: str, *, max_draft: int = 0, costs: StepCosts | LiveCosts | None = None) -> Governor:
    """Make the governor of a policy.

    Args:
        policy: one of `POLICIES`.
        max_draft: most tokens in one draft; 0 takes the policy's own: 7 for the reference policies, whatever the
            table pays for under `cost`.
        costs: for `cost`, the device's table, or live costs that all sessions of a model share, so that what one
            reply measured the next one knows; without either it begins with an assumed table.

    Raises:
        ValueError: no such policy, or `max_draft` is out of its bounds.
    """
    _check_policy(policy)
    bound = MAX_DRAFTS[policy]
    if not 0 <= max_draft <= bound:
        raise ValueError(f"max_draft must be 1 to {bound} for policy {policy}, not {max_draft}")
    if policy == "cost":
        live = costs if isinstance(costs, LiveCosts) else LiveCosts(costs or ASSUMED_COSTS)
        return CostGovernor(live, max_draft or bound)
    n_tokens = max_draft or DEFAULT_DRAFT
    if policy == "graded":
        return GradedGovernor(n_tokens)
    if policy == "gated":
        return GatedGovernor(n_tokens)
    return FixedGovernor(policy, n_tokens if policy == "ds4" else 0)


def make_proposer(policy: str, *, ngram_min: int = 0, ngram_max: int = 0) -> Proposer:
    """Make the n-gram proposer that belongs to a policy.

    Args:
        policy: one of `POLICIES`; `ds4` always looks up 4-grams.
        ngram_min: shortest n-gram; 0 takes the policy's own.
        ngram_max: longest n-gram; 0 takes the policy's own.

    Raises:
        ValueError: no such policy, or the n-gram lengths are out of bounds.
    """
    _check_policy(policy)
    own_min, own_max = NGRAMS[policy]
    if policy == "ds4":
        return NgramProposer(own_min, own_max)
    return NgramProposer(ngram_min or own_min, ngram_max or own_max)


def _check_policy(policy: str) -> None:
    if policy not in POLICIES:
        raise ValueError(f"no policy is called {policy!r}; there are {', '.join(POLICIES)}")
