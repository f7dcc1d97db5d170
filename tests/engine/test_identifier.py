"""Identifiers are renamed in their own case."""

from __future__ import annotations

import pytest

from plgd.engine.identifier import is_identifier, replace_parts, split_parts


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("total_sum", ["total", "sum"]),
        ("TotalSum", ["total", "sum"]),
        ("TOTAL_SUM", ["total", "sum"]),
        ("HTTPServer2_name", ["http", "server", "2", "name"]),
        ("x", ["x"]),
        ("größe", ["größe"]),
        ("_", []),
    ],
)
def test_parts(identifier: str, parts: list[str]) -> None:
    """Underscores, capitals and digits part an identifier."""
    assert parts == split_parts(identifier)


@pytest.mark.parametrize(
    ("identifier", "renamed"),
    [
        ("total", "running_sum"),
        ("Total", "RunningSum"),
        ("TOTAL", "RUNNING_SUM"),
        ("TOTAL_COUNT", "RUNNING_SUM_COUNT"),
        ("get_total", "get_running_sum"),
        ("getTotal", "getRunningSum"),
        ("totalCount", "runningSumCount"),
        ("my_total_2", "my_running_sum_2"),
        ("totals", None),
        ("subtotal", None),
    ],
)
def test_parts_are_replaced_in_the_same_case(identifier: str, renamed: str | None) -> None:
    """Snake, camel and capital case stay what they are; other words that contain the letters are left alone."""
    assert renamed == replace_parts(identifier, ["total"], ["running", "sum"])


def test_what_is_an_identifier() -> None:
    """A name begins with a letter or an underscore."""
    assert is_identifier("a_1")
    assert not is_identifier("1a")
    assert not is_identifier("a.b")
    assert not is_identifier("")
