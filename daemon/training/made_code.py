"""Everyday code put together from pieces: what people write for themselves, not what packages hold."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.words import NOUNS, VERBS, sentence, word, word_list

__all__ = ("LANGUAGES", "make_code")

_PARTS: Final = tomllib.loads((Path(__file__).parent / "made_code.toml").read_text(encoding="utf-8"))
LANGUAGES: Final = tuple(_PARTS)
_PLACE: Final = re.compile(r"%([abcvwACnmsp])")
_PEOPLE: Final = word_list("people")
HEADED: Final = 0.5


def make_code(language: str, rng: Random, n_lines: int) -> str:
    """Return code of about so many lines, as long as there are pieces."""
    parts = _PARTS[language]
    chosen = [rng.choice(parts["head"])] if rng.random() < HEADED else []
    joint = "\n\n\n" if language == "python" else "\n\n"
    for piece in rng.sample(parts["pieces"], len(parts["pieces"])):
        if chosen and sum(len(split_lines(one)) + 2 for one in chosen) >= n_lines:
            break
        chosen.append(piece)
    return joint.join(_filled(piece, rng).rstrip("\n") for piece in chosen) + "\n"


def _filled(piece: str, rng: Random) -> str:
    nouns = rng.sample(NOUNS, 3)
    words = dict(zip("abc", nouns, strict=True)) | dict(zip("vw", rng.sample(VERBS, 2), strict=True))
    words |= {"A": nouns[0].capitalize(), "C": word(rng).upper(), "p": rng.choice(_PEOPLE)}
    words |= {"n": str(rng.randint(2, 90)), "m": str(rng.randint(100, 900))}
    return _PLACE.sub(lambda match: sentence(rng) if match[1] == "s" else words[match[1]], piece)
