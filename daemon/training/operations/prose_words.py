"""Words of prose: replaced, mended, capitalised; numbers and names."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.facts import FACTS, new_fact_value
from training.near_words import near_phrase, near_word
from training.operations.markdown_lines import fenced_lines
from training.spans import word_pattern
from training.typos import MARKUP, with_typos
from training.words import word, word_list

__all__ = (
    "OPERATIONS",
    "capitalise_word",
    "change_fact",
    "change_name",
    "change_number",
    "fix_typo",
    "fix_typos",
    "replace_phrase",
    "replace_word",
)

PROSE: Final = ("markdown", "text")
LOOSE: Final = ("markdown", "text", "rst")
_MONTHS: Final = word_list("months")
_WEEKDAYS: Final = word_list("weekdays")
_CALENDAR: Final = frozenset((*_WEEKDAYS, *_MONTHS))
_CITIES: Final = word_list("cities")
_PEOPLE: Final = word_list("people")
_USUAL: Final = _CALENDAR.union(_CITIES, _PEOPLE)
_PRODUCTS: Final = word_list("products")
# How often a word without a near one is replaced by a noun: names are changed as well.
STRANGE: Final = 0.1
_NUMBER: Final = re.compile(
    rf"(?<![\w.,:/-])(?:\d{{1,2}} (?:{'|'.join(_MONTHS)}) \d{{4}}|\d[\d,]*\d|\d{{2,}})(?![\w:/-]|[.,]\d)"
)
_COMMON: Final = frozenset(word_list("common"))


def replace_word(passage: Passage, rng: Random) -> Edit | None:
    """Replace a word wherever it stands; longer words that contain it stay."""
    counts = Counter(re.findall(r"(?<![\w/.`:<@-])[a-z]{4,}(?![\w/`<>({-]|[.:][\w/:])", passage.text))
    words = sorted(found for found in counts if found not in _COMMON)
    if not words:
        return None
    often = [found for found in words if counts[found] > 1]
    old = rng.choice(often if often and rng.random() < 0.7 else words)
    new = near_word(old, rng) or (word(rng) if rng.random() < STRANGE else old)
    places = word_pattern(old).findall(passage.text)
    if counts[old] != len(places) or _is_in_code(old, passage.text):
        return None  # in an address or in code as well: there it would mean something else
    if word_pattern(old.capitalize()).search(passage.text) or word_pattern(old.upper()).search(passage.text):
        return None  # in capitals elsewhere: whether that is meant too, nobody knows
    if len(places) > 12 or new == old or word_pattern(new).search(passage.text):
        return None
    return Edit("replace_word", word_pattern(old).sub(new, passage.text), {"old": old, "new": new})


def replace_phrase(passage: Passage, rng: Random) -> Edit | None:
    """Replace a noun with what belongs to it, which the text has once or twice."""
    lines = [line for line in split_lines(passage.text) if not MARKUP.match(line) and len(line) > 20]
    if not lines:
        return None
    found = near_phrase(rng.choice(lines), rng)
    if found is None:
        return None
    old, new = found
    if not 1 <= len(word_pattern(old).findall(passage.text)) <= 2 or new in passage.text:
        return None
    return Edit("replace_phrase", word_pattern(old).sub(new, passage.text), {"old": old, "new": new})


def fix_typos(passage: Passage, rng: Random) -> Edit | None:
    """Mend typos: the text that is shown has some, the right answer is the text as it was."""
    shown = with_typos(passage.text, rng, rng.choice((1, 2, 2, 3, 4, 6)))
    return Edit("fix_typos", passage.text, shown=shown) if shown else None


def fix_typo(passage: Passage, rng: Random) -> Edit | None:
    """Mend one typo that is named; others, if there are any, stay."""
    shown = with_typos(passage.text, rng, rng.choice((1, 1, 2, 3)))
    if shown is None:
        return None
    before, after = passage.text.split(" "), shown.split(" ")
    places = [index for index, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    index = rng.choice(places)
    wrong, right = re.sub(r"[^a-z]", "", after[index]), re.sub(r"[^a-z]", "", before[index])
    if len(word_pattern(wrong).findall(shown)) != 1 or not wrong or after[index].replace(wrong, right) != before[index]:
        return None
    fixed = " ".join([*after[:index], before[index], *after[index + 1 :]])
    return Edit("fix_typo", fixed, {"wrong": wrong}, {"right": right}, shown=shown)


def capitalise_word(passage: Passage, rng: Random) -> Edit | None:
    """Write a word with a capital wherever it stands."""
    counts = Counter(re.findall(r"(?<![\w/.`-])[a-z]{4,}(?![\w/`-])", passage.text))
    words = sorted(found for found, count in counts.items() if found not in _COMMON and count < 5)
    if not words:
        return None
    old = rng.choice(words)
    if word_pattern(old.capitalize()).search(passage.text) or word_pattern(old.upper()).search(passage.text):
        return None
    return Edit("capitalise_word", word_pattern(old).sub(old.capitalize(), passage.text), {"word": old})


def change_number(passage: Passage, rng: Random) -> Edit | None:
    """Change a number or a date that the text has once."""
    found = _NUMBER.findall(passage.text)
    unique = [one for one in found if len(re.findall(rf"(?<![\w.,]){re.escape(one)}(?!\w|[.,]\d)", passage.text)) == 1]
    if not unique:
        return None
    old = rng.choice(unique)
    if " " in old:
        new = f"{rng.randint(1, 28)} {rng.choice(_MONTHS)} {rng.randint(2023, 2032)}"
    elif "," in old:
        new = f"{rng.randint(1, 90)},{rng.randint(100, 999)}"
    else:
        new = str(rng.randint(10 ** (len(old) - 1), 10 ** len(old) - 1)) if len(old) < 7 else ""
    if not new or new in passage.text:
        return None
    return Edit(
        "change_number",
        re.sub(rf"(?<![\w.,]){re.escape(old)}(?!\w|[.,]\d)", new, passage.text),
        {"old": old, "new": new},
    )


def change_name(passage: Passage, rng: Random) -> Edit | None:
    """Call a person, a place or a product by another name wherever it stands."""
    counts = Counter(re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}(?![\w/`-])", passage.text))
    names = sorted(
        name for name in counts if name.lower() not in _COMMON and not word_pattern(name.lower()).search(passage.text)
    )
    if not names:
        return None
    usual = [name for name in names if name in _USUAL]
    old = rng.choice(usual if usual and rng.random() < 0.8 else names)
    if old in _CALENDAR:
        new = rng.choice(_WEEKDAYS if old in _WEEKDAYS else _MONTHS)
    else:
        new = rng.choice(_CITIES if old in _CITIES else _PEOPLE if old in _PEOPLE else _PRODUCTS)
    if word_pattern(new).search(passage.text) or len(word_pattern(old).findall(passage.text)) > 10:
        return None
    if len(re.findall(rf"(?<![\w/.`<@-]){old}(?![\w/`<>({{-])", passage.text)) != len(
        word_pattern(old).findall(passage.text)
    ) or _is_in_code(old, passage.text):
        return None  # the name of something in code
    return Edit("replace_word", word_pattern(old).sub(new, passage.text), {"old": old, "new": new})


def _is_in_code(word: str, text: str) -> bool:
    """Tell whether a word is in a fenced or an indented line."""
    lines = split_lines(text)
    code = zip(lines, fenced_lines(lines), strict=True)
    return any(word in line for line, fenced in code if fenced or line.startswith(("    ", "\t", ">>>")))


def change_fact(passage: Passage, rng: Random) -> Edit | None:
    """Change a value that is not quoted but told by what it is."""
    found = [(fact, matches) for fact in FACTS if (matches := list(fact.pattern.finditer(passage.text)))]
    single = [(fact, matches[0]) for fact, matches in found if len(matches) == 1]
    if not single:
        return None
    fact, match = rng.choice(single)
    new = new_fact_value(fact.kind, rng)
    start, end = match.span(1)
    slots, hints = {"what": rng.choice(fact.names), "new": new}, {"old": match[1]}
    return (
        Edit("change_fact", passage.text[:start] + new + passage.text[end:], slots, hints) if new != match[1] else None
    )


OPERATIONS: Final = (
    Operation("change_fact", change_fact, PROSE, 7),
    Operation("replace_word", replace_word, LOOSE, 8),
    Operation("replace_phrase", replace_phrase, PROSE, 5),
    Operation("fix_typos", fix_typos, PROSE, 13),
    Operation("fix_typo", fix_typo, PROSE, 2),
    Operation("capitalise_word", capitalise_word, PROSE, 0.4),
    Operation("change_number", change_number, PROSE, 3),
    Operation("change_name", change_name, PROSE, 4, makes=("replace_word",)),
)
