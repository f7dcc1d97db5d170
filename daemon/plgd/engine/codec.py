"""The codec: the one door through which text enters the engine, for substitutions only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ("SpanCodec",)


class SpanCodec(Protocol):
    """Turns spans of tokens into text and back; a model's tokenizer is one."""

    def encode(self, text: str) -> list[int]:
        """Tokenize text as it stands; nothing is added."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens into text."""
        ...
