"""Texts that a request names as sources of drafts: read once, drafted from, never shown to the model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

from edits.running import SOURCE, params, run
from plgd.documents.document import MAX_BYTES
from plgd.documents.open import TextEdit
from plgd.documents.store import DocumentStore
from plgd.edits import sources
from plgd.edits.sources import MAX_SOURCES
from plgd.errors import FileMissing, FileUnreadable, InvalidParams, NotAFile, NotText, OutOfSync, PlgdError
from plgd.protocol.drafting import DraftingParams, DraftSource
from plgd.protocol.edits import EditResult
from scripted_model import ByteTokenizer

ADDED = "def average(values: list[float]) -> float:\n    return sum(values) / len(values)\n"
REPLY = f"{SOURCE}\n\n{ADDED}```\n"
WRONG = {
    "unrelated": "A report on the weather of the year, with no word of any code in it.\n" * 40,
    "one repeated character": "a" * 20_000,
    "the text itself": SOURCE,
    "the text spoilt": SOURCE.replace("result", "outcome").replace("item", "thing"),
}


def read_sources(asked: Sequence[DraftSource], documents: DocumentStore | None = None) -> tuple[str, ...]:
    """Read sources for client 1."""
    return sources.read_sources(asked, documents or DocumentStore(), 1)


def same_but_for_speed(one: EditResult, other: EditResult) -> bool:
    """Whether two edits have the same outcome and the same prompt."""
    return (one.status, one.new_text, one.diff, one.stats.prompt_tokens, one.stats.output_tokens) == (
        other.status,
        other.new_text,
        other.diff,
        other.stats.prompt_tokens,
        other.stats.output_tokens,
    )


@pytest.mark.parametrize("policy", ["cost", "graded"])
def test_a_source_saves_rounds(policy: Literal["cost", "graded"], tmp_path: Path) -> None:
    """What the reply takes from a named file is drafted from there, and the model is not shown that file."""
    other = tmp_path / "other.py"
    other.write_text(f"import math\n\n\n{ADDED}", newline="\r\n")
    drafting = DraftingParams(policy=policy)
    alone = run(params(drafting=drafting), REPLY).result
    named = run(params(drafting=drafting, sources=(DraftSource(path=str(other)),)), REPLY).result
    given = run(params(drafting=drafting, sources=(DraftSource(text=other.read_text()),)), REPLY).result
    assert max(named.stats.rounds, given.stats.rounds) < alone.stats.rounds
    assert same_but_for_speed(alone, named)
    assert same_but_for_speed(alone, given)


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("field", ["sources", "draft_hint"])
def test_a_wrong_source_changes_nothing(wrong: str, field: str) -> None:
    """Whatever a source or a hint says, prompt and outcome are those of plain decoding."""
    plain = run(params(drafting=DraftingParams(policy="off")), REPLY).result
    asked = params(sources=(DraftSource(text=wrong),) * 3) if field == "sources" else params(draft_hint=wrong)
    misled = run(asked, REPLY).result
    assert same_but_for_speed(plain, misled)


def test_a_source_that_changes_meanwhile_is_harmless(tmp_path: Path) -> None:
    """A source is read when the request arrives; what becomes of the file afterwards makes no difference."""
    other = tmp_path / "other.py"
    other.write_text(ADDED)
    asked = params(sources=(DraftSource(path=str(other)),), drafting=DraftingParams(policy="graded"))
    quiet = run(asked, REPLY).result
    changed = run(asked, REPLY, meanwhile=lambda: _write(other, "x" * 9)).result
    other.write_text(ADDED)
    removed = run(asked, REPLY, meanwhile=other.unlink).result
    assert quiet.stats.rounds == changed.stats.rounds == removed.stats.rounds
    assert quiet.new_text == changed.new_text == removed.new_text


def _write(path: Path, text: str) -> None:
    path.write_text(text)


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        (DraftSource(), InvalidParams, "exactly one of `path` and `text` in `sources[0]`"),
        (DraftSource(path="/x", text="x"), InvalidParams, "exactly one of"),
        (DraftSource(path="other.py"), InvalidParams, "`sources[0].path` must be absolute, not 'other.py'"),
        (DraftSource(path="/no/such/other.py"), FileMissing, "/no/such/other.py"),
        (DraftSource(path="/"), NotAFile, "/ is a folder"),
        (DraftSource(path="/dev/zero"), NotAFile, "/dev/zero is a device"),
        (DraftSource(text="a\0b"), NotText, "sources[0] is a binary file"),
        (DraftSource(text="a\ud800"), NotText, "sources[0] is not UTF-8"),
    ],
)
def test_a_source_that_cannot_be_had(source: DraftSource, error: type[PlgdError], words: str) -> None:
    """Each mistake has its own error, which names the source."""
    with pytest.raises(error, match=re.escape(words)):
        read_sources((source,))


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [(b"caf\xe9", NotText, "is not UTF-8 (byte 3)"), (b"a\0", NotText, "is a binary file")],
)
def test_a_source_that_is_no_text_is_named(content: bytes, error: type[PlgdError], words: str, tmp_path: Path) -> None:
    """The file that is no text is told by its path."""
    path = tmp_path / "other.py"
    path.write_bytes(content)
    with pytest.raises(error, match=re.escape(f"{path} {words}")):
        read_sources((DraftSource(text="fine"), DraftSource(path=str(path))))


def test_an_editors_copy_of_a_source_wins(tmp_path: Path) -> None:
    """A source that an editor holds is read as it stands there, whatever the disk says and whether the file exists."""
    documents, path = DocumentStore(), tmp_path / "other.py"
    documents.open.open(2, path.as_uri(), "theirs\n", 0)
    asked = (DraftSource(path=str(path)),)
    assert ("theirs\n",) == read_sources(asked, documents)
    path.write_text("on disk\n")
    documents.open.open(1, path.as_uri(), "mine\r\n", 0)
    documents.open.change(2, path.as_uri(), 1, [TextEdit("theirs, later\n")])
    assert ("mine\n",) == read_sources(asked, documents)
    documents.open.leave(2)
    documents.open.close(1, path.as_uri())
    assert ("on disk\n",) == read_sources(asked, documents)


def test_a_source_that_is_out_of_step(tmp_path: Path) -> None:
    """Of a source that an editor holds, but whose changes did not fit, nothing is guessed."""
    documents, path = DocumentStore(), tmp_path / "other.py"
    path.write_text("on disk\n")
    documents.open.open(1, path.as_uri(), "mine\n", 5)
    with pytest.raises(OutOfSync):
        documents.open.change(1, path.as_uri(), 4, [TextEdit("older\n")])
    with pytest.raises(OutOfSync, match="open the document again"):
        read_sources((DraftSource(path=str(path)),), documents)


def test_an_empty_source_is_none(tmp_path: Path) -> None:
    """A file without text is left out: there is nothing to draft from it, and nothing wrong with it."""
    (tmp_path / "__init__.py").write_text("")
    assert ("x\n",) == read_sources(
        (DraftSource(path=str(tmp_path / "__init__.py")), DraftSource(text=" \n"), DraftSource(text="x"))
    )


def test_sources_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There are few sources, of a bounded size together; a file of any size is refused without reading all of it."""
    with pytest.raises(InvalidParams, match="`sources` names 17 texts; 16 are the most"):
        read_sources((DraftSource(text="x"),) * (MAX_SOURCES + 1))
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(FileUnreadable, match=r"huge cannot be read: it is larger than 64 MB\."):
        read_sources((DraftSource(path=str(tmp_path / "huge")),))
    monkeypatch.setattr(sources, "MAX_SOURCE_BYTES", 10)
    assert ("five\n", "four\n") == read_sources((DraftSource(text="five\n"), DraftSource(text="four\n")))
    with pytest.raises(FileUnreadable, match=r"sources\[1\] cannot be read: with it, the sources are larger than"):
        read_sources((DraftSource(text="five\n"), DraftSource(text="sixty\n")))


def test_no_more_is_tokenized_than_a_reply_could_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of hint and sources together, as much is tokenized as the longest reply could hold."""
    lengths: list[int] = []
    encode = ByteTokenizer.encode

    def encode_and_note(tokenizer: ByteTokenizer, text: str) -> list[int]:
        lengths.append(len(text))
        return encode(tokenizer, text)

    monkeypatch.setattr(ByteTokenizer, "encode", encode_and_note)
    many = (DraftSource(text="other " * 2000),) * 3
    run(params(draft_hint="hint " * 1000, sources=many), REPLY, context_limit=1000)
    assert [5000, 11_000] == [length for length in lengths if length >= 5000]
