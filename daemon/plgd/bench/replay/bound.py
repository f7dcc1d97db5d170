"""The bound: what a rewrite costs if the alignment and the length of every run are known beforehand."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Final

from plgd.engine.cost import StepCosts
from plgd.text.overlap import common_prefix

__all__ = ("bound_ms", "can_be_aligned", "copied_runs")

# Pairs of equal tokens that an alignment may look at: some seconds. Of a text of one word repeated, each is one.
MAX_PAIRS: Final = 20_000_000


def can_be_aligned(source: Sequence[int], reply: Sequence[int]) -> bool:
    """Tell whether two texts repeat so little that all of them can be aligned in time."""
    places, wanted = Counter(source), Counter(reply)
    return sum(n * places[token] for token, n in wanted.items()) <= MAX_PAIRS


def copied_runs(source: Sequence[int], reply: Sequence[int]) -> list[int]:
    """Return the lengths of the runs of a reply that stand in its source, aligned by longest matching blocks.

    Of texts that cannot be aligned in time, these are what they begin and end with alike, and no others.
    """
    if not can_be_aligned(source, reply):
        n_first = common_prefix(source, reply)
        n_last = common_prefix(source[n_first:][::-1], reply[n_first:][::-1])
        return [n for n in (n_first, n_last) if n]
    blocks = difflib.SequenceMatcher(None, source, reply, autojunk=False).get_matching_blocks()
    return [block.size for block in blocks if block.size]


def bound_ms(runs: Sequence[int], n_reply: int, costs: StepCosts, n_context: int) -> float:
    """Return the cost of a reply whose runs are copied in the cheapest widths and whose other tokens are plain rounds.

    It is no limit of nature: a draft that foretells a new token beats it.

    Args:
        runs: lengths of the copied runs.
        n_reply: tokens of the reply.
        costs: the device's table.
        n_context: the context length to read it at.
    """
    longest = max(runs, default=0)
    plain_ms = costs.plain_ms(n_context)
    prices = [plain_ms] + [costs.round_ms(width, n_context) for width in range(2, costs.max_width + 1)]
    # Only widths that no wider one undercuts can be part of the cheapest way.
    widths = [w for w in range(1, len(prices) + 1) if all(price > prices[w - 1] for price in prices[w:])]
    cheapest = [0.0]
    for length in range(1, longest + 1):
        cheapest.append(min(prices[w - 1] + cheapest[max(length - w, 0)] for w in widths))
    return sum(cheapest[run] for run in runs) + (n_reply - sum(runs)) * plain_ms
