"""Hypothesis strategies that several parts share: the texts that editors and disks really hold."""

from __future__ import annotations

from hypothesis import strategies as st

__all__ = ("ENDINGS", "line_bodies", "texts")

ENDINGS = ("\n", "\r\n", "\r")

# What breaks careless tools: form feed, vertical tab, NEL, U+2028 and U+2029 inside lines; tabs, trailing blanks,
# combining marks, astral characters, backticks, patch markers.
_PIECES = (
    "",
    "a",
    "b",
    "x = 1",
    "\t",
    "  ",
    " ",
    "\f",
    "\v",
    "\x85",
    "\u2028",
    "\u2029",
    "é",
    "e\u0301",
    "漢",
    "😀",
    "👩‍💻",
    "`",
    "```",
    "+",
    "-",
    "\\",
)


def line_bodies() -> st.SearchStrategy[str]:
    """Lines without endings; few different ones, so that repeats are common."""
    return st.lists(st.sampled_from(_PIECES), max_size=3).map("".join)


@st.composite
def texts(draw: st.DrawFn, min_lines: int = 0, max_lines: int = 12) -> str:
    """Texts of mixed endings, with or without a final one."""
    bodies = draw(st.lists(line_bodies(), min_size=min_lines, max_size=max_lines))
    endings = draw(st.lists(st.sampled_from(ENDINGS), min_size=len(bodies), max_size=len(bodies)))
    text = "".join(body + ending for body, ending in zip(bodies, endings, strict=True))
    return text + draw(line_bodies())
