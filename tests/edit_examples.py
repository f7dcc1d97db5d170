"""Examples of edits that are computed for training: a small text, and what it must become."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from plgd.edits.language import language_of
from training.edit import Edit, Passage
from training.instruction import instruct
from training.operations.table import OPERATIONS

__all__ = ("Example", "check", "edit_of", "right_answer")

N_SEEDS = 600


@dataclass(frozen=True)
class Example:
    """An edit whose right answer is known but for the words that were drawn for it.

    Attributes:
        kind: of the edit.
        name: of the file.
        text: before it.
        expected: after it; `<new>` stands for the slot or hint `new`. The same as `text` when the operation prepares
            the text that is shown.
        fixed: slots that must have been drawn so.
    """

    kind: str
    name: str
    text: str
    expected: str
    fixed: tuple[tuple[str, str], ...] = ()


def edit_of(example: Example) -> tuple[Edit, Passage]:
    """Return the first edit of the example's kind that some seed brings.

    Raises:
        AssertionError: no seed brings one.
    """
    passage = Passage(example.text, language_of(example.name), example.name)
    operations = [one for one in OPERATIONS if example.kind in one.kinds and passage.language in one.languages]
    for seed in range(N_SEEDS):
        for operation in operations:
            edit = operation.make(passage, Random(seed)) if operation.needs in passage.text else None
            if edit is None or edit.kind != example.kind:
                continue
            words = {**edit.hints, **edit.slots}
            if all(words.get(name) == value for name, value in example.fixed):
                return edit, passage
    raise AssertionError(f"no {example.kind} for {example.name}")


def right_answer(example: Example, edit: Edit) -> str:
    """Return what the example must become with the words that were drawn."""
    text = example.expected
    for name, value in {**edit.hints, **edit.slots}.items():
        text = text.replace(f"<{name}>", value)
    return text


def check(example: Example) -> None:
    """Make the example's edit, compare it with the right answer, and ask for it in both kinds of phrasings.

    Raises:
        AssertionError: something is wrong.
    """
    edit, passage = edit_of(example)
    assert right_answer(example, edit) == edit.new_text
    if example.text == example.expected and example.kind != "no_change":
        assert edit.shown is not None
        assert edit.shown != edit.new_text
    for unseen in (False, True):
        instruction = instruct(edit, passage, Random(1), unseen=unseen)
        assert instruction
        assert "{" not in instruction.replace("{}", "") or any("{" in word for word in edit.slots.values())
