"""Typos have one correction each."""

from __future__ import annotations

import re
from random import Random

from training.typos import mistyped, with_typos

PROSE = "Please send the report to the committee before the meeting on Friday, and separate the two invoices.\n"


def test_a_slip_makes_no_other_word() -> None:
    """A word of everyday prose never becomes another one, nor stays what it is."""
    for word in ("there", "quiet", "where", "which", "trial", "please", "committee"):
        for seed in range(200):
            wrong = mistyped(word, Random(seed))
            assert wrong not in {word, "three", "quite", "from", "trail", "their", "were"}
            assert wrong[0] == word[0]


def test_words_that_few_can_spell_stay() -> None:
    """Names, terms and addresses are never mistyped, since nobody could say what was meant."""
    rare = (
        "The zyklotron of qubitland calls https://example.com/please and `please_do` for frobnication, please there.\n"
    )
    for seed in range(100):
        shown = with_typos(rare * 4, Random(seed), 6)
        assert shown is not None
        for kept in ("zyklotron", "qubitland", "https://example.com/please", "`please_do`", "frobnication"):
            assert 4 == shown.count(kept)


def test_usual_misspellings_are_among_them() -> None:
    """What people often misspell is misspelled as they do."""
    found = {word for seed in range(300) for word in re.findall(r"\w+", with_typos(PROSE, Random(seed), 4) or "")}
    assert {"seperate", "commitee", "teh", "befroe"} <= found
