"""One endless line, as minified code is, takes bounded work and bounded memory."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from characters import pieces
from plgd.bench.replay.trace import PlainTokenizer
from plgd.engine.file_draft import FileDraftProposer
from plgd.engine.sources import BYTES_PER_TOKEN, MAX_SOURCE_TOKENS

MEGABYTE = 1_000_000
# Tokens that a substitution may hand to the tokenizer at once: a stretch of the text and its context.
LARGEST_SPAN = 512


class WatchedCodec:
    """Counts what goes through a tokenizer.

    Attributes:
        n_calls: calls.
        largest: most tokens in one.
    """

    def __init__(self, codec: PlainTokenizer) -> None:
        self.n_calls = 0
        self.largest = 0
        self._codec = codec

    def encode(self, text: str) -> list[int]:
        return self._note(self._codec.encode(text))

    def decode(self, tokens: Sequence[int]) -> str:
        self._note(tokens)
        return self._codec.decode(tokens)

    def _note(self, tokens: Sequence[int]) -> list[int]:
        self.n_calls += 1
        self.largest = max(self.largest, len(tokens))
        return list(tokens)


LINES = {
    "code": ("total=f(total,1);other=2;", "count=f(count,1);other=2;"),
    "one token": ("aaaa", "bbbb"),
    "no end of blanks": ("    ", "\t   "),
}


@pytest.mark.parametrize(("unit", "changed"), LINES.values(), ids=LINES)
def test_a_line_of_a_megabyte_takes_bounded_work(unit: str, changed: str) -> None:
    """However long the line, the index is cut, a draft is as long as asked, and substitutions see short spans of it."""
    tokenizer = pieces()
    source = tokenizer.encode(unit) * (MEGABYTE // len(unit))
    codec = WatchedCodec(tokenizer)
    proposer = FileDraftProposer([source], 0, codec)
    assert proposer.n_bytes <= BYTES_PER_TOKEN * (MAX_SOURCE_TOKENS + 1)
    reply = tokenizer.encode((unit * 20 + changed * 20) * 3)
    for place, token in enumerate(reply):
        if place % 8 == 0:
            assert len(proposer.propose(64).tokens) <= 64
        proposer.extend([token])
    assert codec.largest <= LARGEST_SPAN
    assert codec.n_calls <= len(reply)
