"""What the rest of the daemon knows of a loaded model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from plgd.engine.correction import LiveCosts
from plgd.engine.kept import KeepingTarget
from plgd.engine.sampling import GREEDY, Sampling
from plgd.engine.together import Together

__all__ = (
    "BorderedTokenizer",
    "Detokenizer",
    "Known",
    "Model",
    "ModelTokenizer",
    "Span",
    "Tokenizer",
    "Turn",
)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of a text, from `start` up to `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Known:
    """A stretch of a text between two borders of the tokenizer, with its tokens.

    Attributes:
        start: the character at which it begins.
        end: the character before which it ends.
        tokens: those of the stretch.
    """

    start: int
    end: int
    tokens: Sequence[int]


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said in a conversation."""

    role: Literal["system", "user", "assistant"]
    text: str


class Detokenizer(Protocol):
    """Turns a stream of tokens into text. Never yields a broken character."""

    def push(self, token: int) -> str:
        """Take one token and return the text that became certain; often empty inside a multi-byte character."""
        ...

    def finish(self) -> str:
        """Return what is still held back; undecodable bytes become U+FFFD."""
        ...


class Tokenizer(Protocol):
    """Text to tokens and back."""

    def encode(self, text: str) -> list[int]:
        """Tokenize text as it stands; control tokens written in it are plain text, nothing is added."""
        ...

    def encode_chat(self, system: str, user: str, reply_start: str) -> list[int]:
        """Tokenize one system and one user turn in the model's chat template, and the start of the reply.

        The reply's turn is left open after `reply_start`. Thinking is switched off where the template can.
        Control tokens that the user's text happens to spell stay plain text.
        """
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens into text; control tokens are left out."""
        ...

    def detokenizer(self) -> Detokenizer:
        """Start a stream."""
        ...

    @property
    def control_strings(self) -> frozenset[str]:
        """The spellings of the model's control tokens, such as `<|im_end|>`."""
        ...


class BorderedTokenizer(Tokenizer, Protocol):
    """A tokenizer that says where a text can be cut so that its parts tokenize alone as they do together."""

    @property
    def border(self) -> re.Pattern[str]:
        """Match, without width, at such places; decided by one character before the place and two behind it."""
        ...

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the characters that each token of `encode(text)` stands for; parts of one character share it."""
        ...

    def encode_known(self, system: str, user: str, reply_start: str, known: Known) -> list[int]:
        """Return what `encode_chat` would, without tokenizing a stretch of the user's text again.

        Args:
            system: the system's turn.
            user: the user's turn.
            reply_start: the start of the reply.
            known: the stretch of `user`.
        """
        ...


class ModelTokenizer(BorderedTokenizer, Protocol):
    """A tokenizer that knows the model's chat template for any conversation."""

    def encode_turns(self, turns: Sequence[Turn]) -> list[int]:
        """Tokenize a conversation in the model's chat template; the next reply's turn is left open.

        Thinking is switched off where the template can. Control tokens that the turns happen to spell stay plain text.

        Args:
            turns: the last one the user's. What a system turn at their beginning says opens the first user's turn
                where the template has no place for it.

        Raises:
            InvalidParams: the template refuses such a conversation, or leaves some of it out.
        """
        ...


class Model(Protocol):
    """A model in memory. One thread owns it."""

    @property
    def name(self) -> str:
        """The name it was asked for by."""
        ...

    @property
    def tokenizer(self) -> ModelTokenizer:
        """Its tokenizer."""
        ...

    @property
    def eos_tokens(self) -> frozenset[int]:
        """The tokens that end a reply."""
        ...

    @property
    def context_limit(self) -> int:
        """The longest prompt and reply together, in tokens."""
        ...

    @property
    def state_key(self) -> str:
        """Tell the model's states from those of other weights, libraries and kinds of KV; the first call may take long.

        Equal keys mean that a state of one can be used by the other.
        """
        ...

    @property
    def costs(self) -> LiveCosts:
        """What rounds cost on this device; shared by all replies and corrected by their rounds."""
        ...

    @property
    def together(self) -> Together:
        """Runs turns of several jobs, whose rounds share passes where the model and its costs allow it."""
        ...

    def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:
        """Start an empty sequence.

        Args:
            sampling: how its tokens are taken from the model's logits.

        Raises:
            InvalidParams: later, with the first token: a bias for a token that the model does not have.
        """
        ...
