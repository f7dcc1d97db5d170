"""New names are such as people choose, and words of prose are replaced by words of their kind."""

from __future__ import annotations

from random import Random

import pytest

from training.facts import FACTS, new_fact_value, stated
from training.near_words import near_phrase, near_word
from training.new_names import new_key, new_name, spoken
from training.spoken import doing, said

SEEDS = range(200)


@pytest.mark.parametrize(
    ("old", "role", "expected"),
    [
        ("cfg", "variable", "config"),
        ("user_id", "variable", "member_id"),
        ("getPrice", "function", "fetchPrice"),
        ("FileHandler", "class", "FileManager"),
        ("MAX_SIZE", "variable", "MAXIMUM_SIZE"),
        ("v", "variable", "value"),
    ],
)
def test_a_new_name_is_near_the_old_one_and_in_its_case(old: str, role: str, expected: str) -> None:
    """Short forms are written out, words are exchanged for near ones, and letters become words."""
    assert expected in {new_name(old, role, "", Random(seed)) for seed in SEEDS}


def test_a_new_name_is_not_in_the_text() -> None:
    """What the text holds already, a keyword or a builtin is never the new name."""
    names = {new_name("cfg", "variable", "config = raw_cfg", Random(seed)) for seed in SEEDS}
    assert not names & {"config", "raw_cfg", "cfg", "list", "class"}


def test_keys_keep_their_hyphens() -> None:
    """A key with hyphens gets another one of the same style, or of one word."""
    keys = {new_key("max-size", "", Random(seed)) for seed in SEEDS}
    assert "maximum-size" in keys
    assert not [key for key in keys if key and "_" in key]


def test_names_are_said_in_words() -> None:
    """Parts of a name are words, short forms written out."""
    assert spoken("max_upload_size") == "maximum upload size"
    assert spoken("dbHost") == "database host"


def test_words_are_replaced_by_words_of_their_kind() -> None:
    """A word with near ones gets one of them, in the plural too; a stranger gets none."""
    assert {near_word("dinner", Random(seed)) for seed in SEEDS} <= {"lunch", "breakfast", "supper"}
    assert near_word("invoices", Random(1)) in {"bills", "receipts"}
    assert near_word("zzz", Random(1)) is None


def test_phrases_are_whole_groups_around_a_noun() -> None:
    """A phrase begins with its article and ends before a verb, a preposition or a stop."""
    line = "The new manager is in the small garden."
    found = [phrase for seed in SEEDS if (phrase := near_phrase(line, Random(seed)))]
    assert {old for old, _ in found} == {"The new manager", "the small garden"}
    assert all(new[0].isupper() == old[0].isupper() and new != old for old, new in found)
    assert near_phrase("Nothing here.", Random(1)) is None


def test_facts_are_found_by_what_they_state() -> None:
    """Every fact's sentence holds its value where its pattern finds it, and no other fact's pattern matches."""
    for fact in FACTS:
        value = new_fact_value(fact.kind, Random(3))
        sentence = fact.sentence.replace("%", value)
        assert [(one, match[1]) for one in FACTS if (match := one.pattern.search(sentence))] == [(fact, value)]
    assert stated(Random(1)).endswith(".")


def test_things_are_told_by_words_that_mean_nothing_else() -> None:
    """A key or a function is said in words unless another one's name holds the same words."""
    assert said("max_size", ["max_size", "min_size"]) == "maximum size"
    assert said("size", ["size", "max_size"]) is None
    assert said("x1", []) is None
    assert doing("load_user_cfg", []) == "loads user config"
    assert doing("apply_tax", []) == "applies tax"
    assert doing("fetch", []) is None
    assert doing("load_cfg", ["load_config", "load_cfg"]) is None
