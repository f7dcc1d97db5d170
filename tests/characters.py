"""Tokenizer files in memory, so that replays need no model."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plgd.bench.replay.trace import PlainTokenizer

__all__ = ("characters", "pieces")

# Line ends with the next line's indentation, words cut as a small vocabulary cuts them, with the blank before them.
PIECE = re.compile(r"\n *| ?\w{1,4}|\s|[^\w\s]")
# The same, and punctuation in one.
JOINED = re.compile(r"\n *| ?\w{1,4}|\s|[^\w\s]+")


@dataclass
class _Encoding:
    ids: list[int]


class _CharacterFile:
    def encode(self, text: str, *, add_special_tokens: bool) -> _Encoding:
        assert not add_special_tokens
        return _Encoding([ord(character) for character in text])

    def decode(self, tokens: list[int], *, skip_special_tokens: bool) -> str:
        assert not skip_special_tokens
        return "".join(map(chr, tokens))


class _PieceFile:
    def __init__(self, piece: re.Pattern[str]) -> None:
        self._piece = piece
        self._texts: list[str] = []
        self._tokens: dict[str, int] = {}

    def encode(self, text: str, *, add_special_tokens: bool) -> _Encoding:
        assert not add_special_tokens
        return _Encoding([self._token(piece) for piece in self._piece.findall(text)])

    def decode(self, tokens: list[int], *, skip_special_tokens: bool) -> str:
        assert not skip_special_tokens
        assert min(tokens, default=0) >= 0
        return "".join(self._texts[token] for token in tokens)

    def _token(self, piece: str) -> int:
        if piece not in self._tokens:
            self._tokens[piece] = len(self._texts)
            self._texts.append(piece)
        return self._tokens[piece]


def characters() -> PlainTokenizer:
    """Make a tokenizer of one token per character."""
    return PlainTokenizer(_CharacterFile())


def pieces(*, joined: bool = False) -> PlainTokenizer:
    """Make a tokenizer whose tokens are pieces of words; what it learnt it alone knows.

    Args:
        joined: punctuation that stands together is one token.
    """
    return PlainTokenizer(_PieceFile(JOINED if joined else PIECE))
