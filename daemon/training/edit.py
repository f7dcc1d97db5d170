"""What an operation makes of a text: the right answer, and the words that an instruction for it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

__all__ = ("CODE", "Edit", "Operation", "Operator", "Passage")

CODE: Final = ("python", "javascript", "typescript")


@dataclass(frozen=True, slots=True)
class Passage:
    r"""A text to edit: a whole file or some of its lines.

    Attributes:
        text: as the model sees it, every line ending in `\n`.
        language: as `plgd.edits.language` names it.
        name: the file's.
        whole: whether it is the whole file.
    """

    text: str
    language: str
    name: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a passage.

    Attributes:
        kind: what it is; the phrasings are found by it.
        new_text: the passage after it.
        slots: words that every instruction must hold, by the name of their place in a phrasing.
        hints: words that it may hold.
        ordinal: whether it counts (`the second paragraph`), so that it means something else in a part of the text.
        shown: what the passage is before the edit, where the operation had to prepare it; None for as it came.
    """

    kind: str
    new_text: str
    slots: Mapping[str, str] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    ordinal: bool = False
    shown: str | None = None


Operator = Callable[[Passage, Random], Edit | None]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and when to use it.

    Attributes:
        kind: its name, and that of the edits that it makes.
        make: makes one, or finds nothing to do; draws from the generator alone, so that a seed repeats it.
        languages: of the passages that it understands.
        weight: how often it is tried, relative to others.
        needs: a string that the text must contain, tested before anything costly.
        makes: the kinds of its edits, where they are not its own name.
    """

    kind: str
    make: Operator
    languages: tuple[str, ...]
    weight: float = 1.0
    needs: str = ""
    makes: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the edits that it makes."""
        return self.makes or (self.kind,)
