"""The instruction of an edit: a phrasing of its kind, said in some manner."""

from __future__ import annotations

from random import Random
from typing import Final

from training.edit import Edit, Passage
from training.manner import SEEN, UNSEEN, is_imperative, lower, say, slip
from training.phrasing import choose, fill, load_phrasings, settle
from training.variation import vary

__all__ = ("instruct",)

# Shares of instructions.
LOWER_CASE: Final = 0.4
MISTYPED: Final = 0.06
UNSEEN_MANNER: Final = 0.5


def instruct(edit: Edit, passage: Passage, rng: Random, *, unseen: bool) -> str | None:
    """Ask for an edit.

    Args:
        edit: what is to be done.
        passage: to what.
        rng: draws the words.
        unseen: take a phrasing that training never sees.

    Returns:
        The instruction, or None when no phrasing fits what must be said.
    """
    template = choose(load_phrasings()[edit.kind], edit, rng, unseen=unseen)
    if template is None:
        return None
    text = settle(template.text, rng)
    text = text if unseen else vary(text, rng)
    imperative = is_imperative(text)
    if rng.random() < LOWER_CASE:
        text = lower(text)
    if rng.random() < MISTYPED:
        text = slip(text, rng)
    words = {**edit.hints, **edit.slots}
    text = fill(text, words, rng)
    # Behind bare words nothing may stand that could be more of them.
    imperative = imperative and not any(" " in word and text.endswith(word) for word in words.values())
    manner = UNSEEN if unseen and rng.random() < UNSEEN_MANNER else SEEN
    return say(text, passage.name, rng, manner, whole=passage.whole, imperative=imperative)
