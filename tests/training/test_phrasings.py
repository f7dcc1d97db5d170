"""Instructions are said in many ways, and some ways are kept for the examination."""

from __future__ import annotations

import re
from random import Random

import pytest

from training.edit import Edit, Passage
from training.instruction import instruct
from training.manner import SEEN, is_imperative, say, slip
from training.operations.table import OPERATIONS
from training.phrasing import KindPhrasings, Template, choose, fill, load_phrasings, settle

KINDS = sorted({kind for operation in OPERATIONS for kind in operation.kinds})


def settled(text: str) -> list[str]:
    """Return a phrasing in every way that its choices allow."""
    choice = re.search(r"\[([^\[\]]*\|[^\[\]]*)\]", text)
    if choice is None:
        return [text]
    return [
        one for word in choice[1].split("|") for one in settled(text[: choice.start()] + word + text[choice.end() :])
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_asked_for_in_many_ways(kind: str) -> None:
    """A kind of edit has at least 25 phrasings for training and 8 others for the examination."""
    phrasings = load_phrasings()[kind]
    assert len(phrasings.seen) >= 25
    assert len(phrasings.unseen) >= 8
    assert not set(phrasings.seen) & set(phrasings.unseen)


def test_no_phrasing_is_for_an_edit_that_nothing_makes() -> None:
    """Every section is a kind of some operation, or lends its lines to one."""
    lent = {"rename", "set", "swap_words", "delete", "delete_line", "json_remove_item_plain"}
    lent |= {"set_spoken", "drop_spoken", "delete_doing", "rename_doing"}
    assert set(load_phrasings()) == set(KINDS) | lent


def test_unseen_phrasings_are_not_seen_in_other_clothes() -> None:
    """No phrasing of the examination is one of training's with other capitals, quotes or stops, whatever is chosen."""

    def bare(templates: tuple[Template, ...]) -> set[str]:
        texts = [text for template in templates for text in settled(template.text)]
        return {re.sub(r"[^\w{}]+", " ", text.lower()).strip() for text in texts}

    for kind, phrasings in load_phrasings().items():
        assert not bare(phrasings.seen) & bare(phrasings.unseen), kind


def test_phrasings_of_the_examination_know_no_other_slots() -> None:
    """A slot that no phrasing of training has would never be filled."""
    for kind, phrasings in load_phrasings().items():
        known = frozenset().union(*(one.slots for one in phrasings.seen))
        assert all(one.slots <= known for one in phrasings.unseen), kind


def test_a_phrasing_says_what_must_be_said_and_nothing_unknown() -> None:
    """Slots are all used, hints may be, and a line with another slot is never chosen."""
    lines = ("{a}", "{a} {b}", "{a} {c}", "nothing")
    phrasings = KindPhrasings(tuple(map(Template.of, lines)), ())
    edit = Edit("any", "", {"a": "1"}, {"b": "2"})
    chosen = {found.text for seed in range(50) if (found := choose(phrasings, edit, Random(seed), unseen=False))}
    assert {"{a}", "{a} {b}"} == chosen
    assert choose(phrasings, edit, Random(0), unseen=True) is None


def test_choices_and_slots_are_filled() -> None:
    """A choice becomes one of its words, a slot its word as it is."""
    assert settle("[Put|Set] [it|] here", Random(2)) in {"Put it here", "Set it here", "Put  here", "Set  here"}
    assert settle("- [x] stays", Random(1)) == "- [x] stays"
    assert {fill("{word=} {word}", {"word": "a b{}"}, Random(seed)).split()[0] for seed in range(30)} == {"a"}
    quoted = {fill("{word}", {"word": "it's"}, Random(seed)) for seed in range(60)}
    assert {"it's", "`it's`", '"it\'s"'} == quoted


def test_numbers_and_truth_are_not_made_texts() -> None:
    """A number, a truth value or nothing stands bare or in backticks, never in quotes."""
    for word in ("30", "1.5", "true", "None"):
        assert {word, f"`{word}`"} == {fill("{word}", {"word": word}, Random(seed)) for seed in range(80)}


def test_words_in_slots_are_never_mistyped_or_lowered() -> None:
    """Slips and small letters change the phrasing's own words alone."""
    edit = Edit("rename_class", "", {"old": "Alphabet", "new": "Container"})
    passage = Passage("", "python", "a.py")
    for seed in range(300):
        instruction = instruct(edit, passage, Random(seed), unseen=bool(seed % 2))
        assert instruction is not None
        assert "Alphabet" in instruction
        assert "Container" in instruction
    assert slip("{letters} {words=}", Random(1)) == "{letters} {words=}"
    assert slip("rename {letters}", Random(1)) != "rename {letters}"


def test_manners_keep_the_instruction() -> None:
    """Whatever stands around an instruction, its words are there; given code keeps its lines."""
    for seed in range(200):
        said = say("Rename a_b to c_d", "x.py", Random(seed), SEEN, whole=bool(seed % 2), imperative=True)
        assert "ename a_b to c_d" in said
        code = say("Add this:\nx = 1", "x.py", Random(seed), SEEN, whole=True, imperative=True)
        assert code.endswith("this:\nx = 1")
    assert is_imperative("Rename a")
    assert not is_imperative("a -> b")
