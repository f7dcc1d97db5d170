"""What operations on any file share."""

from __future__ import annotations

from typing import Final

from training.edit import CODE, Passage
from training.python_text import parse_python

__all__ = (
    "ANY",
    "MARKS",
    "comment_mark",
    "has_multiline_string",
)

# Code twice: it is drawn more often.
ANY: Final = (*CODE, *CODE, "markdown", "text", "rst", "toml", "yaml", "css", "scss", "html", "bash", "ini", "json")
# What begins a comment of one line.
MARKS: Final = {
    "python": "#",
    "yaml": "#",
    "toml": "#",
    "bash": "#",
    "ini": "#",
    "javascript": "//",
    "typescript": "//",
    "scss": "//",
}


def comment_mark(language: str) -> str | None:
    """Return what begins a comment of one line; None for languages without."""
    return MARKS.get(language)


def has_multiline_string(passage: Passage) -> bool:
    """Tell whether a string goes over several lines, whose blanks then mean something."""
    if passage.language == "python":
        parsed = parse_python(passage.text)
        return parsed is None or any("\n" in string for _, string, _, _ in parsed.tokens() if len(string) > 2)
    return "`" in passage.text and passage.language in CODE
