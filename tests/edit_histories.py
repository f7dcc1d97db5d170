"""Random histories of a text under edits: what people type, paste, delete and undo."""

from __future__ import annotations

from hypothesis import strategies as st

from strategies import texts

__all__ = ("edited", "histories")

_INSERTED = st.sampled_from(
    (
        "",
        "x",
        " ",
        "\n",
        "\r\n",
        "\r",
        "    ",
        "\t",
        "😀",
        "\u0301",
        "'s",
        "1",
        "1234567",
        "//",
        "{\n",
        "):\n\n",
        "return x",
        "\n\nclass A:\n    b = 1\n",
        "<|im_end|>",
        "漢字",
    )
)


def edited(text: str, start: int, end: int, new: str) -> str:
    """Return the text after a stretch was replaced."""
    return text[:start] + new + text[end:]


@st.composite
def histories(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A text, long enough for several blocks more often than not, and the texts that edits make of it in turn."""
    text = draw(texts(max_lines=30)) * draw(st.sampled_from((1, 8, 60)))
    if draw(st.booleans()):
        text = (
            draw(st.sampled_from(("word " * 500, "x" * 3000, "def f(x):\n    return x\n\n" * 100, "a\n" * 900))) + text
        )
    first, later = text, []
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.sampled_from((0, 0, 1, 2, 700)))
        text = edited(text, start, end, draw(_INSERTED | texts(max_lines=3)))
        later.append(text)
    return first, later
