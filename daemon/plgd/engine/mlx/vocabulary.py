"""A fast tokenizer as plgd uses it: exact text in, exact text out, and control tokens never by accident."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from tokenizers import AddedToken, Encoding, Tokenizer

__all__ = ("Vocabulary", "token_bytes")

# Spelled like a control token, whatever the tokenizer's file says: `<|fim_middle|>`, or with DeepSeek's wide bars.
CONTROL_SHAPE: Final = re.compile(r"<[|｜][^\s]*[|｜]>")
BYTE_TOKEN: Final = re.compile(r"<0x([0-9A-Fa-f]{2})>")
SPACE_MARK: Final = "\u2581"


@dataclass(frozen=True)
class Vocabulary:
    """Two views of one tokenizer.

    Attributes:
        marked: as published; control tokens written in the text become control tokens. For chat templates.
        plain: the same vocabulary, but control tokens are plain text, nothing is put in front of the text, and
            decoding strips nothing, so that text -> tokens -> text is the identity at any place in a text.
        controls: the control tokens, spelling -> token.
        spelling: matches any control token, the longest first.
    """

    marked: Tokenizer
    plain: Tokenizer
    controls: dict[str, int]
    spelling: re.Pattern[str]

    @classmethod
    def of(cls, tokenizer: Tokenizer, template: str) -> Vocabulary:
        """Take a tokenizer apart.

        Args:
            tokenizer: as loaded; it is not changed.
            template: the source of the chat template; every added token that it spells is a control token.
        """
        added = tokenizer.get_added_tokens_decoder()
        controls = {
            token.content: number
            for number, token in added.items()
            if token.content.strip()
            and (token.special or token.content in template or CONTROL_SHAPE.fullmatch(token.content))
        }
        plain = Tokenizer.from_str(json.dumps(_without_affixes(json.loads(tokenizer.to_str()))))
        plain.add_special_tokens([AddedToken(spelling, special=True, normalized=False) for spelling in controls])
        plain.encode_special_tokens = True
        longest_first = sorted(controls, key=len, reverse=True)
        # Without control tokens: a pattern that matches nowhere.
        return cls(tokenizer, plain, controls, re.compile("|".join(map(re.escape, longest_first)) or r"(?!)"))

    def encode(self, text: str) -> list[int]:
        """Tokenize text in which nothing is a control token."""
        return [token for _, encoding in self._encode_parts(text) for token in encoding.ids]

    def offsets(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the characters, first and behind the last, that each token of `encode(text)` stands for."""
        for place, encoding in self._encode_parts(text):
            yield from ((place + start, place + end) for start, end in encoding.offsets)

    @property
    def strips_around(self) -> bool:
        """Whether an added token takes blanks beside it along, or is one only where it is a whole word."""
        added = self.plain.get_added_tokens_decoder().values()
        return any(token.lstrip or token.rstrip or token.single_word for token in added)

    def _encode_parts(self, text: str) -> Iterator[tuple[int, Encoding]]:
        """Yield the parts of a text that are tokenized alone, with the place where each begins; one part as a rule."""
        whole = self.plain.encode(text, add_special_tokens=False)
        if not self.spelling.search(text) or set(self.controls.values()).isdisjoint(whole.ids):
            yield 0, whole
            return
        # A vocabulary whose model itself can produce a control piece from text (Unigram does): break the spelling.
        places = [0, *(found.start() + 1 for found in self.spelling.finditer(text)), len(text)]
        for start, end in pairwise(places):
            yield start, self.plain.encode(text[start:end], add_special_tokens=False)


def _without_affixes(content: dict[str, Any]) -> dict[str, Any]:
    """Take what puts a blank in front of a text, and what strips it again, out of a tokenizer's description."""
    return content | {
        "normalizer": _rebuild(content.get("normalizer")),
        "pre_tokenizer": _rebuild(content.get("pre_tokenizer")),
        "decoder": _rebuild(content.get("decoder")),
        "post_processor": None,
        "truncation": None,
        "padding": None,
    }


def _rebuild(part: dict[str, Any] | None) -> dict[str, Any] | None:
    if part is None or part["type"] in ("Prepend", "Strip"):
        return None
    rebuilt = dict(part)
    for members in ("normalizers", "pretokenizers", "decoders"):
        if members in part:
            rebuilt[members] = [inner for inner in map(_rebuild, part[members]) if inner is not None]
    if "prepend_scheme" in part:
        rebuilt["prepend_scheme"] = "never"
    if "add_prefix_space" in part:
        rebuilt["add_prefix_space"] = False
    return rebuilt


def token_bytes(tokenizer: Tokenizer) -> dict[int, bytes] | None:
    """Return the bytes that each token stands for; None when the decoder is of a kind that has no such table.

    Numbers without a token are left out: vocabularies may have gaps, and the models' are often padded.

    Byte-level vocabularies spell every byte as one character (OpenAI's `bytes_to_unicode`), SentencePiece ones spell
    a blank as U+2581 and a lone byte as `<0xNN>`.
    """
    kinds = _decoder_kinds(json.loads(tokenizer.to_str())["decoder"])
    spellings = tokenizer.get_vocab(with_added_tokens=True)
    if kinds == {"ByteLevel"}:
        alphabet = _byte_alphabet()
        return {token: _byte_level(spelling, alphabet) for spelling, token in spellings.items()}
    if kinds and kinds <= {"Replace", "ByteFallback", "Fuse", "Metaspace"}:
        return {token: _sentencepiece(spelling) for spelling, token in spellings.items()}
    return None


def _decoder_kinds(decoder: dict[str, Any] | None) -> set[str]:
    if decoder is None:
        return set()
    if decoder["type"] == "Sequence":
        return {kind for inner in decoder["decoders"] for kind in _decoder_kinds(inner)}
    if decoder["type"] == "Replace" and (decoder["pattern"], decoder["content"]) != ({"String": SPACE_MARK}, " "):
        return {"a replacement of another kind"}
    return {decoder["type"]}


def _byte_alphabet() -> dict[str, int]:
    """Invert `bytes_to_unicode`: printable bytes stand for themselves, the others for U+0100 onwards."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(0x100) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + i): byte for i, byte in enumerate(others)}


def _byte_level(spelling: str, alphabet: dict[str, int]) -> bytes:
    # An added token may be spelled with characters that are no bytes; it stands for its own text then.
    if all(character in alphabet for character in spelling):
        return bytes(alphabet[character] for character in spelling)
    return spelling.encode()


def _sentencepiece(spelling: str) -> bytes:
    byte = BYTE_TOKEN.fullmatch(spelling)
    return bytes([int(byte[1], 16)]) if byte else spelling.replace(SPACE_MARK, " ").encode()
