"""What a reply did to its source is expected of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.engine.substitution import Substitutions


def rewritten(substitutions: Substitutions, text: str) -> str:
    """Return a text as it is expected in the reply."""
    for found in reversed(substitutions.rewrite(text)):
        text = text[: found.start] + found.new + text[found.end :]
    return text


def taught(*changes: tuple[str, str]) -> Substitutions:
    """Learn from changes."""
    substitutions = Substitutions()
    for old, new in changes:
        substitutions.learn(old, new)
    return substitutions


@pytest.mark.parametrize(
    ("changes", "text", "expected"),
    [
        pytest.param(
            [("x = subtotal + 1\n", "x = running_total + 1\n")],
            "print(subtotal, sub, subtotals)",
            "print(running_total, sub, subtotals)",
            id="a renamed identifier, after one sighting",
        ),
        pytest.param(
            [("a = total.x\n", "a = amount.x\n")],
            "Total TOTAL_SUM get_total totals",
            "Amount AMOUNT_SUM get_amount totals",
            id="its relatives",
        ),
        pytest.param(
            [("x = count + 1\n", "x = len(items) + 1\n")],
            "y = count\n",
            "y = len(items)\n",
            id="an identifier that became more than one word",
        ),
        pytest.param(
            [("f('a', 1)\n", 'f("a", 1)\n')], "x = ['b']\n", 'x = ["b"]\n', id="quotes, of which one change has two"
        ),
        pytest.param(
            [("add(1, 2)\n", "add(context, 1, 2)\n"), ("x = add(3, 4)\n", "x = add(context, 3, 4)\n")],
            "y = add(5, 6) + sub(7, 8)\n",
            "y = add(context, 5, 6) + sub(7, 8)\n",
            id="an argument added twice, by what stands around it",
        ),
        pytest.param(
            [
                ('"a": 1\n  },\n  {', '"a": 1,\n    "b": 2\n  },\n  {'),
                ('"a": 5\n  },\n  {', '"a": 5,\n    "b": 2\n  },\n  {'),
            ],
            '"a": 7\n  },\n  {\n    "a": 8',
            '"a": 7,\n    "b": 2\n  },\n  {\n    "a": 8',
            id="a field added twice",
        ),
        pytest.param(
            [("a = 1;\nb", "a = 1\nb"), ("c = 2;\nd", "c = 2\nd")], "e = 3;\nf", "e = 3\nf", id="a deletion seen twice"
        ),
        pytest.param(
            [("\n    x = 1\n    y", "\n  x = 1\n  y"), ("\n        z = 1\n", "\n    z = 1\n")],
            "\n            deep\n    shallow\nnone\n",
            "\n      deep\n  shallow\nnone\n",
            id="indentation halved",
        ),
        pytest.param(
            [("\nx = 1\n    y", "\n    x = 1\n        y"), ("\nz = 1\n", "\n    z = 1\n")],
            "\nnone\n  two\n\n",
            "\n    none\n      two\n\n",
            id="indentation by four more",
        ),
    ],
)
def test_rules(changes: list[tuple[str, str]], text: str, expected: str) -> None:
    """Each kind of change that repeats is expected again, and nothing else is touched."""
    assert expected == rewritten(taught(*changes), text)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param([("add(1, 2)\n", "add(context, 1, 2)\n")], id="an insertion seen once"),
        pytest.param([("\n    x\n", "\n  x\n")], id="an indentation seen once"),
        pytest.param([("a b\n", "a  b\n"), ("a b\n", "a  b\n")], id="blanks alone"),
        pytest.param([("x\n" * 300, "y\n" * 300)], id="a text too long to be a substitution"),
        pytest.param([("same\n", "same\n")], id="no change"),
    ],
)
def test_no_rule(changes: list[tuple[str, str]]) -> None:
    """What may be chance is no rule."""
    text = "sub(1, 2)\n    x\na b\nx\nsame\n"
    assert text == rewritten(taught(*changes), text)


def test_a_rule_that_is_denied_is_dropped_and_may_come_back() -> None:
    """Two denials against one sighting end a rule; the next sightings bring it back."""
    substitutions = taught(("a total\n", "a amount\n"))
    (found,) = substitutions.rewrite("b total\n")
    found.standing.n_denied += 2
    assert "b total\n" == rewritten(substitutions, "b total\n")
    for _ in range(2):
        substitutions.learn("c total\n", "c amount\n")
    assert "b amount\n" == rewritten(substitutions, "b total\n")


def test_another_new_name_replaces_the_rule() -> None:
    """The latest sighting says what an identifier becomes."""
    substitutions = taught(("a total\n", "a amount\n"), ("b total\n", "b price\n"))
    assert "c price\n" == rewritten(substitutions, "c total\n")


def test_rules_are_few() -> None:
    """However much is renamed, the number of rules is bounded; the oldest go."""
    changes = [(f"a name{n}x\n", f"a other{n}x\n") for n in range(100)]
    substitutions = taught(*changes)
    assert len(substitutions) <= 96
    assert "name0x other99x\n" == rewritten(substitutions, "name0x name99x\n")


texts = st.text(alphabet="ab_AB 1\n'\"(,é\u0301", max_size=30)


@given(changes=st.lists(st.tuples(texts, texts), max_size=4), text=texts)
def test_any_change_is_taken(changes: list[tuple[str, str]], text: str) -> None:
    """Whatever was changed, rewrites lie in the text, in order, without overlaps."""
    ends = 0
    for found in taught(*changes).rewrite(text):
        assert ends <= found.start <= found.end <= len(text)
        ends = found.end
