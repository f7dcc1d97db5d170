"""Phrasings of training are said in other words too."""

from __future__ import annotations

from random import Random

from training.edit import Edit, Passage
from training.instruction import instruct
from training.phrasing import Template, load_phrasings, settle
from training.variation import vary


def test_other_words_keep_the_slots() -> None:
    """However a phrasing is said, it has the slots that it had, in their order or not, and no braces of its own."""
    rng = Random(1)
    for kind, phrasings in load_phrasings().items():
        for template in phrasings.seen:
            for _ in range(3):
                settled = settle(template.text, rng)
                said = vary(settled, rng)
                assert Template.of(settled).slots == Template.of(said).slots, (kind, said)
                assert said.count("{") == settled.count("{"), (kind, said)


def test_verbs_are_exchanged() -> None:
    """What is deleted may be scrapped as well, and what is renamed may be changed."""
    deleted = {vary("Delete the line {line}", Random(seed)) for seed in range(800)}
    assert {"Delete the line {line}", "Scrap the line {line}", "Delete line {line}"} <= deleted
    renamed = {vary("Rename the key {old} to {new}", Random(seed)) for seed in range(800)}
    assert {"Change the key {old} into {new}", "Rename key {old} to {new}"} <= renamed


def test_the_examination_is_phrased_as_it_was_written() -> None:
    """No word of a phrasing that training never sees is exchanged."""
    edit = Edit("delete_prints", "")
    unseen = {template.text.lower().strip(".") for template in load_phrasings()["delete_prints"].unseen}
    passage = Passage("", "python", "a.py")
    found = [instruct(edit, passage, Random(seed), unseen=True) or "" for seed in range(60)]
    assert sum(any(text in said.lower() for text in unseen) for said in found) > 50


def test_nothing_stands_behind_bare_words() -> None:
    """A remark behind words without quotes could be more of them, so there is none."""
    edit = Edit("replace_phrase", "", {"old": "the old words", "new": "some new words"})
    passage = Passage("", "text", "a.txt")
    for seed in range(300):
        said = instruct(edit, passage, Random(seed), unseen=False)
        assert said is not None
        for remark in (" for consistency", ", nothing else", " as agreed", " thx", ". Leave the rest"):
            assert f" some new words{remark}" not in said


def test_no_choice_drops_a_word_that_must_be_said() -> None:
    """What a phrasing may leave out is the old value alone, which nobody needs."""
    for kind, phrasings in load_phrasings().items():
        for template in phrasings.seen + phrasings.unseen:
            for seed in range(4):
                dropped = template.slots - Template.of(settle(template.text, Random(seed))).slots
                assert dropped <= {"old"}, (kind, template.text)
