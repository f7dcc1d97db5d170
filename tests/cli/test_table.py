"""Numbers and columns for people."""

from __future__ import annotations

import pytest

from plgd.protocol.edits import EditStats
from plgd_cli.answer import summary
from plgd_cli.table import columns, duration, fields, size


@pytest.mark.parametrize(
    ("n_bytes", "expected"),
    [(0, "0 bytes"), (999, "999 bytes"), (5100, "5.1 kB"), (98_400_000, "98 MB"), (4_300_000_000, "4.3 GB")],
)
def test_sizes_have_a_fitting_unit(n_bytes: int, expected: str) -> None:
    """A size is said in the unit that fits it."""
    assert expected == size(n_bytes)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.4, "0 s"), (59.6, "1 min 0 s"), (3599, "59 min 59 s"), (3725, "1 h 2 min"), (180_000, "2 d 2 h")],
)
def test_times_have_their_two_largest_units(seconds: float, expected: str) -> None:
    """A time is said in its two largest units."""
    assert expected == duration(seconds)


def test_columns_line_up() -> None:
    """Cells of a column begin at the same place, and no line ends in blanks."""
    assert "a    bb\nccc  d\n     e\n" == columns([("a", "bb"), ("ccc", "d"), ("", "e")])


def test_unknown_facts_are_left_out() -> None:
    """A fact without a value has no line."""
    assert "name  x\n" == fields([("name", "x"), ("message", "")])


def test_summary_counts_one_token() -> None:
    """The summary says `1 token` and groups thousands."""
    one = EditStats(output_tokens=1, total_ms=40.0, ttft_ms=40.0)
    assert "1 token in 0.0 s, 0 drafted and accepted, first token 0.0 s" == summary(one)
    many = EditStats(output_tokens=12345, accepted_prediction_tokens=12000, total_ms=61_000.0, ttft_ms=950.0)
    assert "12,345 tokens in 61.0 s, 12,000 drafted and accepted, first token 0.9 s" == summary(many)


def test_summary_tells_the_seed() -> None:
    """The summary of a sampled reply ends with the seed that repeats it, 0 included."""
    sampled = EditStats(output_tokens=2, total_ms=40.0, ttft_ms=40.0, seed=0)
    assert "2 tokens in 0.0 s, 0 drafted and accepted, first token 0.0 s, seed 0" == summary(sampled)
