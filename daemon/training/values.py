"""New values in the place of old ones: literals, expressions, conditions, keyword arguments."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from training.new_names import new_key
from training.words import ADJECTIVES, NOUNS, VERBS, line_list, sentence, snake, title_words, word

__all__ = ("bare", "new_condition", "new_expression", "new_keyword", "new_literal", "new_number", "new_string")

# How often an expression is made of the old one.
DERIVED: Final = 0.65
_NUMBER: Final = re.compile(r"-?\d+(?:\.\d+)?")
_KEYWORDS: Final = line_list("keywords")


def new_number(old: str, rng: Random) -> str:
    """Return another number of about the same size and kind."""
    if "." in old:
        value = float(old)
        return repr(round(value * rng.choice((0.5, 2, 1.5, 10, 0.1)) + rng.choice((0, 0.5, 1)), 4))
    value = int(old)
    options = [
        value + 1,
        value * 2,
        value + 10,
        value * 10,
        rng.randint(2, 99),
        rng.choice((16, 20, 30, 50, 64, 100, 120, 500, 1024)),
    ]
    return str(rng.choice([one for one in options if one != value]))


def new_string(old: str, rng: Random) -> str:
    """Return other words in the manner of the old ones: a sentence for a sentence, a word for a word."""
    if " " in old.strip():
        text = sentence(rng)
        return text + "." if old.rstrip().endswith(".") else text
    if re.fullmatch(r"[A-Za-z][\w-]+", old) and rng.random() < DERIVED and (near := new_key(old, "", rng)) is not None:
        return near
    words = title_words(rng, rng.choice((1, 1, 2)))
    if old.isupper():
        return "_".join(words).upper()
    if "-" in old:
        return "-".join(words)
    return snake(words)


def new_literal(old: str, rng: Random) -> str | None:
    """Return another literal of the same type as Python source; None for what is neither number, text nor truth."""
    if old in ("True", "False"):
        return "False" if old == "True" else "True"
    if old == "None":
        return rng.choice(("0", "True", "False", '""', "10", "[]", "1"))
    if _NUMBER.fullmatch(old):
        return new_number(old, rng)
    if (
        len(old) >= 2
        and old[0] in "'\""
        and old[-1] == old[0]
        and "\\" not in old
        and not old.startswith(("'''", '"""'))
    ):
        new = new_string(old[1:-1], rng)
        return None if new == old[1:-1] else old[0] + new + old[0]
    return None


def bare(literal: str) -> str:
    """Return a string literal's words, as people write them when the quotes go without saying."""
    if len(literal) > 2 and literal[0] in "'\"" and literal[-1] == literal[0]:
        return literal[1:-1]
    return literal


def new_expression(old: str, rng: Random) -> str:
    """Return an expression, made of the old one or of other names."""
    name, verb = snake(title_words(rng, rng.choice((1, 2)))), rng.choice(VERBS)
    if re.fullmatch(r"[A-Za-z_][\w.]*", old) and rng.random() < DERIVED:
        return rng.choice(
            (
                f"{old} + 1",
                f"not {old}",
                f"{old} or None",
                f"{old}.copy()",
                f"sorted({old})",
                f"str({old})",
                f"len({old})",
                f"{old}.{verb}()",
            )
        )
    if len(old) < 30 and rng.random() < DERIVED:
        return rng.choice((f"list({old})", f"str({old})", f"{verb}({old})", f"{verb}_{name}({old})"))
    return rng.choice(
        (
            f"{name}.{verb}()",
            f"len({name})",
            f"self.{name}",
            f"{name}[0]",
            f"list({name})",
            "None",
            "[]",
            str(rng.randint(0, 9)),
            f"{rng.choice(ADJECTIVES)}_{word(rng)}",
        )
    )


def new_condition(old: str, rng: Random) -> str:
    """Return a condition, made of the old one or of other names."""
    name = snake(title_words(rng, rng.choice((1, 2))))
    if len(old) < 36 and rng.random() < DERIVED:
        options = []
        if re.fullmatch(r"[\w.]+(?:\([\w., ]*\))?", old):
            options += [f"not {old}", f"{old} is not None", f"{old} is None"]
        if (bare := re.fullmatch(r"not ([\w.]+)", old)) is not None:
            options += [bare[1], f"{bare[1]} is None"]
        if (number := re.fullmatch(r"(.* [<>=!]=? )(\d+)", old)) is not None:
            options += [number[1] + new_number(number[2], rng)] * 2
        if not re.search(r"\bor\b", old):
            options += [f"{old} and {name}", f"{old} and not {name}", f"{name} and {old}"]
        return rng.choice([*options, f"{old} or {name}", f"{old} or {name} is None"])
    return rng.choice(
        (f"{name} is None", f"{name} is not None", f"not {name}", f"len({name}) > {rng.randint(0, 9)}", name)
    )


def new_keyword(rng: Random) -> str:
    """Return a keyword argument, such as `timeout=10`."""
    if rng.random() < 0.6:
        return rng.choice(_KEYWORDS)
    value = rng.choice(("True", "False", "None", str(rng.randint(1, 60)), f'"{word(rng)}"', rng.choice(NOUNS)))
    return f"{snake(title_words(rng, rng.choice((1, 2))))}={value}"
