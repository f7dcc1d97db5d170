"""The token index: the tokens of a text, kept in step with it at the price of a few lines per change.

The text is held in blocks of some hundred characters that begin and end at borders of the tokenizer (see
`plgd.engine.model.BorderedTokenizer`). A block's tokens depend on the block alone, so a change tokenizes the blocks
that it touches again and nothing behind it is rewritten: places are counted within a block.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final

from plgd.engine.model import BorderedTokenizer, Known, Span
from plgd.engine.source_index import SourceIndex
from plgd.engine.sources import MAX_SOURCE_TOKENS
from plgd.text.overlap import find_splice

__all__ = ("TokenIndex",)

# Tokenizing so much takes a tenth of a millisecond, and 20,000 lines are three thousand blocks.
BLOCK_CHARACTERS: Final = 192
# Characters before and after a border that decide whether it is one.
LOOKS_BACK: Final = 1
LOOKS_AHEAD: Final = 2


@dataclass(slots=True)
class _Block:
    """A stretch of the text between two borders, and its tokens."""

    n_characters: int
    tokens: array[int]
    spans: tuple[Span, ...] | None = None


class TokenIndex:
    """The tokens of a text, always those that tokenizing it from scratch would give.

    Args:
        tokenizer: the model's.
        text: what is tokenized; no half surrogates.
    """

    def __init__(self, tokenizer: BorderedTokenizer, text: str = "") -> None:
        self._tokenizer = tokenizer
        self._text = ""
        self._blocks: list[_Block] = []
        self._ends: list[int] = []
        self._source: SourceIndex | None = None
        self._replace(0, 0, text, 0)

    @property
    def text(self) -> str:
        """What is tokenized."""
        return self._text

    @property
    def n_tokens(self) -> int:
        """How many tokens there are."""
        return sum(len(block.tokens) for block in self._blocks)

    def tokens(self) -> list[int]:
        """Return all tokens."""
        return list(chain.from_iterable(block.tokens for block in self._blocks))

    @property
    def n_source(self) -> int:
        """How many tokens the draft index holds; 0 without one."""
        return len(self._source) if self._source is not None else 0

    def source(self) -> SourceIndex:
        """Return the draft index of the text, made when it is asked for and kept until the text changes.

        It leaves the last block out, whose tokens depend on what a prompt or a reply puts behind it.
        """
        if self._source is None:
            tokens = chain.from_iterable(block.tokens for block in self._blocks[:-1])
            self._source = SourceIndex(list(islice(tokens, MAX_SOURCE_TOKENS)))
        return self._source

    def drop_source(self) -> None:
        """Let go of the draft index."""
        self._source = None

    def update(self, text: str) -> int:
        """Take a new text; what lies outside of the one stretch that differs costs nothing.

        Returns:
            How many characters were tokenized.
        """
        splice = find_splice(self._text, text)
        if splice is None:
            return 0
        # A border stands while the characters that make it one do.
        first = bisect_right(self._ends, splice.start - LOOKS_AHEAD)
        last = bisect_left(self._ends, splice.old_end + LOOKS_BACK, lo=min(first, len(self._ends)))
        if last + 1 < len(self._blocks) and self._length(first, last) < BLOCK_CHARACTERS // 2:
            last += 1  # many small changes must not leave many small blocks
        return self._replace(first, min(last + 1, len(self._blocks)), text, splice.new_end - splice.old_end)

    def span(self, place: int) -> Span:
        """Return the characters that a token stands for; parts of one character share it.

        Args:
            place: of the token, counted from 0.

        Raises:
            IndexError: there is no such token.
        """
        start = 0
        for block, end in zip(self._blocks, self._ends, strict=True):
            if 0 <= place < len(block.tokens):
                start = end - block.n_characters
                if block.spans is None:
                    block.spans = self._tokenizer.spans(self._text[start:end])
                return Span(start + block.spans[place].start, start + block.spans[place].end)
            place -= len(block.tokens)
        raise IndexError("there is no such token")

    def inside(self) -> Known | None:
        """Return the stretch from the first border to the last; None when there are not two."""
        if len(self._blocks) < 3:
            return None
        tokens = list(chain.from_iterable(block.tokens for block in self._blocks[1:-1]))
        return Known(self._ends[0], self._ends[-2], tokens)

    def encode_chat(self, system: str, user: str, reply_start: str, at: int) -> list[int]:
        """Return the tokens of a prompt, as `Tokenizer.encode_chat` would.

        Args:
            system: the system's turn.
            user: the user's turn; the text stands in it.
            reply_start: the start of the reply.
            at: the character of `user` at which the text begins.
        """
        inside = self.inside()
        if inside is None:
            return self._tokenizer.encode_chat(system, user, reply_start)
        known = Known(at + inside.start, at + inside.end, inside.tokens)
        return self._tokenizer.encode_known(system, user, reply_start, known)

    def encode_part(self, start: int, end: int, behind: str = "") -> list[int]:
        """Return the tokens of a part of the text, alone, with another text behind it.

        Only what lies outside of whole blocks is tokenized.

        Args:
            start: in characters.
            end: in characters.
            behind: what is put behind it.
        """
        starts = [0, *self._ends[:-1]]
        first, last = bisect_left(starts, start), bisect_right(self._ends, end)
        if first + 1 >= last:
            return self._tokenizer.encode(self._text[start:end] + behind)
        # The last whole block may end where `behind` begins, which is no border: it is tokenized with it.
        last -= 1
        tokens = self._tokenizer.encode(self._text[start : starts[first]])
        tokens += chain.from_iterable(block.tokens for block in self._blocks[first:last])
        return tokens + self._tokenizer.encode(self._text[starts[last] : end] + behind)

    def _length(self, first: int, last: int) -> int:
        return sum(block.n_characters for block in self._blocks[first : last + 1])

    def _replace(self, first: int, last: int, text: str, growth: int) -> int:
        """Make the blocks from `first` up to `last` anew for a text that grew in them."""
        start = self._ends[first - 1] if first else 0
        end = (self._ends[last - 1] if last else 0) + growth if self._blocks else len(text)
        self._text, self._source = text, None
        cuts = list(self._cut(start, end))
        self._blocks[first:last] = [
            _Block(stop - at, array("i", self._tokenizer.encode(text[at:stop]))) for at, stop in cuts
        ]
        self._ends[first:] = [stop for _, stop in cuts] + [behind + growth for behind in self._ends[last:]]
        return end - start

    def _cut(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Cut a stretch at borders; a block that grows is cut when it has twice the size."""
        while start < end:
            is_long = end - start > 2 * BLOCK_CHARACTERS
            found = self._tokenizer.border.search(self._text, start + BLOCK_CHARACTERS, end) if is_long else None
            stop = found.start() if found else end
            yield start, stop
            start = stop
