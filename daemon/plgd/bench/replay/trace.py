"""Traces: edits whose reply is known, so that drafting can be replayed without a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tokenizers import Tokenizer as TokenizerFile

from plgd.bench.material.pairs import FilePair
from plgd.documents.document import Document
from plgd.edits.announced import announced
from plgd.edits.prompt import make_prompt
from plgd.engine.model import Detokenizer, Tokenizer
from plgd.engine.stops import Stops
from plgd.errors import BenchError
from plgd.protocol.edits import LineRange

__all__ = ("OVERHANG", "PlainTokenizer", "Trace", "make_trace", "open_tokenizer", "stops_at_end")

# A draft may reach past the end, as it does past a closing fence: by more than any draft is long.
OVERHANG: Final = 256


class PlainTokenizer:
    """The tokenizer of a model folder without the model; chats are written without a template.

    Args:
        file: as the `tokenizers` library reads it.
    """

    control_strings: frozenset[str] = frozenset()

    def __init__(self, file: Any) -> None:  # noqa: ANN401 - the library has no annotations
        self._file = file

    def encode(self, text: str) -> list[int]:
        """Tokenize text as it stands."""
        tokens: list[int] = self._file.encode(text, add_special_tokens=False).ids
        return tokens

    def encode_chat(self, system: str, user: str, reply_start: str) -> list[int]:
        """Tokenize the turns with a line end between them."""
        return self.encode(f"{system}\n{user}\n{reply_start}")

    def decode(self, tokens: Sequence[int]) -> str:
        """Turn tokens into text."""
        text: str = self._file.decode(list(tokens), skip_special_tokens=False)
        return text

    def detokenizer(self) -> Detokenizer:
        """Refuse: a replay streams nothing."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Trace:
    """One edit.

    Attributes:
        name: of what was edited.
        kind: `release`, or the kind of a synthetic edit.
        prompt: its tokens.
        source: tokens of the text to rewrite and of the fence that closes it.
        reply: tokens of the new text and of the fence that closes it.
        announced: what the instruction says that the reply replaces, and what by.
        is_cut: the reply goes on, but no more of it was asked for.
    """

    name: str
    kind: str
    prompt: tuple[int, ...]
    source: tuple[int, ...]
    reply: tuple[int, ...]
    announced: tuple[tuple[str, str], ...] = ()
    is_cut: bool = False


def open_tokenizer(folder: Path) -> PlainTokenizer:
    """Open the tokenizer of a model folder.

    Raises:
        BenchError: there is none, or it is damaged.
    """
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise BenchError.unreadable(str(path), "a replay needs the tokenizer of a pulled model")
    try:
        return PlainTokenizer(TokenizerFile.from_file(str(path)))
    except Exception as error:  # the library raises nothing more specific
        raise BenchError.unreadable(str(path), str(error)) from error


class _Length:
    """Ends a reply with its trace."""

    def __init__(self, n_tokens: int) -> None:
        self._n_left = n_tokens

    def push(self, token: int) -> bool:  # noqa: ARG002 - counts tokens, whatever they are
        self._n_left -= 1
        return self._n_left == 0


def stops_at_end(trace: Trace) -> Stops:
    """Return stops that end a reply with its trace; only of a reply that is cut is it known beforehand where."""
    n_tokens = len(trace.reply)
    if trace.is_cut:
        return Stops(frozenset(), n_tokens, loop_guard=False)
    return Stops(frozenset(), n_tokens + OVERHANG, watcher=_Length(n_tokens), loop_guard=False)


def make_trace(pair: FilePair, instruction: str, kind: str, tokenizer: Tokenizer) -> Trace:
    """Make the trace of an edit: the product's own prompt, and the new text as the reply."""
    document = Document.of_text(pair.before, pair.path)
    prompt = make_prompt(document, LineRange(first=1, last=len(document.lines)), instruction, tokenizer)
    after = pair.after if pair.after.endswith("\n") else pair.after + "\n"
    source, reply = (tuple(tokenizer.encode(text + prompt.fence)) for text in (prompt.source, after))
    return Trace(f"{pair.package}/{pair.path}", kind, prompt.tokens, source, reply, announced(instruction, pair.before))
