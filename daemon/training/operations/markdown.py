"""Edits of Markdown's structure: headings, lists, emphasis, links, tables, sections."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.made_prose import ITEMS, TITLES
from training.spans import is_blank, word_pattern
from training.words import ADJECTIVES, word

__all__ = (
    "OPERATIONS",
    "add_item",
    "add_section",
    "all_headings_level",
    "delete_heading",
    "delete_section",
    "emphasise",
    "fence_language",
    "heading_case",
    "heading_level",
    "list_style",
    "plain_code",
    "remove_item",
    "retitle",
    "sort_list",
    "table_row",
    "tick",
)

MARKDOWN: Final = ("markdown",)
_HEADING: Final = re.compile(r"(#{1,6}) +(.+?)\s*$")
_BULLET: Final = re.compile(r"([-*+]) (?!\[[ xX]\])(.+)$")
_NUMBERED: Final = re.compile(r"(\d+)([.)]) (.+)$")
_TASK: Final = re.compile(r"([-*]) \[([ xX])\] (.+)$")
_PLAIN: Final = re.compile(r"[A-Za-z][\w ,.'-]*")
_ORDINALS: Final = ("first", "second", "third")


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


def list_style(passage: Passage, rng: Random) -> Edit | None:
    """Turn a bulleted list into a numbered one or back, where there is one list alone, or change its bullets."""
    lines = list(split_lines(passage.text))
    runs = _runs(lines, _BULLET, _NUMBERED)
    if len(runs) != 1:
        return None
    first, last = runs[0]
    block = lines[first:last]
    if _BULLET.match(block[0]):
        draw = rng.random()
        if draw < 0.6:
            new = [f"{number}. {_content(line, _BULLET, 2)}\n" for number, line in enumerate(block, 1)]
            return Edit("bullets_to_numbers", "".join([*lines[:first], *new, *lines[last:]]))
        old = block[0][0]
        other = rng.choice([mark for mark in "-*+" if mark != old])
        new = [other + line[1:] for line in block]
        return Edit("change_bullets", "".join([*lines[:first], *new, *lines[last:]]), {"mark": other}, {"old": old})
    mark = "-" if rng.random() < 0.8 else "*"
    new = [f"{mark} {_content(line, _NUMBERED, 3)}\n" for line in block]
    slots = {} if mark == "-" else {"mark": mark}
    return Edit("numbers_to_bullets", "".join([*lines[:first], *new, *lines[last:]]), slots, {"mark": mark})


def add_item(passage: Passage, rng: Random) -> Edit | None:
    """Add an item at the end or the start of the one list, in the manner of its neighbours."""
    lines = list(split_lines(passage.text))
    runs = _runs(lines, _BULLET, _NUMBERED, _TASK)
    if len(runs) != 1:
        return None
    first, last = runs[0]
    item = rng.choice([item for item in ITEMS if item not in passage.text.lower()] or [""])
    model = lines[last - 1]
    if not item:
        return None
    if _content_of(model)[:1].isupper():
        item = item[0].upper() + item[1:]
    if (numbered := _NUMBERED.match(model)) is not None:
        new = f"{int(numbered[1]) + 1}{numbered[2]} {item}\n"
    elif (task := _TASK.match(model)) is not None:
        new = f"{task[1]} [ ] {item}\n"
    else:
        new = f"{model[0]} {item}\n"
    if numbered is None and rng.random() < 0.3:
        return Edit("add_list_item_first", "".join([*lines[:first], new, *lines[first:]]), {"item": item})
    return Edit("add_list_item", "".join([*lines[:last], new, *lines[last:]]), {"item": item})


def remove_item(passage: Passage, rng: Random) -> Edit | None:
    """Remove an item of a list that is not numbered."""
    lines = list(split_lines(passage.text))
    runs = [(first, last) for first, last in _runs(lines, _BULLET, _TASK) if last - first > 1]
    if not runs:
        return None
    first, last = rng.choice(runs)
    index = rng.randrange(first, last)
    content = _content_of(lines[index])
    if passage.text.count(content) != 1 or len(content) > 70:
        return None
    return Edit("remove_list_item", "".join([*lines[:index], *lines[index + 1 :]]), {"item": content})


def tick(passage: Passage, rng: Random) -> Edit | None:
    """Tick or untick a task."""
    lines = list(split_lines(passage.text))
    tasks = [index for index, line in enumerate(lines) if _TASK.match(line)]
    if not tasks:
        return None
    index = rng.choice(tasks)
    match = _TASK.match(lines[index])
    content = _content_of(lines[index])
    if match is None or passage.text.count(content) != 1:
        return None
    done = match[2] == " "
    lines[index] = f"{match[1]} [{'x' if done else ' '}] {match[3]}\n"
    return Edit("tick" if done else "untick", "".join(lines), {"item": content})


def sort_list(passage: Passage, _rng: Random) -> Edit | None:
    """Sort the one list alphabetically."""
    lines = list(split_lines(passage.text))
    runs = _runs(lines, _BULLET, _NUMBERED, _TASK)
    if len(runs) != 1 or not _BULLET.match(lines[runs[0][0]]):
        return None
    first, last = runs[0]
    block = lines[first:last]
    if len({_content_of(line)[:1].isupper() for line in block}) > 1 or not all(
        _content_of(line)[:1].isalpha() for line in block
    ):
        return None
    return Edit("sort_list", "".join([*lines[:first], *sorted(block, key=_content_of), *lines[last:]]))


def emphasise(passage: Passage, rng: Random) -> Edit | None:
    """Make every occurrence of a word, or the only one, bold, italic, code or a link."""
    lines = list(split_lines(passage.text))
    fenced = _fenced(lines)
    prose = [
        index for index, line in enumerate(lines) if not fenced[index] and not re.match(r"\s*(?:[#|>\[]|\|)|    ", line)
    ]
    words = sorted(
        {found for index in prose for found in re.findall(r"(?<![\w*`\[/.-])[A-Za-z]{4,}(?![\w*`\]/(-])", lines[index])}
    )
    rng.shuffle(words)
    for chosen in words[:6]:
        pattern = word_pattern(chosen)
        places = [match.start() for match in pattern.finditer(passage.text)]
        text = passage.text
        if len(places) > 4 or re.search(rf"[`*\[/._-]{chosen}|{chosen}[`*\]/._-]\w", text):
            continue
        if len(places) != sum(len(pattern.findall(lines[index])) for index in prose):
            continue
        kind, before, after = rng.choice(
            (
                ("bold_word", "**", "**"),
                ("bold_word", "**", "**"),
                ("code_word", "`", "`"),
                ("code_word", "`", "`"),
                ("italic_word", "*", "*"),
                ("link_word", "[", f"](https://{word(rng)}.example.com)"),
            )
        )
        slots = {"word": chosen} | ({"url": after[2:-1]} if kind == "link_word" else {})
        if kind == "link_word" and len(places) > 1:
            continue
        return Edit(kind, pattern.sub(f"{before}{chosen}{after}", text), slots)
    return None


def plain_code(passage: Passage, _rng: Random) -> Edit | None:
    """Take away all bold marks."""
    if passage.text.count("**") % 2 or "```" in passage.text or re.search(r"\*\*\*|`[^`\n]*\*\*", passage.text):
        return None
    text = re.sub(r"\*\*([^*\n]+)\*\*", r"\1", passage.text)
    return Edit("remove_bold", text) if "**" not in text else None


def table_row(passage: Passage, rng: Random) -> Edit | None:
    """Add a row to the one table, or remove one."""
    lines = list(split_lines(passage.text))
    rows = [index for index, line in enumerate(lines) if line.startswith("|") and line.rstrip().endswith("|")]
    if len(rows) < 3 or rows != list(range(rows[0], rows[-1] + 1)) or not re.match(r"\|[\s:|-]+\|\s*$", lines[rows[1]]):
        return None
    cells = [cell.strip() for cell in lines[rows[-1]].strip().strip("|").split("|")]
    if rng.random() < 0.35 and len(rows) > 3:
        index = rng.choice(rows[2:])
        name = lines[index].strip().strip("|").split("|")[0].strip()
        if len(word_pattern(name).findall("".join(lines[row] for row in rows))) != 1 or not name:
            return None
        return Edit("remove_row", "".join([*lines[:index], *lines[index + 1 :]]), {"name": name})
    if lines[rows[-1]].rstrip("\n") != f"| {' | '.join(cells)} |":
        return None  # padded cells: how wide the new ones are is a matter of taste
    new = [
        str(rng.randint(1, 99)) if cell.isdigit() else rng.choice((word(rng), rng.choice(ADJECTIVES))) for cell in cells
    ]
    line = f"| {' | '.join(new)} |\n"
    values = rng.choice((", ".join(new), ", ".join(new), " | ".join(new), line.strip()))
    return Edit("add_row", "".join([*lines[: rows[-1] + 1], line, *lines[rows[-1] + 1 :]]), {"values": values})


def fence_language(passage: Passage, rng: Random) -> Edit | None:
    """Name the language of the fences that name none."""
    lines = list(split_lines(passage.text))
    opening = [index for index, line in enumerate(lines) if line.startswith("```")]
    if len(opening) % 2 or not opening:
        return None
    bare = [index for index in opening[::2] if lines[index].strip() == "```"]
    if not bare or len(bare) != len(opening) // 2:
        return None
    language = rng.choice(("python", "bash", "console", "json", "text", "shell"))
    for index in bare:
        lines[index] = f"```{language}\n"
    return Edit("fence_language", "".join(lines), {"language": language})


def _headings(passage: Passage) -> tuple[list[str], list[_Heading]]:
    lines = list(split_lines(passage.text))
    fenced = _fenced(lines)
    found = []
    for index, line in enumerate(lines):
        match = _HEADING.match(line)
        if match and not fenced[index]:
            found.append(_Heading(index, len(match[1]), match[2]))
    return lines, found


def _fenced(lines: Sequence[str]) -> list[bool]:
    """Tell of each line whether it is in a code block, the fences included."""
    inside = False
    found = []
    for line in lines:
        is_fence = re.match(r"\s*(?:```|~~~)", line) is not None
        found.append(inside or is_fence)
        inside ^= is_fence
    return found


def _runs(lines: Sequence[str], *patterns: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the lists: lines in a row, all of one pattern, with nothing attached to their items."""
    fenced = _fenced(lines)
    runs = []
    index = 0
    while index < len(lines):
        pattern = next((one for one in patterns if not fenced[index] and one.match(lines[index])), None)
        if pattern is None:
            index += 1
            continue
        first = index
        while index < len(lines) and pattern.match(lines[index]):
            index += 1
        if index < len(lines) and not is_blank(lines[index]):
            return []  # items of several lines, or nested ones
        if index - first > 1:
            runs.append((first, index))
    return runs


