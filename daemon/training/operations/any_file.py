"""Lines and words of any text file: deleted, replaced, added."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import CODE, Edit, Operation, Passage
from training.near_words import near_word
from training.new_names import new_name
from training.operations.any_parts import ANY, comment_mark, has_multiline_string
from training.spans import indent_of, is_blank, word_pattern
from training.words import camel, sentence, snake, title_words, word

__all__ = (
    "OPERATIONS",
    "add_bottom",
    "add_top",
    "delete_edge_line",
    "delete_line",
    "delete_line_containing",
    "duplicate_line",
    "insert_line",
    "replace_line",
    "replace_text",
    "word_case",
)

FLAT: Final = ("markdown", "text", "toml", "ini", "bash", "css")
PROSE: Final = ("markdown", "text", "rst")
SETTINGS: Final = ("toml", "ini", "yaml")
# How often a word without a near one is replaced by a noun.
STRANGE: Final = 0.1
MAX_LINE: Final = 70
_MARKER: Final = re.compile(r"(?:[-*+]|\d+[.)]) (?:\[[ x]\] )?")
# A line of prose that stands for itself.
_SENTENCE: Final = re.compile(r"(?:(?:[-*+]|\d+[.)]) .*|[A-Z\"'].*[.!?:])$")


def delete_line_containing(passage: Passage, rng: Random) -> Edit | None:
    """Delete the one line that contains a given word."""
    lines = list(split_lines(passage.text))
    index = _some_line(passage, lines, rng)
    if index is None:
        return None
    everything = passage.text.lower()  # in capitals elsewhere: whether that is meant too, nobody knows
    words = [found for found in re.findall(r"[A-Za-z_][\w-]{3,}", lines[index]) if everything.count(found.lower()) == 1]
    if not words:
        return None
    return Edit("delete_line_containing", "".join([*lines[:index], *lines[index + 1 :]]), {"word": rng.choice(words)})


def delete_line(passage: Passage, rng: Random) -> Edit | None:
    """Delete a given line."""
    lines = list(split_lines(passage.text))
    index = _some_line(passage, lines, rng)
    if index is None:
        return None
    return Edit("delete_line", "".join([*lines[:index], *lines[index + 1 :]]), {"line": lines[index].strip()})


def delete_edge_line(passage: Passage, rng: Random) -> Edit | None:
    """Delete the first or the last line, or one of the first by its number."""
    lines = list(split_lines(passage.text))
    if len(lines) < 3 or passage.language in ("json", *CODE):
        return None
    index = rng.choice((0, len(lines) - 1, 1, 2))
    if is_blank(lines[index]) or (index + 1 < len(lines) and is_blank(lines[index + 1])) or index >= len(lines):
        return None
    nth = "last" if index == len(lines) - 1 else ("first", "second", "third")[index]
    return Edit("delete_nth_line", "".join([*lines[:index], *lines[index + 1 :]]), {"nth": nth}, ordinal=True)


def duplicate_line(passage: Passage, rng: Random) -> Edit | None:
    """Write a given line twice."""
    lines = list(split_lines(passage.text))
    index = _some_line(passage, lines, rng)
    if index is None:
        return None
    return Edit("duplicate_line", "".join([*lines[: index + 1], *lines[index:]]), {"line": lines[index].strip()})


def replace_line(passage: Passage, rng: Random) -> Edit | None:
    """Put a given line in the place of another, at its indent."""
    lines = list(split_lines(passage.text))
    index = _some_line(passage, lines, rng)
    if index is None:
        return None
    old = lines[index].strip()
    if passage.language in PROSE and not _SENTENCE.match(lines[index]):
        return None  # a piece of a sentence, or of markup: nobody puts a sentence there
    new = _line_like(old, passage.language, rng)
    if new in passage.text:
        return None
    lines[index] = indent_of(lines[index]) + new + "\n"
    return Edit("replace_line", "".join(lines), {"old": old, "new": new})


def insert_line(passage: Passage, rng: Random) -> Edit | None:
    """Insert a given line after or before another one, at its indent."""
    lines = list(split_lines(passage.text))
    index = _some_line(passage, lines, rng)
    if index is None or passage.language == "json":
        return None
    new = _new_line(passage.language, rng)
    if new in passage.text or lines[index].rstrip().endswith(("{", "(", "[", ":", "\\", ",")):
        return None
    after = rng.random() < 0.6
    at = index + 1 if after else index
    inserted = indent_of(lines[index]) + new + "\n"
    return Edit(
        "insert_after" if after else "insert_before",
        "".join([*lines[:at], inserted, *lines[at:]]),
        {"new": new, "line": lines[index].strip()},
    )


def add_top(passage: Passage, rng: Random) -> Edit | None:
    """Put a given line before everything."""
    mark = comment_mark(passage.language)
    if passage.language in ("json", "html") or passage.text.startswith(("#!", "---", "<", "\n", " ")):
        return None
    if mark is None and passage.language not in ("markdown", "text"):
        return None
    line = f"{mark} {_header(rng)}" if mark else sentence(rng) + "."
    return Edit("add_top", f"{line}\n{passage.text}", {"line": line}, ordinal=True)


def add_bottom(passage: Passage, rng: Random) -> Edit | None:
    """Put a given line behind everything."""
    mark = comment_mark(passage.language)
    if passage.language not in FLAT and mark is None:
        return None
    if passage.text.endswith(("```\n", "\n\n")):
        return None
    line = f"{mark} {_header(rng)}" if mark else sentence(rng) + "."
    if passage.language == "css":
        return None
    return Edit("add_bottom", f"{passage.text}{line}\n", {"line": line}, ordinal=True)


def replace_text(passage: Passage, rng: Random) -> Edit | None:
    """Replace a word of code, comment or text wherever it stands as a whole word."""
    counts = Counter(re.findall(r"(?<![\w$-])[A-Za-z_][A-Za-z_]{3,24}(?![\w-])", passage.text))
    words = sorted(found for found, count in counts.items() if count <= 15)
    if not words:
        return None
    often = [found for found in words if counts[found] > 1]
    old = rng.choice(often if often and rng.random() < 0.6 else words)
    new = _other_word(old, passage, rng)
    if (
        new is None
        or word_pattern(new).search(passage.text)
        or new == old
        or any(found.lower() == old.lower() and found != old for found in counts)
    ):
        return None
    return Edit("replace_text", word_pattern(old).sub(new, passage.text), {"old": old, "new": new})


def word_case(passage: Passage, rng: Random) -> Edit | None:
    """Write a word in capitals, or in small letters, wherever it stands."""
    counts = Counter(re.findall(r"(?<![\w$@#./-])[A-Za-z]{4,14}(?![\w-])", passage.text))
    words = sorted(found for found, count in counts.items() if count <= 6)
    if not words:
        return None
    old = rng.choice(words)
    if sum(1 for found in counts if found.lower() == old.lower()) > 1:
        return None
    upper = old.upper() != old and (old.islower() or rng.random() < 0.4)
    new = old.upper() if upper else old.lower()
    if new == old:
        return None
    return Edit("word_upper" if upper else "word_lower", word_pattern(old).sub(new, passage.text), {"word": old})


def _some_line(passage: Passage, lines: list[str], rng: Random) -> int | None:
    """Return a line that the text has once, and that stands for itself."""
    found = []
    for index, line in enumerate(lines):
        content = line.strip()
        alone = 5 < len(content) <= MAX_LINE and passage.text.count(content) == 1
        if not alone or (passage.language in CODE and not re.search(r"[\w)\"'];?$", content)):
            continue
        if passage.language in CODE and re.match(
            r"(?:def|class|if|for|while|else|elif|try|except|with|return|function|async|@|import|from|export)\b",
            content,
        ):
            continue
        if _is_no_statement(passage.language, content):
            continue
        found.append(index)
    if not found or len(lines) < 3:
        return None
    index = rng.choice(found)
    if passage.language in CODE:
        after = lines[index + 1] if index + 1 < len(lines) else ""
        before = lines[index - 1] if index else ""
        if before.rstrip().endswith(("(", "[", "{", ",", "\\", "=", ":", "+")) or len(indent_of(after)) > len(
            indent_of(lines[index])
        ):
            return None
        if lines[index].rstrip().endswith(("\\", "+", "=")) or has_multiline_string(passage):
            return None
    elif is_blank(lines[index - 1] if index else "\n") and is_blank(
        lines[index + 1] if index + 1 < len(lines) else "\n"
    ):
        return None  # a paragraph of its own: what becomes of the blank lines is a matter of taste
    return index


def _line_like(old: str, language: str, rng: Random) -> str:
    """Return a line to stand in another's place, with its list's marker, or at times with its key."""
    marker = _MARKER.match(old) if language in PROSE else None
    key = re.match(r"([\w.-]+\s*[:=]\s*)(\w[\w.-]*)$", old) if language in SETTINGS and rng.random() < 0.6 else None
    if key:
        value = key[2]
        other = {"true": "false", "false": "true"}.get(value) or (
            str(rng.randint(0, 999)) if value.isdigit() else word(rng)
        )
        return key[1] + other
    return (marker[0] if marker else "") + _new_line(language, rng)


def _is_no_statement(language: str, content: str) -> bool:
    """Tell whether a line of data is a part of something longer, or the head of a section."""
    if language in SETTINGS:
        return re.search(r"^\[|:$", content) is not None
    return language == "json" or (language in ("css", "scss", "html") and not content.endswith(";"))


def _other_word(old: str, passage: Passage, rng: Random) -> str | None:
    """Return a name for a name, a word for a word of prose in the same capitals."""
    if passage.language not in PROSE:
        return new_name(old, "class" if old[0].isupper() and not old.isupper() else "variable", passage.text, rng)
    new = near_word(old.lower(), rng) or (word(rng) if rng.random() < STRANGE else old)
    return new.upper() if old.isupper() else new.capitalize() if old[0].isupper() else new


def _header(rng: Random) -> str:
    return rng.choice(
        (
            sentence(rng),
            f"TODO: {sentence(rng).lower()}",
            "SPDX-License-Identifier: MIT",
            "Generated file, do not edit",
            "vim: set ts=4 sw=4:",
            "end of file",
        )
    )


def _new_line(language: str, rng: Random) -> str:
    mark = comment_mark(language)
    name = snake(title_words(rng, 2))
    if language in ("markdown", "text", "rst"):
        return sentence(rng) + "."
    if language in ("javascript", "typescript"):
        return rng.choice(
            (
                f"console.log({camel(title_words(rng, 2))});",
                f"{mark} {sentence(rng)}",
                f"const {camel(title_words(rng, 2))} = {rng.randint(0, 99)};",
            )
        )
    if language == "yaml":
        return f"# {sentence(rng)}"
    if language in ("toml", "ini"):
        return f"{name} = {rng.randint(0, 999)}"
    if language == "bash":
        return rng.choice((f'{name.upper()}="{name}"', f'echo "{sentence(rng)}"', f"# {sentence(rng)}"))
    if language in ("css", "scss"):
        return rng.choice(
            (
                f"margin: {rng.randint(0, 40)}px;",
                "color: inherit;",
                f"z-index: {rng.randint(1, 99)};",
                "display: block;",
            )
        )
    if language == "html":
        return rng.choice((f"<p>{sentence(rng)}</p>", f"<!-- {sentence(rng)} -->"))
    return rng.choice((f"# {sentence(rng)}", f"{name} = {rng.randint(0, 99)}"))


OPERATIONS: Final = (
    Operation("delete_line_containing", delete_line_containing, ANY, 9),
    Operation("delete_line", delete_line, ANY, 3),
    Operation("delete_nth_line", delete_edge_line, FLAT, 0.6),
    Operation("duplicate_line", duplicate_line, ANY, 0.2),
    Operation("replace_line", replace_line, ANY, 6),
    Operation("insert_line", insert_line, ANY, 4, makes=("insert_after", "insert_before")),
    Operation("add_top", add_top, ANY, 1.2),
    Operation("add_bottom", add_bottom, ANY, 1),
    Operation("replace_text", replace_text, ANY, 5),
    Operation("word_case", word_case, ANY, 0.2, makes=("word_upper", "word_lower")),
)
