"""Names that a model takes for each other are asked for more often."""

from __future__ import annotations

from random import Random

from training.alike import PREFERRED, among, resembling


def test_names_that_begin_alike_resemble_each_other() -> None:
    """A name and a longer one that begins with it are alike; short common beginnings are not enough."""
    assert {"check", "check:js"} == resembling(["check", "name", "check:js", "rows", "row"])
    assert {"test_bind_fails", "test_bind_works"} == resembling(["test_bind_works", "test_bind_fails", "test_all"])
    assert set() == resembling(["test_one", "text_one", "a", "ab"])


def test_names_that_are_alike_are_tried_first_at_times() -> None:
    """All names are tried, any may be first, and those with one like them are first more often than by chance."""
    names = {"check", "check:js", *(f"{letter}_name" for letter in "abcdefgh")}
    orders = [among(names, Random(seed)) for seed in range(300)]
    assert all(set(order) == names for order in orders)
    firsts = [order[0] for order in orders]
    assert set(firsts) == names
    assert sum(first.startswith("check") for first in firsts) > PREFERRED * len(orders)
