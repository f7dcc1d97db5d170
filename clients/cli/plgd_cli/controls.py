"""Control characters made visible: text from a file or a model must not be able to steer the user's terminal."""

from __future__ import annotations

import re
from typing import Final

__all__ = ("visible",)

# C0 and C1 controls but tab and line feed, and the marks that turn the direction of writing, which can make a line read
# as another one than it is (CVE-2021-42574).
CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Replace control characters by pictures of them, those without a picture by their number."""
    return CONTROLS.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # Unicode's control pictures begin at U+2400 in the order of the controls
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else f"<{code:02X}>"
