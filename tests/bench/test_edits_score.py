"""Misses, damage and broken syntax are told apart."""

from __future__ import annotations

import pytest

from plgd.bench.edits_score import find_damage, parses

FILE = "import os\n\na = 1\nb = 2\n\n\ndef f(x):\n    return x\n"


@pytest.mark.parametrize(
    ("answer", "after", "damage"),
    [
        pytest.param("b = 3", "b = 3", [], id="right"),
        pytest.param("b = 3", "b = 2", [], id="nothing done"),
        pytest.param("b = 3", "b = 4", [], id="wrong in the right place"),
        pytest.param("b = 3", "b = 4\nc = 5", [], id="too much in the right place"),
        pytest.param("b = 3", "", [], id="gone from the right place"),
        pytest.param("", "b = 2", [], id="not deleted"),
        pytest.param("b = 2\nc = 3", "b = 2", [], id="not inserted"),
    ],
)
def test_a_miss_is_no_damage(answer: str, after: str, damage: list[str]) -> None:
    """What is wrong where the change was asked for damages nothing."""
    source, right, found = (FILE.replace("b = 2\n", f"{line}\n" if line else "") for line in ("b = 2", answer, after))
    assert damage == find_damage(source, [right], found)


@pytest.mark.parametrize(
    ("after", "damage"),
    [
        pytest.param(FILE.replace("b = 2", "b = 3").replace("a = 1", "a = 9"), ["a = 1"], id="beside the asked one"),
        pytest.param(FILE.replace("return x", "return y"), ["    return x"], id="instead of the asked one"),
        pytest.param(FILE.replace("b = 2", "b = 3") + "\nprint(f)\n", ["print(f)"], id="new lines elsewhere"),
        pytest.param(FILE.replace("b = 2", "b = 3").replace("import os\n", ""), ["import os"], id="lines lost"),
    ],
)
def test_what_was_not_asked_for_is_damage(after: str, damage: list[str]) -> None:
    """A line that the right answer keeps, and a new line where it has none, is damage, whatever else was done."""
    assert damage == find_damage(FILE, [FILE.replace("b = 2", "b = 3")], after)


def test_the_asked_lines_in_another_place() -> None:
    """A line that was asked for but came elsewhere is a miss."""
    assert [] == find_damage(FILE, ["import re\n" + FILE], FILE.replace("b = 2\n", "b = 2\nimport re\n"))


def test_blank_lines_are_no_damage() -> None:
    """A blank line more or less elsewhere is a miss."""
    assert [] == find_damage(FILE, [FILE.replace("b = 2", "b = 3")], FILE.replace("b = 2\n\n\n", "b = 3\n\n\n\n"))


def test_any_right_answer_will_do() -> None:
    """Of several right answers the nearest one counts."""
    other = FILE.replace("a = 1", "a = 9")
    assert [] == find_damage(FILE, [FILE.replace("b = 2", "b = 3"), other], other)


def test_nothing_to_do() -> None:
    """Where the right answer is the text as it was, every change is damage."""
    assert ["a = 1"] == find_damage(FILE, [FILE], FILE.replace("a = 1", "a = 2"))


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("\ufeffx = '\\d'\n", "python", True),
        ("x = = 1\n", "python", False),
        ("x = " + "(" * 1000 + "1" + ")" * 1000, "python", False),
        ('{"a": 1}', "json", True),
        ('{"a": 1,}', "json", False),
        ("a = 1\n", "toml", True),
        ("a = \n", "toml", False),
        ("# Title\n", "markdown", None),
    ],
)
def test_what_can_be_parsed(text: str, language: str, expected: bool | None) -> None:
    """Python, JSON and TOML are parsed; of other languages nothing is said."""
    assert expected is parses(text, language)
