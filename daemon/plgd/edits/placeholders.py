"""Finds lines by which a model says "the rest stays as it is" instead of writing the rest.

A placeholder is a comment, a bracketed remark or a line that begins with an ellipsis, and says little more than
*rest*, *existing code* or *unchanged*. An ellipsis alone, or the words without one, may well be meant; they count
only where lines went away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from plgd.text.diff import diff_lines

__all__ = ("find_placeholder", "is_marker")

# What a remark may be wrapped in: comment signs of all languages, brackets, quotes.
_WRAPPING: Final = " \t\r\n#/*;%<>!{}[]()\"'`-=~,:|_"
_COMMENT: Final = re.compile(r"\s*(?:#|//|/\*|\*|--|;|%|<!--|\{/\*|[\[(<{]|\"\"\"|''')")
_ELLIPSIS: Final = re.compile(r"\.{3,}|…")
_ELIDED_BODY: Final = re.compile(r"\{\s*(?:\.{3}|…)\s*\}|(?:/\*|//|#|<!--|\")\s*(?:\.{3,}|…)\s*(?:\*/|-->|\",?)?\s*$")
_WORD: Final = re.compile(r"\w+")


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# At least one of these, and nothing but these and the fillers.
_KEYS: Final = _words(
    "rest remaining remainder existing unchanged unmodified untouched omitted same previous original elided snip",
    "snipped truncated abbreviated",
)
_FILLERS: Final = _words(
    "the of a an and or all your my this that its it is are be was were as to in on from for with at by so like no not",
    "here there above below now before other others more code file files text content contents line lines part parts",
    "section sections block body class method methods function functions implementation implementations logic import",
    "imports item items entry entries field fields row rows test tests definition definitions document module script",
    "program component config stay stays remain remains keep kept continue continues continued go goes follow follows",
    "intact exactly changes changed brevity etc",
)
_STUB_WORDS: Final = re.compile(
    r"\.{3}|…|\b(?:ellips[ie]s|placeholders?|stubs?|protocol|abstract|interface|overloads?|pyi|skeleton|elide|shorten)\b",
    re.IGNORECASE,
)


def is_marker(line: str) -> bool:
    """Tell whether a line of a sketch stands for lines that stay as they are, such as `# ... existing code ...`."""
    core = _core(line)
    if _COMMENT.match(line) is not None and _ELLIPSIS.match(core) and _ELLIPSIS.search(core[-3:]):
        return True
    return _says_rest(line, core, shrinks=False)


def find_placeholder(
    source: Sequence[str], reply: Sequence[str], instruction: str, sketch: Sequence[str] = ()
) -> str | None:
    """Return the first placeholder that the reply has and the source lacks.

    Args:
        source: lines of the text.
        reply: lines of the new text.
        instruction: the user's words; a placeholder that they spell out is wanted.
        sketch: lines of the sketch that the reply was to be made of; its markers are never wanted.
    """
    known = {_core(line) for line in source}
    markers = {line.strip() for line in sketch if is_marker(line)}
    asked = " ".join(instruction.split()).casefold()
    wants_stubs = _STUB_WORDS.search(instruction) is not None
    for hunk in diff_lines(source, reply):
        n_gone = _n_filled(hunk.old_lines) - _n_filled(hunk.new_lines)
        for line in hunk.new_lines:
            core = _core(line)
            if line.strip() in markers and core not in known:
                return line.strip()
            if core in known or (len(core) > len("...") and core in asked):
                continue
            if _says_rest(line, core, shrinks=n_gone >= 2):
                return line.strip()
            if n_gone >= 2 and not wants_stubs and _is_bare(line, core):
                return line.strip()
    return None


def _core(line: str) -> str:
    return " ".join(line.strip(_WRAPPING).split()).casefold()


def _n_filled(lines: Sequence[str]) -> int:
    return sum(not line.isspace() for line in lines)


def _says_rest(line: str, core: str, *, shrinks: bool) -> bool:
    ellipsis = _ELLIPSIS.search(core)
    remark = _COMMENT.match(line) is not None or (ellipsis is not None and ellipsis.start() == 0)
    if not remark or (ellipsis is None and not shrinks):
        return False
    words = _WORD.findall(core)
    n_others = sum(word not in _KEYS and word not in _FILLERS for word in words)
    # With an ellipsis, one name may be told: "... rest of calculate_total ...".
    return len(words) <= 12 and not _KEYS.isdisjoint(words) and n_others <= (ellipsis is not None)


def _is_bare(line: str, core: str) -> bool:
    return _ELLIPSIS.fullmatch(core) is not None or _ELIDED_BODY.search(line) is not None
