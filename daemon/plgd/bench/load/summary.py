"""From edits that were asked for to percentiles, fairness and sameness."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from plgd.bench.load.asking import Asked, Reply
from plgd.bench.load.results import ClassTimes, Percentiles, Sameness

__all__ = ("class_times", "count_failures", "jain", "milliseconds", "percentiles", "sameness", "speed_shares")

# Named in the result; whoever needs all of them asks for fewer edits.
_MOST_NAMED: Final = 10


def percentiles(times_ms: Iterable[float]) -> Percentiles:
    """Return the percentiles of some times, by nearest rank: each is a time that was measured."""
    ordered = sorted(times_ms)
    if not ordered:
        return Percentiles(n=0, p50=0.0, p90=0.0, p99=0.0, longest=0.0)
    p50, p90, p99 = (ordered[-(-len(ordered) * percent // 100) - 1] for percent in (50, 90, 99))
    return Percentiles(n=len(ordered), p50=p50, p90=p90, p99=p99, longest=ordered[-1])


def milliseconds(times_s: Iterable[float]) -> Percentiles:
    """Return the percentiles of times in seconds."""
    return percentiles(1000.0 * each for each in times_s)


def class_times(asked: Iterable[Asked], priority: str) -> ClassTimes:
    """Return the times of the edits of one class."""
    those = [each for each in asked if each.priority == priority]
    answered = [each for each in those if each.result is not None]
    return ClassTimes(
        priority=priority,
        n_asked=len(those),
        first_token_ms=milliseconds(each.first_s - each.asked_s for each in answered if each.first_s is not None),
        total_ms=milliseconds(each.ended_s - each.asked_s for each in answered),
        failures=count_failures(those),
    )


def count_failures(asked: Iterable[Asked]) -> dict[str, int]:
    """Return name of an error -> edits that ended with it."""
    return dict(Counter(each.error for each in asked if each.error))


def sameness(asked: Iterable[Asked], alone: Mapping[int, Reply]) -> Sameness:
    """Compare replies with those that the same edits got alone.

    Args:
        asked: edits; those that failed are not compared.
        alone: number of an edit -> its reply.
    """
    pairs = [(each, alone[each.edit.number]) for each in asked if each.result is not None and each.edit.number in alone]
    differing = sorted({each.edit.number for each, expected in pairs if each.reply != expected})
    return Sameness(
        n_compared=len(pairs),
        n_identical=sum(each.reply == expected for each, expected in pairs),
        differing=tuple(differing[:_MOST_NAMED]),
    )


def speed_shares(asked: Iterable[Asked], alone_s: Mapping[int, float]) -> Sequence[float]:
    """Return for each client which share of the speed that its edits have alone they had on average.

    Args:
        asked: edits that were answered.
        alone_s: number of an edit -> seconds that it takes alone.
    """
    shares: dict[int, list[float]] = {}
    for each in asked:
        if each.result is not None and each.edit.number in alone_s:
            share = alone_s[each.edit.number] / (each.ended_s - each.asked_s)
            shares.setdefault(each.client, []).append(share)
    return [statistics.mean(shares[client]) for client in sorted(shares)]


def jain(shares: Sequence[float]) -> float:
    """Return Jain's index of fairness: 1 when all shares are equal, 1 over their number when one has everything.

    R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared
    Computer Systems, DEC-TR-301, 1984.
    """
    total = sum(shares)
    return total * total / (len(shares) * sum(share * share for share in shares)) if total else 1.0
