"""A unified diff as a person sees it on a terminal."""

from __future__ import annotations

from typing import Final

from plgd_cli.controls import visible

__all__ = ("render",)

RESET: Final = "\x1b[0m"
COLOURS: Final = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m", "\\": "\x1b[2m"}
HEADER: Final = "\x1b[1m"


def render(diff: str) -> str:
    """Colour the lines of a diff and make its control characters visible.

    Args:
        diff: a unified diff of one file. Only line feeds end its lines.

    Returns:
        Text for a terminal only; the diff itself is what a pipe gets.
    """
    lines = diff.split("\n")
    if not lines[-1]:
        lines.pop()  # what follows the last line feed is no line
    in_header = True
    shown = []
    for line in lines:
        in_header = in_header and not line.startswith("@@")
        colour = HEADER if in_header else COLOURS.get(line[:1], "")
        # A CR at the end of an unchanged line is nobody's concern; in a changed one it may be the whole change.
        body = visible(line if colour else line.removesuffix("\r"))
        shown.append(f"{colour}{body}{RESET}\n" if colour else f"{body}\n")
    return "".join(shown)
