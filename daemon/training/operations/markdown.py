"""Headings and sections of Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.made_prose import TITLES
from training.operations.markdown_lines import fenced_lines
from training.spans import is_blank
from training.words import ADJECTIVES, word

__all__ = (
    "OPERATIONS",
    "add_section",
    "all_headings_level",
    "delete_heading",
    "delete_section",
    "heading_case",
    "heading_level",
    "retitle",
)

MARKDOWN: Final = ("markdown",)
_HEADING: Final = re.compile(r"(#{1,6}) +(.+?)\s*$")
_ANCHOR: Final = re.compile(r"\(.+\)=$|<|\[.+\]:|\{#|\.\. _")
_PLAIN: Final = re.compile(r"[A-Za-z][\w ,.'-]*")


@dataclass(frozen=True, slots=True)
class _Heading:
    index: int
    level: int
    title: str


def heading_level(passage: Passage, rng: Random) -> Edit | None:
    """Make a heading, named by its title, one level deeper or higher."""
    lines, headings = _headings(passage)
    unique = [
        one for one in headings if sum(other.title == one.title for other in headings) == 1 and len(one.title) < 70
    ]
    if not unique:
        return None
    one = rng.choice(unique)
    level = rng.choice(
        [level for level in range(1, min(one.level + 2, 6)) if level != one.level and abs(level - one.level) < 3]
    )
    lines[one.index] = lines[one.index].replace("#" * one.level, "#" * level, 1)
    text = "".join(lines)
    slots = {"title": one.title}
    if abs(level - one.level) == 1 and rng.random() < 0.3:
        return Edit("heading_demote" if level > one.level else "heading_promote", text, slots)
    return Edit("heading_level", text, slots | {"level": str(level)}, {"hashes": "#" * level, "old": str(one.level)})


def all_headings_level(passage: Passage, rng: Random) -> Edit | None:
    """Make every heading one level deeper or higher."""
    lines, headings = _headings(passage)
    if len(headings) < 2:
        return None
    step = 1 if min(one.level for one in headings) == 1 or rng.random() < 0.5 else -1
    if max(one.level for one in headings) + step > 6:
        return None
    for one in headings:
        lines[one.index] = lines[one.index].replace("#" * one.level, "#" * (one.level + step), 1)
    return Edit("all_headings_demote" if step == 1 else "all_headings_promote", "".join(lines))


def retitle(passage: Passage, rng: Random) -> Edit | None:
    """Give a heading another title, whose words the text has nowhere else."""
    lines, headings = _headings(passage)
    unique = [
        one for one in headings if sum(other.title == one.title for other in headings) == 1 and len(one.title) < 70
    ]
    if not unique:
        return None
    one = rng.choice(unique)
    new = rng.choice([title for title in TITLES if title not in passage.text] or [""])
    if not new or passage.text.count(one.title) != 1:
        return None
    lines[one.index] = lines[one.index].replace(one.title, new, 1)
    return Edit("retitle", "".join(lines), {"old": one.title, "new": new})


def heading_case(passage: Passage, rng: Random) -> Edit | None:
    """Write a heading, or all of them, in capitals."""
    lines, headings = _headings(passage)
    plain = [one for one in headings if _PLAIN.fullmatch(one.title) and one.title.upper() != one.title]
    if not plain or len(plain) < len(headings):
        return None
    if len(plain) > 1 and rng.random() < 0.5:
        for one in plain:
            lines[one.index] = lines[one.index].replace(one.title, one.title.upper(), 1)
        return Edit("headings_upper", "".join(lines))
    one = rng.choice(plain)
    if sum(other.title == one.title for other in headings) > 1:
        return None
    lines[one.index] = lines[one.index].replace(one.title, one.title.upper(), 1)
    return Edit("heading_upper", "".join(lines), {"title": one.title})


def add_section(passage: Passage, rng: Random) -> Edit | None:
    """Add a given heading with a line of text at the end."""
    _, headings = _headings(passage)
    if not headings:
        return None
    level = max(2, headings[-1].level) if len(headings) > 1 else 2
    title = rng.choice([title for title in TITLES if title not in passage.text] or [""])
    if not title or passage.text.endswith("```\n"):
        return None
    body = f"{rng.choice(ADJECTIVES).capitalize()} {word(rng)}, see below."
    text = passage.text.rstrip("\n") + f"\n\n{'#' * level} {title}\n\n{body}\n"
    return Edit("add_section", text, {"code": f"\n{'#' * level} {title}\n\n{body}"})


def delete_section(passage: Passage, rng: Random) -> Edit | None:
    """Delete a section: its heading and everything up to the next heading of its level or above."""
    lines, headings = _headings(passage)
    choices = [one for one in headings if one.level > 1 and sum(other.title == one.title for other in headings) == 1]
    if len(headings) < 2 or not choices:
        return None
    one = rng.choice(choices)
    end = next((other.index for other in headings if other.index > one.index and other.level <= one.level), len(lines))
    if any(index and _ANCHOR.match(lines[index - 1]) for index in (one.index, end)):
        return None  # a mark above a heading belongs to it, though it stands in the section before
    kept = [*lines[: one.index], *lines[end:]]
    text = "".join(kept) if end < len(lines) else "".join(kept).rstrip("\n") + "\n"
    return Edit("delete_section", text, {"title": one.title}) if text.strip() else None


def delete_heading(passage: Passage, rng: Random) -> Edit | None:
    """Delete a heading's line and the blank ones after it; its text stays."""
    lines, headings = _headings(passage)
    unique = [one for one in headings if sum(other.title == one.title for other in headings) == 1]
    if not unique:
        return None
    one = rng.choice(unique)
    end = one.index + 1
    while end < len(lines) and is_blank(lines[end]):
        end += 1
    text = "".join([*lines[: one.index], *lines[end:]])
    return Edit("delete_heading", text, {"title": one.title}) if end < len(lines) else None


def _headings(passage: Passage) -> tuple[list[str], list[_Heading]]:
    lines = list(split_lines(passage.text))
    fenced = fenced_lines(lines)
    found = []
    for index, line in enumerate(lines):
        match = _HEADING.match(line)
        if match and not fenced[index]:
            found.append(_Heading(index, len(match[1]), match[2]))
    return lines, found


OPERATIONS: Final = (
    Operation(
        "heading_level", heading_level, MARKDOWN, 2.5, "#", makes=("heading_level", "heading_demote", "heading_promote")
    ),
    Operation(
        "all_headings", all_headings_level, MARKDOWN, 0.7, "#", makes=("all_headings_demote", "all_headings_promote")
    ),
    Operation("retitle", retitle, MARKDOWN, 4, "#"),
    Operation("heading_case", heading_case, MARKDOWN, 0.4, "#", makes=("heading_upper", "headings_upper")),
    Operation("add_section", add_section, MARKDOWN, 1.5, "#"),
    Operation("delete_section", delete_section, MARKDOWN, 11, "#"),
    Operation("delete_heading", delete_heading, MARKDOWN, 0.4, "#"),
)
