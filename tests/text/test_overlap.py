"""Where two texts differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.text.overlap import Splice, common_prefix, find_splice

SHORT = st.text(alphabet="ab", max_size=12)


@given(SHORT, SHORT)
def test_the_prefix_is_the_longest(old: str, new: str) -> None:
    """Both begin with the common prefix, and differ or end behind it."""
    n = common_prefix(old, new)
    assert old[:n] == new[:n]
    assert n == min(len(old), len(new)) or old[n] != new[n]


@given(SHORT, SHORT)
def test_the_splice_makes_the_new_text(old: str, new: str) -> None:
    """Putting the new stretch in the place of the old one gives the new text; equal texts have no splice."""
    splice = find_splice(old, new)
    if splice is None:
        assert old == new
    else:
        assert old != new
        assert new == old[: splice.start] + new[splice.start : splice.new_end] + old[splice.old_end :]
        assert splice.start <= min(splice.old_end, splice.new_end)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("abc", "abxc", Splice(2, 2, 3)),
        ("abc", "ac", Splice(1, 2, 1)),
        ("", "a", Splice(0, 0, 1)),
        ("aa", "aaa", Splice(2, 2, 3)),
        ("aaa", "a", Splice(1, 3, 1)),
    ],
)
def test_the_splice_is_the_shortest(old: str, new: str, expected: Splice) -> None:
    """What both sides have in common is outside of the splice; of several places it is the last."""
    assert expected == find_splice(old, new)


def test_lists_have_prefixes_too() -> None:
    """Tokens are compared as characters are."""
    assert 2 == common_prefix([1, 2, 3], [1, 2, 4, 5])
