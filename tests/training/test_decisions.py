"""Decisions weigh more than copies."""

from __future__ import annotations

from training.decisions import DECISION, weigh

NEWLINE = 0


def weights(source: str, reply: str) -> dict[int, str]:
    """Return the words of a reply that weigh more than a copy, by their place; `/` ends a line."""
    words = reply.split()
    numbers: dict[str, int] = {"/": NEWLINE}
    tokens = [[numbers.setdefault(word, len(numbers)) for word in text.split()] for text in (source, reply)]
    found = weigh(tokens[0], tokens[1], lambda token: token == NEWLINE).tolist()
    assert len(words) == len(found)
    assert {1.0, DECISION} >= set(found)
    return {place: words[place] for place, weight in enumerate(found) if weight == DECISION}


def test_a_copy_has_no_decisions() -> None:
    """A reply that changes nothing is copies alone."""
    assert weights("a b / c d / end", "a b / c d / end") == {}


def test_a_replacement_and_what_follows_are_decisions() -> None:
    """The words that differ weigh more, and the one at which the copy goes on."""
    assert {3: "new", 4: "name", 5: "="} == weights("x = / old = 1 / y / end", "x = / new name = 1 / y / end")


def test_a_deletion_is_decided_behind_it() -> None:
    """Where lines are left out, the next word weighs more, also at the end."""
    assert {2: "c"} == weights("a / b / c / end", "a / c / end")
    assert {2: "end"} == weights("a / b / end", "a / end")


def test_an_insertion_is_decided_before_and_behind() -> None:
    """New lines weigh more, and the word behind them."""
    assert {2: "b", 3: "/", 4: "c"} == weights("a / c / end", "a / b / c / end")


def test_where_no_change_begins_is_a_decision() -> None:
    """A copy of the word at which a change begins elsewhere weighs more, since it must stay."""
    assert {1: "net", 2: "(", 6: "sub"} == weights("f sub ( / g ( sub / end", "f net ( / g ( sub / end")


def test_a_long_change_is_taken_as_a_whole() -> None:
    """Long blocks that have nothing in common by lines are not compared word by word."""
    old, new = (
        " ".join(f"a{number} same" for number in range(200)),
        " ".join(f"b{number} same" for number in range(200)),
    )
    assert 402 == len(weights(f"{old} / end", f"{new} / end"))
