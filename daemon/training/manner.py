"""How people say an instruction: politely, in a hurry, with a reason, without capitals, with a slip of the finger."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Final

import msgspec

__all__ = ("SEEN", "UNSEEN", "Manner", "is_imperative", "lower", "say", "slip")


class Manner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words around an instruction, one a line. `{}` is the instruction.

    Attributes:
        polite: around an imperative.
        reasons: behind it, after a `+`.
        limits: behind it, after a `+`: what must not happen.
        openings: around it, with a remark that asks for nothing.
        places: around it, when lines are selected.
        files: around it, with the file's `{name}`.
    """

    polite: str
    reasons: str
    limits: str
    openings: str
    places: str
    files: str

    def draw(self, part: str, rng: Random) -> str:
        """Return one of the lines of a part."""
        lines: str = getattr(self, part)
        return rng.choice(lines.splitlines()).removeprefix("+")


class _Manners(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    verbs: str
    seen: Manner
    unseen: Manner


_MANNERS: Final = msgspec.toml.decode((Path(__file__).parent / "manner.toml").read_bytes(), type=_Manners)
SEEN: Final = _MANNERS.seen
UNSEEN: Final = _MANNERS.unseen
# How often a remark goes before.
OPENINGS: Final = 0.06
_IMPERATIVE: Final = re.compile(rf"(?:{'|'.join(_MANNERS.verbs.split())}) ", re.IGNORECASE)


def is_imperative(text: str) -> bool:
    """Tell whether a phrasing begins with a verb that `please` may stand before."""
    return _IMPERATIVE.match(text) is not None


def say(text: str, name: str, rng: Random, manner: Manner, *, whole: bool, imperative: bool) -> str:
    """Say an instruction in some manner.

    Args:
        text: filled in already; given code may stand after its first line.
        name: of the file.
        rng: draws the manner.
        manner: the words to draw from.
        whole: whether the request is for a whole file.
        imperative: whether `please` and the like may stand before it.
    """
    first, newline, rest = text.partition("\n")
    draw = rng.random()
    if newline:
        if draw < 0.12 and imperative:
            first = f"Please {lower(first)}"
        return first + newline + rest
    if draw < 0.22 and imperative:
        frame = manner.draw("polite", rng)
        bare = first.rstrip(".")
        first = frame.format(bare if frame.startswith("{}") else lower(bare))
    elif draw < 0.28 and imperative:
        frame = manner.draw("files" if whole else "places", rng)
        first = frame.replace("{name}", name).replace("{}", first if frame.startswith("{}") else lower(first))
    elif draw < 0.30 and imperative:
        first += "!"
    if _ends_open(first):
        more = rng.random()
        if more < 0.14 and imperative:
            first += manner.draw("reasons" if more < 0.07 else "limits", rng)
        elif more < 0.38:
            first += "."
    if rng.random() < OPENINGS:
        frame = manner.draw("openings", rng)
        first = frame.replace("{}", lower(first) if imperative and not frame.endswith((". {}", "! {}")) else first)
    return first


def slip(text: str, rng: Random) -> str:
    """Mistype a word outside of slots: two letters swapped, one missing, or one doubled."""
    words = list(re.finditer(r"(?<![{\w])[a-z]{4,}(?![}=\w])", text))
    if not words:
        return text
    word = rng.choice(words)
    at = word.start() + rng.randrange(1, len(word[0]) - 1)
    kind = rng.randrange(3)
    if kind == 0:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + text[at + 1 :] if kind == 1 else text[:at] + text[at] + text[at:]


def _may_belower(text: str) -> bool:
    return len(text) > 1 and text[0].isupper() and not text[1].isupper() and text[:2] != "I "


def lower(text: str) -> str:
    """Write the first letter small, unless the first word is an abbreviation or `I`."""
    return text[0].lower() + text[1:] if _may_belower(text) else text


def _ends_open(text: str) -> bool:
    return bool(text) and text[-1] not in ".!?:;"
