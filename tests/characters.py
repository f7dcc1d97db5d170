"""A tokenizer file in memory: one token per character, so that replays need no model."""

from __future__ import annotations

from dataclasses import dataclass

from plgd.bench.trace import PlainTokenizer

__all__ = ("characters",)


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


def characters() -> PlainTokenizer:
    """Make the tokenizer."""
    return PlainTokenizer(_CharacterFile())
