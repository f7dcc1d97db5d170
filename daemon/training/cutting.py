"""Where a text may be cut: between top-level statements, sections, paragraphs, tables."""

from __future__ import annotations

import re
from typing import Final

from plgd.text.lines import split_lines
from training.spans import is_blank

__all__ = ("borders", "cut_to_pieces", "pieces_between")

_STARTS: Final = {
    "python": re.compile(
        r"(?:@|def |class |async def |if |for |while |try:|with |[A-Za-z_][\w.]* *(?::[^=]+)?= |import |from |#)"
    ),
    "javascript": re.compile(
        r"(?:export |function |async function |class |const |let |var |import |/\*\*|//|if |module\.|describe\()"
    ),
    "typescript": re.compile(
        r"(?:export |function |async function |class |const |let |var |import |interface |type |declare |abstract "
        r"|enum |/\*\*|//|if )"
    ),
    "markdown": re.compile(r"#{1,6} "),
    "toml": re.compile(r"\["),
    "ini": re.compile(r"\["),
    "yaml": re.compile(r"[\w\"'-]"),
    "css": re.compile(r"[.#@:\w*/]"),
    "scss": re.compile(r"[.#@:\w*/$]"),
    "bash": re.compile(r"(?:[\w-]+ *\(\)|function |if |for |case |#|[A-Za-z_]\w*=)"),
}
_UNDERLINE: Final = re.compile(r"([=\-~^*+#\"'.])\1{2,}\s*$")
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
# Languages where a border needs no blank line before it.
_TIGHT: Final = frozenset(("yaml",))


def borders(text: str, language: str) -> list[int]:
    """Return the lines, counted from 0, at which something new begins, the first line among them."""
    lines = split_lines(text)
    start = _STARTS.get(language)
    found = [0]
    fenced = False
    for index, line in enumerate(lines):
        if language == "markdown" and _FENCE.match(line):
            fenced = not fenced
        if index == 0 or fenced or not (language in _TIGHT or is_blank(lines[index - 1])) or is_blank(line):
            continue
        if language == "rst":
            below = lines[index + 1] if index + 1 < len(lines) else ""
            begins = _UNDERLINE.match(below) is not None and not line.startswith(" ")
        elif language == "text":
            begins = not line.startswith((" ", "\t"))
        else:
            begins = start is not None and start.match(line) is not None
        if begins:
            found.append(index)
    return found


def cut_to_pieces(text: str, language: str, max_lines: int, max_characters: int) -> list[str]:
    """Cut a text at its borders into pieces that are as long as allowed; what has no border stays longer."""
    return pieces_between(text, borders(text, language), max_lines, max_characters)


def pieces_between(text: str, at: list[int], max_lines: int, max_characters: int) -> list[str]:
    """Cut a text at some of the given lines; blank lines at a piece's end are dropped, but for the text's own."""
    lines = split_lines(text)
    if len(lines) <= max_lines and len(text) <= max_characters:
        return [text]
    blocks = ["".join(lines[first:last]) for first, last in zip(at, [*at[1:], len(lines)], strict=True)]
    pieces: list[str] = []
    current = ""
    for block in blocks:
        together = current + block
        if current and (len(split_lines(together)) > max_lines or len(together) > max_characters):
            pieces.append(current)
            together = block
        current = together
    pieces.append(current)
    return [piece.rstrip() + "\n" for piece in pieces if piece.strip()]