def _content(line: str, pattern: re.Pattern[str], group: int) -> str:
    match = pattern.match(line)
    return match[group].rstrip() if match else line


def _content_of(line: str) -> str:
    return re.sub(r"^(?:[-*+] (?:\[[ xX]\] )?|\d+[.)] )", "", line).strip()


OPERATIONS: Final = (
    Operation(
        "heading_level", heading_level, MARKDOWN, 3.5, "#", makes=("heading_level", "heading_demote", "heading_promote")
    ),
    Operation(
        "all_headings", all_headings_level, MARKDOWN, 1.5, "#", makes=("all_headings_demote", "all_headings_promote")
    ),
    Operation("retitle", retitle, MARKDOWN, 2.5, "#"),
    Operation("heading_case", heading_case, MARKDOWN, 1, "#", makes=("heading_upper", "headings_upper")),
    Operation("add_section", add_section, MARKDOWN, 1.2, "#"),
    Operation("delete_section", delete_section, MARKDOWN, 2.5, "#"),
    Operation("delete_heading", delete_heading, MARKDOWN, 0.8, "#"),
    Operation(
        "list_style", list_style, MARKDOWN, 2, makes=("bullets_to_numbers", "numbers_to_bullets", "change_bullets")
    ),
    Operation("add_list_item", add_item, MARKDOWN, 2, makes=("add_list_item", "add_list_item_first")),
    Operation("remove_list_item", remove_item, MARKDOWN, 1.5),
    Operation("tick", tick, MARKDOWN, 1.2, "] ", makes=("tick", "untick")),
    Operation("sort_list", sort_list, MARKDOWN, 1),
    Operation("emphasise", emphasise, MARKDOWN, 2.5, makes=("bold_word", "code_word", "italic_word", "link_word")),
    Operation("remove_bold", plain_code, MARKDOWN, 0.8, "**"),
    Operation("table_row", table_row, MARKDOWN, 1.5, "|", makes=("add_row", "remove_row")),
    Operation("fence_language", fence_language, MARKDOWN, 0.7, "```"),
)
