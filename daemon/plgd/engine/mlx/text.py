"""The tokenizer of a model folder."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from plgd.engine.mlx.borders import NO_BORDER, find_borders
from plgd.engine.mlx.chat_template import ChatTemplate, Message, Piece, Render, plain_turns, turn_pieces
from plgd.engine.mlx.detokenizer import ByteDetokenizer, WindowDetokenizer
from plgd.engine.mlx.vocabulary import Vocabulary, token_bytes
from plgd.engine.model import Detokenizer, Known, Span, Turn
from plgd.errors import UnsupportedModel

if TYPE_CHECKING:
    from mlx_lm.tokenizer_utils import TokenizerWrapper  # the tokenizer itself needs no mlx

__all__ = ("MlxTokenizer",)


@dataclass(frozen=True, slots=True)
class _Chat:
    """A prompt as text.

    Attributes:
        text: the rendered template.
        owned: where the template itself spells control tokens.
        user_start: where the user's first character stands, or would stand if it were not stripped.
    """

    text: str
    owned: list[tuple[int, int]]
    user_start: int


class MlxTokenizer:
    """Implements `plgd.engine.model.ModelTokenizer` over a tokenizer that mlx-lm loaded.

    Args:
        wrapper: mlx-lm's tokenizer.
        name: the model's name, for messages.

    Raises:
        UnsupportedModel: not a fast tokenizer, or its chat template cannot be used.
    """

    def __init__(self, wrapper: TokenizerWrapper, name: str) -> None:
        backend = getattr(wrapper, "backend_tokenizer", None)
        if not isinstance(backend, Tokenizer):
            raise UnsupportedModel.of(name, "its tokenizer is not of the fast kind (it has no tokenizer.json)")
        self._vocabulary = Vocabulary.of(backend, str(wrapper.chat_template or ""))
        self._configured_eos = frozenset(int(token) for token in wrapper.eos_token_ids)
        self._template = ChatTemplate.plain()
        self._render: Render | None = None
        self._opening: list[int] = []
        if wrapper.has_chat_template:
            self._render = functools.partial(_render, wrapper)
            self._template = ChatTemplate.of(self._render, name)
        elif wrapper.bos_token_id in backend.encode("", add_special_tokens=True).ids:
            # Templates spell the first token themselves.
            self._opening = [wrapper.bos_token_id]
        # Special tokens stand for no text; other control tokens (`<think>`) are text, which a guard can see.
        self._silent = frozenset(i for i, token in backend.get_added_tokens_decoder().items() if token.special)
        table = token_bytes(self._vocabulary.plain)
        self._table = table and {token: spelled for token, spelled in table.items() if token not in self._silent}

    def encode(self, text: str) -> list[int]:
        """Tokenize text as it stands; control tokens written in it are plain text, nothing is added."""
        return self._vocabulary.encode(text)

    def encode_chat(self, system: str, user: str, reply_start: str) -> list[int]:
        """Tokenize one system and one user turn and the start of the reply.

        Equal to tokenizing the rendered template, except that control tokens spelled by the content are plain text.
        """
        return self._encode_pieces(self._template.pieces(system, user, reply_start))

    def encode_turns(self, turns: Sequence[Turn]) -> list[int]:
        """Tokenize a conversation, with the next reply's turn open."""
        pieces = plain_turns(turns) if self._render is None else turn_pieces(self._render, turns)
        return self._encode_pieces(pieces)

    @functools.cached_property
    def border(self) -> re.Pattern[str]:
        """Match where a text can be cut so that its parts tokenize alone as they do together."""
        if self._table is None or self._vocabulary.strips_around:
            return NO_BORDER
        return find_borders(self.encode, (spelled.decode("utf-8", "replace") for spelled in self._table.values()))

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the characters that each token of `encode(text)` stands for."""
        return tuple(Span(start, end) for start, end in self._vocabulary.offsets(text))

    def encode_known(self, system: str, user: str, reply_start: str, known: Known) -> list[int]:
        """Return what `encode_chat` would, without tokenizing a stretch of the user's text again."""
        chat = self._write_chat(system, user, reply_start)
        start, end = chat.user_start + known.start, chat.user_start + known.end
        behind = next((place for place, _ in chat.owned if place >= end), len(chat.text))
        # An added token that stands next to a control token may take blanks before it along.
        if self._spells(chat.text) != chat.owned or chat.text[behind - 1].isspace():
            return self.encode_chat(system, user, reply_start)
        head, tail = self._encode_marked(chat.text[:start]), self._encode_marked(chat.text[behind:])
        return [*self._opening, *head, *known.tokens, *self.encode(chat.text[end:behind]), *tail]

    def _encode_pieces(self, pieces: Iterable[Piece]) -> list[int]:
        text, owned = self._join(pieces)
        if self._spells(text) == owned:
            return [*self._opening, *self._encode_marked(text)]
        tokens = list(self._opening)
        done = 0
        for start, end in owned:
            tokens += [*self.encode(text[done:start]), self._vocabulary.controls[text[start:end]]]
            done = end
        return tokens + self.encode(text[done:])

    def _join(self, pieces: Iterable[Piece]) -> tuple[str, list[tuple[int, int]]]:
        """Return the text of a prompt, and the places where the template itself spells control tokens in it."""
        text = ""
        owned: list[tuple[int, int]] = []
        for piece in pieces:
            if not piece.is_content:
                owned += [(len(text) + start, len(text) + end) for start, end in self._spells(piece.text)]
            text += piece.text
        return text, owned

    def _write_chat(self, system: str, user: str, reply_start: str) -> _Chat:
        pieces = self._template.pieces(system, user, reply_start)
        text, owned = self._join(pieces)
        # The user's words end the third piece from the end; before them the system's may stand.
        words = user.rstrip() if self._template.strips_user else user
        return _Chat(text, owned, len(text) - sum(len(piece.text) for piece in pieces[-2:]) - len(words))

    def _spells(self, text: str) -> list[tuple[int, int]]:
        """Return the places where a text spells control tokens."""
        return [found.span() for found in self._vocabulary.spelling.finditer(text)]

    def _encode_marked(self, text: str) -> list[int]:
        tokens: list[int] = self._vocabulary.marked.encode(text, add_special_tokens=False).ids
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens into text; control tokens are left out."""
        if self._table is not None:
            return b"".join([self._table.get(token, b"") for token in tokens]).decode("utf-8", "replace")
        text: str = self._vocabulary.plain.decode([token for token in tokens if token not in self._silent])
        return text

    def detokenizer(self) -> Detokenizer:
        """Start a stream."""
        return WindowDetokenizer(self.decode) if self._table is None else ByteDetokenizer(self._table)

    @property
    def control_strings(self) -> frozenset[str]:
        """The spellings of the model's control tokens."""
        return frozenset(self._vocabulary.controls)

    @property
    def eos_tokens(self) -> frozenset[int]:
        """The tokens that end a reply: the configured ones, and the one with which the chat template closes a turn.

        Configurations often leave the second out.
        """
        found = self._vocabulary.spelling.match(self._template.turn_end.lstrip())
        return self._configured_eos | (frozenset() if found is None else {self._vocabulary.controls[found[0]]})


def _render(wrapper: TokenizerWrapper, messages: list[Message]) -> str:
    text: str = wrapper.apply_chat_template(
        messages,
        tokenize=False,
        add_generation_prompt=messages[-1]["role"] == "user",
        enable_thinking=False,
    )
    return text
