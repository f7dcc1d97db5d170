"""Drafts carry what the reply has changed before, tokenized as the model would."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.engine.file_draft import FileDraftProposer


class WordCodec:
    """A tokenizer of words with the blank before them, as byte-pair tokenizers have: borders move with the text."""

    def __init__(self, pieces: str = r"\n *| ?[a-z]{1,4}|_| ?[^\sa-z]|\s") -> None:
        self._pieces = re.compile(pieces)
        self._texts: list[str] = []
        self._tokens: dict[str, int] = {}

    def encode(self, text: str) -> list[int]:
        return [self._token(piece) for piece in self._pieces.findall(text)]

    def decode(self, tokens: Sequence[int]) -> str:
        assert min(tokens, default=0) >= 0
        return "".join(self._texts[token] for token in tokens)

    def _token(self, piece: str) -> int:
        if piece not in self._tokens:
            self._tokens[piece] = len(self._texts)
            self._texts.append(piece)
        return self._tokens[piece]


def proposed(source: str, reply: str, n_tokens: int = 40, codec: WordCodec | None = None) -> tuple[str, str]:
    """Return what is proposed once the reply is so far, and who proposes it."""
    codec = codec or WordCodec()
    proposer = FileDraftProposer([codec.encode(source)], 0, codec)
    tokens = codec.encode(reply)
    for token in tokens:
        proposer.propose(n_tokens)
        proposer.extend([token])
    draft = proposer.propose(n_tokens)
    return codec.decode(draft.tokens), draft.proposer


SOURCE = "def f():\n    subtotal = 1\n    other = 2\n    print(subtotal + other)\n    return subtotal\n"
RENAMED = SOURCE.replace("subtotal", "running_total")


def test_a_rename_is_carried_into_the_draft() -> None:
    """After one occurrence the rest of the file is drafted renamed, to its end."""
    seen = RENAMED[: RENAMED.index("other")]
    assert (RENAMED[len(seen) :], "substitution") == proposed(SOURCE, seen)


def test_a_denied_rename_goes_on_as_the_source_does() -> None:
    """Where the reply keeps the old name, the cursor stays in step and the draft goes on behind it."""
    reply = RENAMED[: RENAMED.index("print")] + "print(subtotal"
    text, _ = proposed(SOURCE, reply)
    assert text.startswith(" + other)\n    return")


def test_a_word_that_stayed_before_is_not_renamed() -> None:
    """One word for another in prose, where the word stood unchanged above, is no rename."""
    notes = "the cat saw the dog.\nthen the dog ran off.\nbut the bird sat on the roof.\nand the cat left.\n"
    reply = notes.replace("the bird", "one bird")
    seen = reply[: reply.index(" on the roof")]
    assert (notes[notes.index(" on the roof") :], "file") == proposed(notes, seen, 60)


def test_what_is_added_to_a_line_is_tokenized_with_its_end() -> None:
    """Where a token may hold several characters of punctuation, what goes on a line's end is one with that end."""
    items = ["1", "2", "3", "4"]
    source = "[" + ",".join(f"\n  {{\n    id {item},\n    tags [a]\n  }}" for item in items) + "\n]\n"
    reply = source.replace("[a]", "[a],\n    new on")
    seen = reply[: reply.index("\n    tags", reply.index("id 3"))]
    drafted, by = proposed(source, seen, codec=WordCodec(r"\n *| ?[a-z]+| ?[^\sa-z]+|\s"))
    assert drafted.startswith("\n    tags [a],\n    new on\n  },\n  {\n    id 4,")
    assert "substitution" == by


def test_a_reply_that_re_indents_keeps_drafting() -> None:
    """Once two lines agree on a measure, the other lines are drafted with it."""
    source = "a\n" + "".join(f"    line{n} is here\n" for n in "abcdef")
    reply = re.sub(r"(?m)^    ", "  ", source)
    cut = reply.index("linee")
    assert (reply[cut:], "substitution") == proposed(source, reply[:cut])


def test_nothing_is_changed_without_a_rule() -> None:
    """A copy is drafted from the source alone."""
    seen = SOURCE[: SOURCE.index("other")]
    assert (SOURCE[len(seen) :], "file") == proposed(SOURCE, seen)


@pytest.mark.parametrize("old", ["total", "sub"])
def test_lines_that_do_not_come_out_the_same_are_left_alone(old: str) -> None:
    """A codec that cannot give a line's tokens back never gets a patch on it."""

    class Lossy(WordCodec):
        def encode(self, text: str) -> list[int]:
            return super().encode(text.replace("q", "qq") if text.startswith("\n") else text)

    codec = Lossy()
    source = f"a {old} b\n{old} c\nq {old}\n{old} d\n"
    proposer = FileDraftProposer([codec.encode(source)], 0, codec)
    proposer.extend(codec.encode("a new b\nnew c\n"))
    assert "new" not in codec.decode(proposer.propose(3).tokens)


def test_going_over_to_a_hint_is_no_substitution() -> None:
    """A reply that leaves the text for the hint teaches nothing about the words between the two."""
    codec = WordCodec()
    sources = [codec.encode("a b c\nd e f\n"), codec.encode("x y z\nu v w\nr s t\n")]
    proposer = FileDraftProposer(sources, 0, codec)
    proposer.extend(codec.encode("a b c\nu v w\n"))
    assert ("r s t\n", "file") == (codec.decode(proposer.propose(9).tokens), proposer.propose(9).proposer)


texts = st.lists(st.sampled_from(["ab", "cd", "x_y", " ", " = ", "\n", "\n    ", "'", "(", ", "]), max_size=25).map(
    "".join
)


@given(source=texts, reply=texts)
def test_any_text_is_taken(source: str, reply: str) -> None:
    """Whatever source and reply, drafts keep to their length and bring a chance for each token."""
    codec = WordCodec()
    proposer = FileDraftProposer([codec.encode(source)], 0, codec)
    for token in codec.encode(reply):
        draft = proposer.propose(9)
        assert len(draft.tokens) == len(draft.chances) <= 9
        proposer.extend([token])
