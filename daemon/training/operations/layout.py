"""Blanks, indents and the copyright line of any text file."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import CODE, Edit, Operation, Passage
from training.operations.any_parts import ANY, comment_mark, has_multiline_string
from training.spans import indent_of, is_blank

__all__ = (
    "OPERATIONS",
    "copyright_year",
    "one_blank",
    "re_indent",
    "strip_trailing",
)

INDENTED: Final = (*CODE, "css", "scss", "html", "bash")


def strip_trailing(passage: Passage, rng: Random) -> Edit | None:
    """Take blanks away at the ends of lines, which the text is given before."""
    if re.search(r"[ \t]\n", passage.text) or has_multiline_string(passage):
        return None
    lines = list(split_lines(passage.text))
    for index in rng.sample(range(len(lines)), max(1, min(len(lines), rng.randint(1, 8)))):
        lines[index] = lines[index][:-1] + rng.choice((" ", " ", "  ", "    ", "\t")) + "\n"
    return Edit("strip_trailing", passage.text, shown="".join(lines))


def one_blank(passage: Passage, rng: Random) -> Edit | None:
    """Leave one blank line where there are several, which the text is given before."""
    lines = list(split_lines(passage.text))
    if re.search(r"\n\n\n", passage.text) or has_multiline_string(passage) or passage.language == "python":
        return None
    blanks = [index for index, line in enumerate(lines[:-1]) if is_blank(line)]
    if not blanks:
        return None
    for index in sorted(rng.sample(blanks, max(1, min(len(blanks), rng.randint(1, 5)))), reverse=True):
        lines[index] = lines[index] * rng.randint(2, 3)
    return Edit("one_blank", passage.text, shown="".join(lines))


def re_indent(passage: Passage, rng: Random) -> Edit | None:
    """Indent by another width, or by tabs, or by blanks again."""
    lines = split_lines(passage.text)
    width = _indent_width(lines)
    if width is None or has_multiline_string(passage) or indent_of(lines[0]):
        return None
    draw = rng.random()
    if draw < 0.4:
        other = 6 - width
        return Edit(
            "indent_width",
            "".join(_converted(line, width, " " * other) for line in lines),
            {"width": str(other)},
            {"old": str(width)},
        )
    tabbed = "".join(_converted(line, width, "\t") for line in lines)
    if draw < 0.55:
        return Edit("spaces_to_tabs", tabbed)
    return Edit("tabs_to_spaces", passage.text, {"width": str(width)}, shown=tabbed)


def copyright_year(passage: Passage, rng: Random) -> Edit | None:
    """Change the year of a copyright line, which the text is given if it has none."""
    found = re.findall(r"(?i)(?:copyright|©)[^\n]*?\b((?:19|20)\d\d)\b", passage.text)
    new = str(rng.randint(2024, 2030))
    if len(found) == 1 and passage.text.count(found[0]) == 1 and new not in passage.text:
        return Edit("copyright_year", passage.text.replace(found[0], new), {"new": new}, {"old": found[0]})
    mark = comment_mark(passage.language)
    if found or mark is None or passage.text.startswith(("#!", "---")):
        return None
    old = str(rng.randint(2008, 2023))
    if old in passage.text or new in passage.text:
        return None
    owner = rng.choice(("Example Ltd.", "The Authors", "Jane Doe", "ACME Corp.", "the contributors"))
    head = rng.choice(
        (f"{mark} Copyright {{}} {owner}\n", f"{mark} Copyright (c) {{}} {owner}\n", f"{mark} © {{}} {owner}\n")
    )
    text = head.format("YEAR") + passage.text
    return Edit(
        "copyright_year", text.replace("YEAR", new, 1), {"new": new}, {"old": old}, shown=text.replace("YEAR", old, 1)
    )


def _indent_width(lines: tuple[str, ...]) -> int | None:
    widths = [len(indent_of(line)) for line in lines if not is_blank(line) and line[0] == " "]
    if not widths or any(line.startswith("\t") or "\t" in indent_of(line) for line in lines):
        return None
    for width in (4, 2):
        if all(found % width == 0 for found in widths) and width in widths:
            return width
    return None


def _converted(line: str, width: int, unit: str) -> str:
    if is_blank(line):
        return line
    depth = len(indent_of(line)) // width
    return unit * depth + line.lstrip(" ")


OPERATIONS: Final = (
    Operation("strip_trailing", strip_trailing, ANY, 0.7),
    Operation("one_blank", one_blank, ANY, 0.5),
    Operation("re_indent", re_indent, INDENTED, 1.5, makes=("indent_width", "spaces_to_tabs", "tabs_to_spaces")),
    Operation("copyright_year", copyright_year, ANY, 0.6),
)
