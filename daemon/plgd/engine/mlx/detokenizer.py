"""Streams of tokens to text, without broken characters and without loss."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence

__all__ = ("ByteDetokenizer", "WindowDetokenizer")

REPLACEMENT = "\ufffd"


class ByteDetokenizer:
    """For vocabularies in which a token is a string of bytes: each token costs its own length.

    Args:
        table: the bytes of each token; one that is not in it stands for no text.
    """

    def __init__(self, table: Mapping[int, bytes]) -> None:
        self._table = table
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """Take one token and return the text that became certain."""
        return self._decoder.decode(self._table.get(token, b""))

    def finish(self) -> str:
        """Return what is still held back."""
        return self._decoder.decode(b"", final=True)


class WindowDetokenizer:
    """For all other vocabularies: decodes a short window of tokens and returns what the last one added.

    Args:
        decode: turns tokens into text.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        self._decode = decode
        self._before: list[int] = []
        self._held: list[int] = []

    def push(self, token: int) -> str:
        """Take one token and return the text that became certain."""
        self._held.append(token)
        text = self._new_text()
        if text.endswith(REPLACEMENT):
            return ""
        self._before, self._held = self._held, []
        return text

    def finish(self) -> str:
        """Return what is still held back."""
        text = self._new_text()
        self._before, self._held = self._held, []
        return text

    def _new_text(self) -> str:
        # How a token reads may depend on the one before it, so both readings begin there.
        return self._decode([*self._before, *self._held])[len(self._decode(self._before)) :]
