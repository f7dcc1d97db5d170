"""The `cost` policy: the draft that promises the most tokens per millisecond on this device."""

from __future__ import annotations

from itertools import islice
from math import inf
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

# Waiting for a round that is yet to be run must save this much: the draft that waits may find its second token as
# doubtful as the first was. Set by replaying release pairs, where 1.0 and 1.5 do worse on every device.
WAIT_MARGIN: Final = 1.3

# A reply's first token is promised within two plain rounds of the prefill, and no draft may hold it up for longer. Its
# pass can take all of that but what is spent around it, on preparing the request: a fifth of a round.
FIRST_ROUND: Final = 1.8

# More plain rounds in a row than a reply has: never submit ahead.
NEVER: Final = 1 << 60


class CostGovernor:
    """Maximises expected tokens per millisecond over the widths of a cost table, plain decoding among them.

    What a width costs is measured (`LiveCosts`), what it yields is learnt (`Chances`). Pausing is no rule of its own:
    it is what comes out when no width pays. While that lasts, proposals go on as shadow probes, which cost no pass
    and feed the same chances, so drafting resumes on the evidence of plain output. `LastGate` has the last word.

    A draft need not be verified at once. After one plain round its first token is known, and only if it came true is
    the rest worth a block: for a draft whose first token is doubtful, that is cheaper, and it yields the same tokens.
    The plain round may be in flight already. Then the block can run right behind it, without the bubble, but is
    wasted if the first token turns out wrong. Whichever costs less is done.

    In company, where several sequences share a pass, a price is that of the whole pass, and what the others get from it
    counts beside what the draft does: a wider draft must pay for the time of all.

    The first round of a reply is no wider than lets its first token come soon (`FIRST_ROUND`).

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
        self._waits = False
        self._is_first = True
        self._n_history = 0

    @property
    def pipeline_after(self) -> int:
        """Submit ahead at once, or not at all, as it pays."""
        _, synchronous_ms, plain_ms = self._costs.prices(self._n_history)
        ahead = not self._waits and self._pipeline.submits_ahead(synchronous_ms, plain_ms)
        return 0 if ahead else NEVER

    def limit(self) -> int:
        """Return the most tokens worth proposing now."""
        self._pays = self._waits = False
        return self._limit

    def choose(self, draft: Draft, n_history: int, *, in_flight: bool) -> int:
        """Say how much of a draft to verify: the k with the most expected tokens per millisecond."""
        self._n_history = n_history
        self._fate = self._chances.fate
        priced, synchronous_ms, plain_ms = self._costs.prices(n_history)
        # Behind a step in flight the head is fed already, so that a block holds one drafted token more.
        n_heads = 0 if in_flight else 1
        # Verifying now runs behind that step, without the bubble; verifying later takes a plain round first.
        ahead_ms = 2 * plain_ms - synchronous_ms if in_flight else 0.0
        token_ms, margin = (plain_ms, 1.0) if in_flight else (synchronous_ms, WAIT_MARGIN)
        length = len(draft.tokens)
        survival = self._chances.survival(draft)
        first_chance = n_expected = next(survival)
        n_counted = 1
        gain = self._gate.required_gain
        # What the others commit in a pass counts the more, the more is asked of this row's own tokens.
        others = gain * self._costs.company.n_tokens if self._costs.company is not None else 0.0
        best_k, best_rate, later = 0, (others + gain) / plain_ms, False
        for width, price_ms in priced:
            k = min(width - n_heads, length)
            n_expected += sum(islice(survival, k - n_counted))
            n_counted = k
            round_ms = price_ms if k + n_heads == width else self._costs.round_ms(k + n_heads, n_history)
            now_ms = round_ms + ahead_ms
            if self._is_first and not in_flight and round_ms > FIRST_ROUND * synchronous_ms:
                now_ms = inf  # a plain round first, whose token is not held up
            later_ms = margin * (token_ms + first_chance * round_ms)
            now_rate = (others + 1.0 + n_expected) / now_ms
            later_rate = ((1.0 + first_chance) * others + 1.0 + n_expected) / later_ms
            if max(now_rate, later_rate) > best_rate:
                best_k, best_rate, later = k, max(now_rate, later_rate), later_rate > now_rate
            if k == length:
                break
        self._pays = best_k > 0
        # A step submitted ahead would make the draft wait for one round more.
        self._waits = later and first_chance * synchronous_ms >= synchronous_ms - plain_ms
        return 0 if later else best_k

    def observe(self, outcome: Outcome) -> None:
        """Learn from a round."""
        self._is_first = False
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
        elapsed_ms = None if self._costs.company is not None else outcome.elapsed_ms
        if not outcome.n_drafted:
            self._gate.observe_plain()
        elif elapsed_ms is not None:
            plain_ms = self._costs.plain_ms(outcome.n_history)
            expected_ms = self._costs.round_ms(outcome.n_drafted + 1, outcome.n_history)
            expected_ms += plain_ms if outcome.in_flight else 0.0
            self._gate.observe_drafted(len(outcome.tokens), elapsed_ms, expected_ms=expected_ms, plain_ms=plain_ms)
        self._costs.observe(outcome)
