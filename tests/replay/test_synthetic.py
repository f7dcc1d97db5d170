"""Synthetic edits change what their name says and nothing else."""

from __future__ import annotations

import json

import pytest

from plgd.bench.material.pairs import FilePair
from plgd.bench.material.synthetic import ADVERSARIAL, SYNTHETIC, edit_of, unforeseen

PYTHON = '''"""Totals."""


def count(items):
    # how many
    total = len(items)
    return total


def add(items):
    # the sum
    total = sum(items)
    print("sum", total)
    return total


class Total:
    # holds a total
    def show(self):
        print("here", self.total)


def show(total):
    # on the screen
    print("total", total)
    print('also')
    print("end")
'''


def edited(kind: str, text: str = PYTHON, path: str = "a.py") -> str:
    """Return the new text of a synthetic edit."""
    pair = edit_of(FilePair("p", path, text, text), kind)
    assert pair is not None
    return pair.after


def test_rename_reaches_every_use_and_no_other_word() -> None:
    """A rename leaves nothing of the old name."""
    assert PYTHON.replace("total", "current_total") == edited("rename")


def test_add_field_to_every_object() -> None:
    """Each object of a JSON file gets one field at its end."""
    text = json.dumps([{"a": 1, "b": {"c": []}}])
    expected = [{"a": 1, "b": {"c": [], "enabled": True}, "enabled": True}]
    assert expected == json.loads(edited("add-field", text, "a.json"))


def test_add_argument_to_every_call() -> None:
    """In code, each call of the function that is called most gets an argument, its definition does not."""
    after = edited("add-field")
    assert 'print(context, "sum", total)' in after
    assert PYTHON.count("print(") == after.count("print(context, ")


def test_re_indent_halves_fours() -> None:
    """An indentation by four becomes one by two; the rest of each line stays."""
    assert [line.lstrip() for line in PYTHON.split("\n")] == [line.lstrip() for line in edited("re-indent").split("\n")]
    assert "\n  total = sum(items)\n" in edited("re-indent")
    assert "\n    print(" in edited("re-indent")


def test_quote_style_turns_the_common_quotes() -> None:
    """The more common quotes become the others; docstrings stay."""
    assert "print('sum', total)" in edited("quote-style")
    assert edited("quote-style").startswith('"""Totals."""')


def test_reorder_keeps_every_line() -> None:
    """Functions change places and lose nothing."""
    assert edited("reorder") != PYTHON
    assert sorted(PYTHON.split("\n")) == sorted(edited("reorder").split("\n"))


def test_delete_takes_whole_functions() -> None:
    """Every third block goes."""
    assert "def add" not in edited("delete")
    assert "def count" in edited("delete")


def test_comments_are_translated_and_code_is_not() -> None:
    """Words in comments change; code does not."""
    after = edited("translate-comments")
    assert "# woh ynam" in after
    code = [line for line in PYTHON.split("\n") if "#" not in line]
    assert code == [line for line in after.split("\n") if "#" not in line]


@pytest.mark.parametrize("kind", SYNTHETIC)
def test_a_text_with_nothing_to_edit_is_left_out(kind: str) -> None:
    """Where an edit has no place, there is no trace of it."""
    assert edit_of(FilePair("p", "a.md", "Hello.\n", "Hello.\n"), kind) is None


@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_unforeseen_replies_keep_the_older_text(kind: str) -> None:
    """Only the reply has nothing to do with the file; it is the same every time."""
    pair, other = FilePair("p", "a.py", PYTHON, PYTHON), FilePair("q", "b.md", "old words", "some new words here\n")
    made = unforeseen(pair, other, kind)
    assert PYTHON == made.before
    assert made.after not in (PYTHON, "")
    assert made == unforeseen(pair, other, kind)
