"""The `cost` policy: the draft that promises the most tokens per millisecond on this device."""

from __future__ import annotations

from itertools import islice
from typing import Final

from plgd.engine.correction import LiveCosts
from plgd.engine.evidence import Chances
from plgd.engine.gate import LastGate
from plgd.engine.pipeline import PipelineChoice
from plgd.engine.proposer import Draft
from plgd.engine.shadow import ShadowProbe
from plgd.engine.stats import GovernorCounts
from plgd.engine.types import Outcome

__all__ = ("MAX_COST_DRAFT", "CostGovernor")

MAX_COST_DRAFT: Final = 128

# More plain rounds in a row than a reply has: never submit ahead.
NEVER: Final = 1 << 60


class CostGovernor:
    """Maximises expected tokens per millisecond over the widths of a cost table, plain decoding among them.

    What a width costs is measured (`LiveCosts`), what it yields is learnt (`Chances`). Pausing is no rule of its own:
    it is what comes out when no width pays. While that lasts, proposals go on as shadow probes, which cost no pass
    and feed the same chances, so drafting resumes on the evidence of plain output. `LastGate` has the last word.

    A proposal that meets a step in flight has two ways. The block may run right behind the step, which keeps the
    device busy but is wasted if the step's token is not the first of the draft; or the step is read first, which
    leaves a bubble. The cheaper one is taken.

    Args:
        costs: the device's prices.
        max_draft: most tokens in one draft.
    """

    policy: Final = "cost"

    def __init__(self, costs: LiveCosts, max_draft: int = MAX_COST_DRAFT) -> None:
        self.counts = GovernorCounts()
        self._limit = min(costs.table.max_width - 1, max_draft)
        self._costs = costs
        self._chances = Chances()
        self._gate = LastGate()
        self._pipeline = PipelineChoice()
        self._probe: ShadowProbe | None = None
        self._fate = self._chances.fate
        self._paused = False
        self._pays = False
        self._reads_first = False
        self._n_history = 0

    @property
    def pipeline_after(self) -> int:
        """Submit ahead at once, or not at all, as it pays."""
        _, synchronous_ms, plain_ms = self._costs.prices(self._n_history)
        ahead = not self._reads_first and self._pipeline.submits_ahead(synchronous_ms, plain_ms)
        return 0 if ahead else NEVER

    def limit(self) -> int:
        """Return the most tokens worth proposing now."""
        self._pays = self._reads_first = False
        return self._limit

    def choose(self, draft: Draft, n_history: int, *, in_flight: bool) -> int:
        """Say how much of a draft to verify: the k with the most expected tokens per millisecond."""
        self._n_history = n_history
        self._fate = self._chances.fate
        priced, synchronous_ms, plain_ms = self._costs.prices(n_history)
        bubble_ms = synchronous_ms - plain_ms
        # Behind a step in flight the head is fed already, so that a block holds one drafted token more.
        n_heads = 0 if in_flight else 1
        length = len(draft.tokens)
        survival = self._chances.survival(draft)
        first_chance = n_expected = next(survival)
        n_counted = 1
        best_k, best_rate, reads_first = 0, self._gate.required_gain / plain_ms, False
        for width, price_ms in priced:
            k = min(width - n_heads, length)
            n_expected += sum(islice(survival, k - n_counted))
            n_counted = k
            round_ms = price_ms if k + n_heads == width else self._costs.round_ms(k + n_heads, n_history)
            reads = False
            if in_flight:
                behind_ms, after_ms = round_ms - bubble_ms, first_chance * round_ms
                reads = after_ms < behind_ms
                round_ms = plain_ms + min(behind_ms, after_ms)
            rate = (1.0 + n_expected) / round_ms
            if rate > best_rate:
                best_k, best_rate, reads_first = k, rate, reads
            if k == length:
                break
        self._pays = best_k > 0
        self._reads_first = reads_first
        return 0 if reads_first else best_k

    def observe(self, outcome: Outcome) -> None:
        """Learn from a round."""
        self._n_history = outcome.n_history
        self._learn_chances(outcome)
        self._learn_costs(outcome)
        self._pipeline.observe(landed=self._pays and outcome.draft.tokens[0] == outcome.tokens[0])
        if outcome.n_drafted:
            self.counts.n_shadow_confirmations += self._paused
            self._paused = False
        elif outcome.draft.tokens and not self._pays:
            self.counts.n_pauses += not self._paused
            self.counts.n_paused_rounds += 1
            self._paused = True

    def _learn_chances(self, outcome: Outcome) -> None:
        probe = self._probe
        if outcome.n_drafted:
            self._settle()
            self._chances.observe(outcome.draft, outcome.n_drafted, outcome.n_accepted, self._fate)
            return
        if probe is None and outcome.draft.tokens:
            probe = self._probe = ShadowProbe(outcome.draft, self._fate)
            self.counts.n_shadow_probes += 1
        if probe is not None and probe.check(outcome.tokens):
            self._settle()

    def _settle(self) -> None:
        probe, self._probe = self._probe, None
        if probe is not None and probe.n_tested:
            self._chances.observe(probe.draft, probe.n_tested, probe.n_agreed, probe.fate)

    def _learn_costs(self, outcome: Outcome) -> None:
        elapsed_ms = outcome.elapsed_ms
        if elapsed_ms is not None and outcome.n_drafted:
            plain_ms = self._costs.plain_ms(outcome.n_history)
            expected_ms = self._costs.round_ms(outcome.n_drafted + 1, outcome.n_history)
            expected_ms += plain_ms if outcome.in_flight else 0.0
            self._gate.observe(len(outcome.tokens), elapsed_ms, expected_ms=expected_ms, plain_ms=plain_ms)
        self._costs.observe(outcome)
