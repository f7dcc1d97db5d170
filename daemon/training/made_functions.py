"""Modules of functions that use one variable many times, with others of like names beside it.

Packages have enough functions, but few in which a name stands a dozen times and a longer one that holds it is near.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from pathlib import Path
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.words import NOUNS, VERBS, camel, sentence, title_words, word_list

__all__ = ("LANGUAGES", "make_functions")

_KINDS: Final = tomllib.loads((Path(__file__).parent / "made_functions.toml").read_text(encoding="utf-8"))
LANGUAGES: Final = tuple(_KINDS)
_PLACE: Final = re.compile(r"%([xijpqfgkCDnsw])(?!\w)")
_SHORT: Final = word_list("short_names")
_ENDINGS: Final = ("name", "value", "total", "count", "list", "id", "text", "old", "new", "max")
# How often names are short, hold another one, or are those of the function before.
SHORT: Final = 0.2
NEAR: Final = 0.5
SAME: Final = 0.3
INDENTS: Final = {"python": "    ", "javascript": "  "}


def make_functions(language: str, rng: Random, n_lines: int) -> str:
    """Return functions of about so many lines together, behind imports and constants."""
    constants = ["_".join(title_words(rng, rng.choice((1, 2)))).upper() for _ in range(3)]
    style = rng.random() < 0.5
    blocks = [_head(language, constants, rng)] if rng.random() < 0.7 else []
    names: dict[str, str] = {}
    while not blocks or sum(len(split_lines(block)) + 2 for block in blocks) < n_lines:
        kept = names.get("x") if rng.random() < SAME else None
        names = _names(constants, rng, camels=language == "javascript" and style)
        names["x"] = kept if kept is not None and kept not in names.values() else names["x"]
        blocks.append(_function(language, names, rng))
    return ("\n\n\n" if language == "python" else "\n\n").join(block.rstrip("\n") for block in blocks) + "\n"


def _head(language: str, constants: list[str], rng: Random) -> str:
    kinds = (lambda: str(rng.randint(2, 500)), lambda: f"0.{rng.randint(1, 99):02}", lambda: f'"{rng.choice(NOUNS)}"')
    values = [rng.choice(kinds)() for _ in constants]
    if language == "javascript":
        return "\n".join(f"const {name} = {value};" for name, value in zip(constants, values, strict=True))
    lines = [f"{name} = {value}" for name, value in zip(constants, values, strict=True)][: rng.randint(1, 3)]
    imports = rng.sample(word_list("modules"), rng.randint(0, 3))
    parts = ["\n".join(f"import {module}" for module in sorted(imports)), "\n".join(lines)]
    if rng.random() < 0.4:
        parts.insert(0, f'"""{sentence(rng)}."""')
    return "\n\n".join(part for part in parts if part)


def _names(constants: list[str], rng: Random, *, camels: bool) -> dict[str, str]:
    write = camel if camels else "_".join
    chosen: dict[str, str] = {}
    for place in "xijpqk":
        while place not in chosen or list(chosen.values()).count(chosen[place]) > 1:
            chosen[place] = _name(place, chosen.get("x", ""), rng, camels=camels)
    for place in "fg":
        chosen[place] = write([rng.choice(VERBS), chosen["x"] if rng.random() < 0.15 else rng.choice(NOUNS)])
    return chosen | dict(zip("CD", rng.sample(constants, 2), strict=True))


def _name(place: str, variable: str, rng: Random, *, camels: bool) -> str:
    write = camel if camels else "_".join
    if place in "xij" and rng.random() < SHORT:
        return rng.choice(_SHORT)
    if place in "ijq" and rng.random() < NEAR / 2:
        return write(rng.choice(([variable, rng.choice(_ENDINGS)], [rng.choice(_ENDINGS), variable])))
    words = title_words(rng, rng.choice((1, 1, 2)))
    return write(words) + ("s" if place == "p" and rng.random() < 0.6 else "")


def _function(language: str, names: dict[str, str], rng: Random) -> str:
    kind = _KINDS[language][rng.choice(sorted(_KINDS[language]))]
    middle = rng.sample(kind["middle"], min(rng.randint(1, 7), len(kind["middle"])))
    statements = [rng.choice(kind["first"]), *middle, rng.choice(kind["last"])]
    body = "\n".join(_filled(statement, names, rng) for statement in statements)
    indent = INDENTS[language]
    inner = textwrap.indent(body, indent)
    name = ("_".join if "_" in names["f"] else camel)([rng.choice(VERBS), rng.choice(NOUNS)])
    lead = "async " if "await " in body else ""
    if language == "javascript":
        return f"{lead}function {name}({names['p']}, {names['q']}) {{\n{inner}\n}}"
    parameters = [names["p"], names["q"]]
    if "self." in body:
        parameters.insert(0, "self")
    if rng.random() < 0.3:
        parameters[-1] += f"={rng.choice(('None', '0', '1', 'False'))}"
    doc = f'{indent}"""{sentence(rng)}."""\n' if rng.random() < 0.4 else ""
    return f"{lead}def {name}({', '.join(parameters)}):\n{doc}{inner}"


def _filled(statement: str, names: dict[str, str], rng: Random) -> str:
    def put(match: re.Match[str]) -> str:
        if match[1] == "n":
            return str(rng.randint(2, 90))
        if match[1] == "s":
            return sentence(rng).lower()
        return rng.choice(NOUNS) if match[1] == "w" else names[match[1]]

    return _PLACE.sub(put, statement)
