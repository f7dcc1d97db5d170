"""A unified diff as a person sees it on a terminal."""

from __future__ import annotations

import re
from typing import Final

__all__ = ("render",)

RESET: Final = "\x1b[0m"
COLOURS: Final = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m", "\\": "\x1b[2m"}
HEADER: Final = "\x1b[1m"

# C0 and C1 controls but tab: text from a file must not be able to steer the terminal.
CONTROLS: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f]")


def render(diff: str) -> str:
    """Colour the lines of a diff and make its control characters visible.

    Args:
        diff: a unified diff of one file. Only line feeds end its lines.

    Returns:
        Text for a terminal only; the diff itself is what a pipe gets.
    """
    in_header = True
    shown = []
    for line in diff.removesuffix("\n").split("\n"):
        in_header = in_header and not line.startswith("@@")
        colour = HEADER if in_header else COLOURS.get(line[:1], "")
        # A CR at the end of an unchanged line is nobody's concern; in a changed one it may be the whole change.
        body = _visible(line if colour else line.removesuffix("\r"))
        shown.append(f"{colour}{body}{RESET}\n" if colour else f"{body}\n")
    return "".join(shown)


def _visible(line: str) -> str:
    return CONTROLS.sub(_picture, line)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # Unicode's control pictures begin at U+2400 in the order of the controls
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else f"<{code:02X}>"
