"""How much of the source a reply has covered, for progress."""

from __future__ import annotations

from plgd.text.lines import split_lines

__all__ = ("Coverage",)

# A reply that skips more lines than this at once is followed again when it meets a later line within them.
_AHEAD = 200


class Coverage:
    """Walks along the source while the reply copies it; lines that it changes or inserts do not move it.

    Args:
        source: the text that is rewritten, in the model's view.
    """

    def __init__(self, source: str) -> None:
        self._lines = split_lines(source)
        self._at = 0
        self._partial = ""

    def feed(self, text: str) -> None:
        """Take the next piece of the new text."""
        *whole, self._partial = (self._partial + text).split("\n")
        for line in whole:
            ahead = self._lines[self._at : self._at + _AHEAD]
            if f"{line}\n" in ahead:
                self._at += ahead.index(f"{line}\n") + 1

    @property
    def percent(self) -> float:
        """The share of the source's lines that the reply has passed, 0 to 100."""
        return 100.0 * self._at / max(1, len(self._lines))
