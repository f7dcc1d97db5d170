"""Facts in prose: sentences that state a value, and what people call that value without quoting the sentence."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from training.words import word_list

__all__ = ("FACTS", "Fact", "new_fact_value", "stated")

_PEOPLE: Final = word_list("people")
_SURNAMES: Final = word_list("surnames")
_CITIES: Final = word_list("cities")
_WEEKDAYS: Final = word_list("weekdays")
_MONTHS: Final = word_list("months")
_MAKERS: Final[dict[str, Callable[[Random], str]]] = {
    "price": lambda rng: str(rng.choice((rng.randint(3, 40), rng.randint(5, 60) * 5, rng.randint(4, 30) * 25))),
    "count": lambda rng: str(rng.choice((rng.randint(3, 60), rng.randint(2, 24) * 10))),
    "time": lambda rng: f"{rng.randint(6, 22)}:{rng.choice(('00', '15', '30', '45'))}",
    "weekday": lambda rng: rng.choice(_WEEKDAYS),
    "date": lambda rng: f"{rng.randint(1, 28)} {rng.choice(_MONTHS)}",
    "person": lambda rng: (
        rng.choice(_PEOPLE) if rng.random() < 0.6 else f"{rng.choice(('Mr', 'Ms', 'Dr'))} {rng.choice(_SURNAMES)}"
    ),
    "place": lambda rng: rng.choice(_CITIES),
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence with a place for a value.

    Attributes:
        kind: of the value.
        sentence: with `%` for it.
        names: what the value is called.
        pattern: matches the sentence; its group is the value.
    """

    kind: str
    sentence: str
    names: tuple[str, ...]
    pattern: re.Pattern[str]


def _read() -> tuple[Fact, ...]:
    kinds = tomllib.loads((Path(__file__).parent / "facts.toml").read_text(encoding="utf-8"))
    return tuple(
        Fact(
            kind, sentence, tuple(names.split("|")), re.compile(re.escape(sentence).replace("%", r"([\w:]+(?: \w+)?)"))
        )
        for kind, facts in kinds.items()
        for sentence, names in facts.items()
    )


FACTS: Final = _read()


def new_fact_value(kind: str, rng: Random) -> str:
    """Return a value such as a fact of that kind states."""
    return _MAKERS[kind](rng)


def stated(rng: Random) -> str:
    """Return a fact as a sentence with its full stop."""
    fact = rng.choice(FACTS)
    return fact.sentence.replace("%", new_fact_value(fact.kind, rng))
