"""The reply's reader gives out the new text and nothing else, wherever the tokens are cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plgd.edits.prompt import fence_for
from plgd.edits.reply import ReplyReader, ReplyText
from scripted_model import EOS, ByteTokenizer
from strategies import texts


def _read(reply: str, source: str, fence: str, cuts: list[int]) -> tuple[str, bool]:
    """Feed a reply in pieces; the given-out deltas are the text at every moment."""
    reader = ReplyText(fence, source)
    given_out = ""
    places = [0, *sorted(cut % (len(reply) + 1) for cut in cuts), len(reply)]
    for start, end in pairwise(places):
        closed = reader.feed(reply[start:end])
        given_out += reader.take()
        assert given_out == reader.text
        if closed:
            break
    reader.finish()
    assert given_out + reader.take() == reader.text
    return reader.text, reader.closed


cuts = st.lists(st.integers(0, 10_000), max_size=30)

MARKDOWN = "# Use\n\n```python\nx = 1\n```\n\nText with `code`.\n"


@given(texts().map(lambda text: text.replace("\r", "\n")), st.sampled_from(["", "\n", "\nHere you are."]), cuts)
def test_a_text_in_its_fence_comes_out_whole(text: str, behind: str, where: list[int]) -> None:
    """Any text whose last line ends, backticks and all, comes out of its fence unchanged."""
    text += "" if text.endswith("\n") or not text else "\n"
    fence = fence_for(text, "")
    assert (text, True) == _read(f"{text}{fence}{behind}", text, fence, where)


@pytest.mark.parametrize(
    ("reply", "source", "expected"),
    [
        ("a\nb\n```", "a\n", ("a\nb\n", True)),
        ("a\nb\n```\nSome explanation.", "a\n", ("a\nb\n", True)),
        ("a\nb\n``` \nmore", "a\n", ("a\nb\n", True)),
        ("a\nb\n````", "a\n", ("a\nb\n", True)),
        ("a\nb\n", "a\n", ("a\nb\n", False)),
        ("a\nb", "a\n", ("a\nb", False)),
        ("a\nb```", "a\n", ("a\nb", True)),
        ("a = `b````", "a\n", ("a = `b`", True)),
        ("a = `b```` \n", "a\n", ("a = `b`", True)),
        ("a```\nb\n```", "a\n", ("a```\nb\n", True)),
        ("a```\f\n```", "a\n", ("a```\f\n", True)),
        ("a `b` ``c``\n```", "a\n", ("a `b` ``c``\n", True)),
        ("```", "a\n", ("", True)),
        ("", "a\n", ("", False)),
        ("  ```\nx\n```", "a\n", ("  ```\nx\n", True)),
        ("\n\na\n```", "\n\nb\n", ("\n\na\n", True)),
    ],
)
@given(where=cuts)
def test_where_a_reply_ends(reply: str, source: str, expected: tuple[str, bool], where: list[int]) -> None:
    """A reply ends at a bare fence at the beginning of a line, or behind its last line; indented ones are text."""
    assert expected == _read(reply, source, "```", where)


@pytest.mark.parametrize(
    ("reply", "source", "fence", "expected"),
    [
        ("```python\na\n```\n```", "b\n", "```", "a\n"),
        ("```python\na\n```", "b\n", "```", "a\n"),
        (f"```markdown\n{MARKDOWN}```\n````", "# Use\n\n```\n", "````", MARKDOWN),
        (f"```markdown\n{MARKDOWN}```\n", "# Use\n\n```\n", "````", MARKDOWN),
        (f"````markdown\n{MARKDOWN}````\n", "# Use\n\n```\n", "````", MARKDOWN),
        ("```python\na\n```\n````", "```python\nb\n```\n", "````", "```python\na\n```\n"),
    ],
)
@given(where=cuts)
def test_a_second_opening_fence(reply: str, source: str, fence: str, expected: str, where: list[int]) -> None:
    """A fence that the model opens again is dropped with its end, unless the text itself begins with a fence."""
    assert expected == _read(reply, source, fence, where)[0]


@pytest.mark.parametrize(
    ("reply", "source", "expected"),
    [
        ("<think>\nHm. ```\n</think>\n\na\n```", "b\n", "a\n"),
        ("\n<think></think>\na\n```", "b\n", "a\n"),
        ("<think>x</think>\n```python\na\n```\n", "b\n", "a\n"),
        ("<think>never ends", "b\n", ""),
        ("<think>\na\n</think>\n```", "<think>\nb\n</think>\n", "<think>\na\n</think>\n"),
        ("<thing>\n```", "b\n", "<thing>\n"),
        ("<thin", "b\n", "<thin"),
    ],
)
@given(where=cuts)
def test_thoughts_are_dropped(reply: str, source: str, expected: str, where: list[int]) -> None:
    """Thoughts before the text are dropped, unless the text itself begins with such a tag."""
    assert expected == _read(reply, source, "```", where)[0]


@given(cuts)
def test_a_block_that_the_reply_adds(where: list[int]) -> None:
    """A fenced block with a language that the model puts into a text without any does not end the reply."""
    new = f"{MARKDOWN}\n````md\n```\nrun\n```\n````\n"
    assert (new, True) == _read(f"{new}```", "# Use\n", "```", where)


@settings(max_examples=500)
@given(st.lists(st.sampled_from(["```", "`", "a", "b\n", "\n", "\r", " ", "\f", "<"]), max_size=12), cuts)
def test_cuts_change_nothing(pieces: list[str], where: list[int]) -> None:
    """What a reply says does not depend on how it is cut into tokens."""
    reply = "".join(pieces)
    assert _read(reply, "b\n", "```", []) == _read(reply, "b\n", "```", where)


def test_tokens_inside_a_character() -> None:
    """A character that spans tokens comes out whole, and an end token is not text."""
    tokenizer = ByteTokenizer()
    reader = ReplyReader(tokenizer.detokenizer(), "```", "a\n", frozenset((EOS,)))
    stopped = [reader.push(token) for token in (*tokenizer.encode("😀é\n```\n"), EOS)]
    reader.finish()
    assert ("😀é\n", "😀é\n```\n") == (reader.reply.text, reader.raw)
    assert stopped.index(True) == len("😀é\n```\n".encode()) - 1


def test_an_end_token_that_has_a_spelling() -> None:
    """The token that ends a reply is no part of the text, even where the tokenizer can spell it."""
    reader = ReplyReader(ByteTokenizer().detokenizer(), "```", "a\n", frozenset((ord("!"),)))
    assert [False] * 3 == [reader.push(token) for token in b"ab!"]
    reader.finish()
    assert reader.raw == reader.reply.text == "ab"


def test_an_end_in_the_middle_of_a_character() -> None:
    """A reply that stops inside a character shows that, and does not lose what came before."""
    reader = ReplyReader(ByteTokenizer().detokenizer(), "```", "a\n", frozenset((EOS,)))
    for token in (*b"ab", 0xF0, EOS):
        reader.push(token)
    reader.finish()
    assert reader.reply.text == "ab\ufffd"
