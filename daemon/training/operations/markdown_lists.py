"""Lists and tables of Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.made_prose import ITEMS
from training.operations.markdown_lines import fenced_lines
from training.spans import is_blank, word_pattern
from training.words import ADJECTIVES, word

__all__ = (
    "OPERATIONS",
    "add_item",
    "list_style",
    "remove_item",
    "sort_list",
    "table_row",
    "tick",
)

MARKDOWN: Final = ("markdown",)
_BULLET: Final = re.compile(r"([-*+]) (?!\[[ xX]\])(.+)$")
_NUMBERED: Final = re.compile(r"(\d+)([.)]) (.+)$")
_TASK: Final = re.compile(r"([-*]) \[([ xX])\] (.+)$")


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


def _runs(lines: Sequence[str], *patterns: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return the lists: lines in a row, all of one pattern, with nothing attached to their items."""
    fenced = fenced_lines(lines)
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
        "list_style", list_style, MARKDOWN, 1, makes=("bullets_to_numbers", "numbers_to_bullets", "change_bullets")
    ),
    Operation("add_list_item", add_item, MARKDOWN, 4, makes=("add_list_item", "add_list_item_first")),
    Operation("remove_list_item", remove_item, MARKDOWN, 3),
    Operation("tick", tick, MARKDOWN, 2, "] ", makes=("tick", "untick")),
    Operation("sort_list", sort_list, MARKDOWN, 0.4),
    Operation("table_row", table_row, MARKDOWN, 3, "|", makes=("add_row", "remove_row")),
)
