"""What became of edits whose right answers are known, one by one and summed up: the JSON of `plgd bench --edits`."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from plgd.bench.results import Environment, Record

__all__ = ("NO_CHANGE", "EditOutcome", "EditsResult", "Speedup", "Tally", "group_of", "summarize", "tally")

# Kinds of edit whose right answer is the text as it was.
NO_CHANGE: Final = ("no_change", "nothing")
TWO_EDITS: Final = "two_edits"
# Lines of a text, from, up to.
_LENGTHS: Final = ((1, 12), (12, 30), (30, 80), (80, 10**9))


class EditOutcome(Record, frozen=True):
    """One edit.

    Attributes:
        name: what the suite calls it.
        kind: of edit.
        phrasing: `seen` or `unseen` in training; empty where that is no question.
        ranged: lines were given.
        n_lines: of the text.
        status: what the daemon said: `proposed`, `no_change`, `truncated` or `rejected_output`.
        exact: the new text is a right answer, byte for byte.
        ended: the reply ended by itself.
        parses: the new text can be parsed; None where the right answer cannot, or nothing was proposed.
        damage: lines changed that no right answer changes.
        seconds: from the request to the answer; 0 when it was not timed.
        n_tokens: of the reply.
        n_rounds: passes of the model in the reply; 0 when they were not counted.
    """

    name: str
    kind: str
    phrasing: str
    ranged: bool
    n_lines: int
    status: str
    exact: bool
    ended: bool
    parses: bool | None
    damage: tuple[str, ...]
    seconds: float = 0.0
    n_tokens: int = 0
    n_rounds: int = 0


class Tally(Record, frozen=True):
    """Counts of outcomes.

    Attributes:
        n: edits.
        n_exact: right, byte for byte.
        n_ended: the reply ended by itself.
        n_parsed: could be parsed.
        n_parsable: of how many that is known.
        n_damaged: something was changed that was not asked for.
    """

    n: int
    n_exact: int
    n_ended: int
    n_parsed: int
    n_parsable: int
    n_damaged: int


class Speedup(Record, frozen=True):
    """Edits with and without drafting, the same tokens to write.

    Attributes:
        n_edits: that were timed.
        tokens_per_round: committed tokens over rounds, next tokens included: the acceptance length.
        decode_ms: of all replies, drafted.
        plain_decode_ms: of the same replies with policy `off`.
        total_ms: of all edits, prompts included.
        plain_total_ms: the same with policy `off`.
        n_same: edits with the same text both ways.
    """

    n_edits: int
    tokens_per_round: float
    decode_ms: float
    plain_decode_ms: float
    total_ms: float
    plain_total_ms: float
    n_same: int


class EditsResult(Record, frozen=True):
    """What a suite came to.

    Attributes:
        suite: its name.
        environment: what it was run on; None where no part of plgd ran the model.
        everything: all edits.
        groups: by what they are grouped by (`kind`, `phrasing`, `scope`, `lines`) and the group's name.
        n_no_change: edits whose right answer is the text as it was.
        n_kept: of those, how many left it as it was.
        median_s: seconds an edit took.
        tokens_per_round: over all replies; 0 when rounds were not counted.
        speedup: against plain decoding, where that was asked for.
        outcomes: one by one.
    """

    suite: str
    environment: Environment | None
    everything: Tally
    groups: dict[str, dict[str, Tally]]
    n_no_change: int
    n_kept: int
    median_s: float
    tokens_per_round: float
    speedup: Speedup | None
    outcomes: tuple[EditOutcome, ...]


def tally(outcomes: Iterable[EditOutcome]) -> Tally:
    """Count."""
    found = tuple(outcomes)
    parsable = [outcome.parses for outcome in found if outcome.parses is not None]
    return Tally(
        n=len(found),
        n_exact=sum(outcome.exact for outcome in found),
        n_ended=sum(outcome.ended for outcome in found),
        n_parsed=sum(parsable),
        n_parsable=len(parsable),
        n_damaged=sum(bool(outcome.damage) for outcome in found),
    )


def summarize(
    suite: str,
    outcomes: Sequence[EditOutcome],
    *,
    environment: Environment | None = None,
    speedup: Speedup | None = None,
) -> EditsResult:
    """Sum a suite's outcomes up."""
    keys: dict[str, Callable[[EditOutcome], str]] = {
        "kind": lambda outcome: group_of(outcome.kind),
        "phrasing": lambda outcome: outcome.phrasing,
        "scope": lambda outcome: "lines" if outcome.ranged else "whole",
        "lines": lambda outcome: _length(outcome.n_lines),
    }
    n_rounds = sum(outcome.n_rounds for outcome in outcomes)
    idle = [outcome for outcome in outcomes if outcome.kind in NO_CHANGE]
    return EditsResult(
        suite=suite,
        environment=environment,
        everything=tally(outcomes),
        groups={name: _grouped(outcomes, key) for name, key in keys.items()},
        n_no_change=len(idle),
        n_kept=sum(outcome.exact for outcome in idle),
        median_s=statistics.median([outcome.seconds for outcome in outcomes] or [0.0]),
        tokens_per_round=sum(outcome.n_tokens for outcome in outcomes) / n_rounds if n_rounds else 0.0,
        speedup=speedup,
        outcomes=tuple(outcomes),
    )


def group_of(kind: str) -> str:
    """Return the kind that edits of a kind are counted under: those that ask for two changes are one kind."""
    return TWO_EDITS if "+" in kind else kind


def _grouped(outcomes: Sequence[EditOutcome], key: Callable[[EditOutcome], str]) -> dict[str, Tally]:
    groups: dict[str, list[EditOutcome]] = {}
    for outcome in outcomes:
        groups.setdefault(key(outcome), []).append(outcome)
    return {name: tally(groups[name]) for name in sorted(groups)}


def _length(n_lines: int) -> str:
    first, end = next(length for length in _LENGTHS if length[0] <= n_lines < length[1])
    return f"{first:>3} and more" if end == _LENGTHS[-1][1] else f"{first:>3} to {end - 1}"
