"""What an instruction says about the words that the reply replaces."""

from __future__ import annotations

import pytest

from plgd.edits.announced import announced

TEXT = "def total(lines, timeout=10):\n    os.remove(path)\n    return sum(lines)  # to total\n"


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Rename total to net_total.", {"total": "net_total"}),
        ("Rename the variable `lines` to `rows`, and 'path' to 'place'", {"lines": "rows", "path": "place"}),
        ("total -> net_total, lines->rows", {"total": "net_total", "lines": "rows"}),
        ("Benenne total in summe um", {"total": "summe"}),
        ("Use pathlib instead of os", {}),
        ("Change the default timeout to 30.", {}),
        ("Rename subtotal to net_total", {}),
        ("Change total to timeout", {}),
        ("Rename tot to net_total", {}),
        ("", {}),
    ],
)
def test_a_pair_of_names_is_a_replacement(instruction: str, expected: dict[str, str]) -> None:
    """Two names with a word such as `to` between them, the first in the text and the second not, are a replacement."""
    assert expected == dict(announced(instruction, TEXT))


def test_a_chain_of_names_is_read_from_left_to_right() -> None:
    """A name that is no replacement may begin one."""
    assert (("total", "net"),) == announced("sums to total to net", TEXT)


def test_a_list_has_an_end() -> None:
    """However many pairs an instruction holds, a handful is drafted from."""
    text = " ".join(f"name{number}" for number in range(100))
    instruction = ", ".join(f"name{number} to other{number}" for number in range(100))
    assert 1 <= len(announced(instruction, text)) <= 8
