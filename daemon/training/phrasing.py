"""Instructions in the words of many people: templates by kind, filled and said in some manner.

A family's templates stand in `phrasings/FAMILY.toml`, one a line. `{old}` is a slot; its words stand bare, in backticks
or in quotes, as the writer is used to; `{old=}` is never quoted. `[a|b|]` is a choice. `like` names other sections
whose lines serve too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Final

from training.edit import Edit

__all__ = ("FOLDER", "KindPhrasings", "Template", "choose", "fill", "load_phrasings", "settle")

FOLDER: Final = Path(__file__).parent / "phrasings"

_SLOT: Final = re.compile(r"\{(\w+)(=?)\}")
_CHOICE: Final = re.compile(r"\[([^\[\]]*\|[^\[\]]*)\]")
_BARE: Final = re.compile(r"-?[\d.]+|true|false|null|True|False|None")
_QUOTES: Final = ("{}", "`{}`", "'{}'", '"{}"', "“{}”")
_QUOTE_WEIGHTS: Final = (50, 30, 8, 10, 2)


@dataclass(frozen=True, slots=True)
class Template:
    """One line of a phrasings file.

    Attributes:
        text: with slots and choices.
        slots: the names of its slots.
    """

    text: str
    slots: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Template:
        """Read a line."""
        return cls(text, frozenset(match[1] for match in _SLOT.finditer(text)))

    def fits(self, edit: Edit) -> bool:
        """Tell whether it says all that must be said and nothing that is not known."""
        return self.slots >= edit.slots.keys() and self.slots <= edit.slots.keys() | edit.hints.keys()


@dataclass(frozen=True, slots=True)
class KindPhrasings:
    """How an edit of one kind is asked for.

    Attributes:
        seen: templates for training.
        unseen: templates that training never sees.
    """

    seen: tuple[Template, ...]
    unseen: tuple[Template, ...]


@cache
def load_phrasings() -> Mapping[str, KindPhrasings]:
    """Read every phrasings file.

    Raises:
        ValueError: a section stands in two files, or `like` names none.
    """
    sections: dict[str, dict[str, Any]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for kind, section in tomllib.loads(path.read_text(encoding="utf-8")).items():
            if kind in sections:
                raise ValueError(f"{path.name}: {kind} stands in two files")
            sections[kind] = section
    return {kind: KindPhrasings(_lines(sections, kind, "seen"), _lines(sections, kind, "unseen")) for kind in sections}


def choose(phrasings: KindPhrasings, edit: Edit, rng: Random, *, unseen: bool) -> Template | None:
    """Choose a template that fits an edit; None if there is none."""
    fitting = [one for one in (phrasings.unseen if unseen else phrasings.seen) if one.fits(edit)]
    return rng.choice(fitting) if fitting else None


def settle(text: str, rng: Random) -> str:
    """Make the choices of a template."""
    while (choice := _CHOICE.search(text)) is not None:
        text = text[: choice.start()] + rng.choice(choice[1].split("|")) + text[choice.end() :]
    return text


def fill(text: str, words: Mapping[str, str], rng: Random) -> str:
    """Put words into the slots of a template whose choices are made."""
    quote = rng.choices(_QUOTES, _QUOTE_WEIGHTS)[0]

    def put(match: re.Match[str]) -> str:
        word = words[match[1]]
        return word if match[2] else _quoted(word, quote, rng)

    return _SLOT.sub(put, text)


def _quoted(word: str, quote: str, rng: Random) -> str:
    """Quote words; what holds blanks or stops is seldom left bare."""
    if "\n" in word:
        return word
    if _BARE.fullmatch(word) and quote[0] in "'\"“":
        return word  # in quotes it would be text
    if quote == "{}" and not re.fullmatch(r"[\w./-]*\w", word) and rng.random() < 0.75:
        quote = "`{}`" if rng.random() < 0.6 else '"{}"'
    mark = quote[0]
    if mark != "{" and mark in word:
        quote = next((other for other in _QUOTES[1:] if other[0] not in word), "{}")
    return quote.replace("{}", word)


def _lines(sections: Mapping[str, Mapping[str, Any]], kind: str, part: str) -> tuple[Template, ...]:
    section = sections[kind]
    likes: Sequence[str] = section.get("like", ())
    if missing := [like for like in likes if like not in sections]:
        raise ValueError(f"{kind}: no section {', '.join(missing)}")
    own = [Template.of(line) for line in section.get(part, "").splitlines() if line.strip()]
    inherited = [template for like in likes for template in _lines(sections, like, part)]
    return tuple(dict.fromkeys((*own, *inherited)))
