r"""Lines of a text, split at `\n`, `\r\n` and `\r` only, endings kept.

`str.splitlines` also splits at form feeds, NEL, U+2028 and a few more. Editors and compilers do not, so line numbers
would shift and an edit would land on the wrong line.

A text that ends with an ending has no empty line after it: `"a\n"` has one line, `""` has none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from io import StringIO

__all__ = ("body", "common_ending", "ending", "split_lines")


def split_lines(text: str) -> tuple[str, ...]:
    """Split a text into its lines, each with its ending; joining them gives the text back."""
    # With this `newline`, Python's text files know exactly these endings, and leave them as they are.
    return tuple(StringIO(text, newline=""))


def body(line: str) -> str:
    """Return the line without its ending."""
    return line.rstrip("\r\n")


def ending(line: str) -> str:
    r"""Return the line's ending: `\n`, `\r\n`, `\r`, or nothing on a last line that has none."""
    return line[len(body(line)) :]


def common_ending(lines: Iterable[str]) -> str:
    r"""Return the ending that most lines have; of equals the first seen; `\n` when no line has one."""
    counts = Counter(found for line in lines if (found := ending(line)))
    return max(counts, key=counts.__getitem__, default="\n")
