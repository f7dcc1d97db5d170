"""An edit reaches the file unless the file changed where the edit is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plgd.documents.document import Document
from plgd.documents.store import DocumentStore
from plgd.edits.apply import Written, apply_edit
from plgd.errors import Conflict
from plgd.text.lines import split_lines

OLD = b"\xef\xbb\xbfone\r\ntwo\nthree\r\nfour"
NEW = b"\xef\xbb\xbfone\r\nTWO\nthree\r\nfour"
EDITED = ("one\r\n", "TWO\n", "three\r\n", "four")


@pytest.fixture
def documents() -> DocumentStore:
    """An empty store."""
    return DocumentStore()


@pytest.fixture
def document(tmp_path: Path, documents: DocumentStore) -> Document:
    """A file of four lines with a byte order mark and mixed endings, asked for by a link."""
    (tmp_path / "real.txt").write_bytes(OLD)
    (tmp_path / "link.txt").symlink_to("real.txt")
    return documents.read(tmp_path / "link.txt")


def _file(document: Document) -> Path:
    assert document.path is not None
    return document.path


def test_an_unchanged_file_is_written(document: Document, documents: DocumentStore) -> None:
    """The new bytes go to the real file behind a link, byte order mark and all, and make a new version."""
    assert Written(document, EDITED, 2, ()) == apply_edit(document, EDITED, documents)
    assert _file(document).read_bytes() == NEW
    assert document.asked is not None
    assert document.asked.is_symlink()


def test_a_touched_file_is_unchanged(document: Document, documents: DocumentStore) -> None:
    """A newer time of change alone is no conflict."""
    os.utime(_file(document), (0, 0))
    assert apply_edit(document, EDITED, documents).warnings == ()


def test_lines_that_moved(document: Document, documents: DocumentStore) -> None:
    """Lines that were added elsewhere while the model worked are kept, and the user is told."""
    _file(document).write_bytes(b"zero\n" + OLD.removeprefix(b"\xef\xbb\xbf") + b"\nfive\n")
    written = apply_edit(document, EDITED, documents)
    assert _file(document).read_bytes() == b"zero\none\r\nTWO\nthree\r\nfour\nfive\n"
    assert ("zero\n", "one\r\n", "two\n") == written.base.lines[:3]
    assert "changed while the model worked; the edit was moved" in written.warnings[0]
    assert written.version == 3


@pytest.mark.parametrize(
    ("theirs", "where"),
    [
        (b"one\r\nzwei\nthree\r\nfour", "also in line 2"),
        (b"one\r\nthree\r\nfour", "also in line 2"),
        (b"eins\r\nzwei\ndrei\r\nfour", "also in lines 1 to 3"),
    ],
)
def test_lines_that_both_changed(document: Document, documents: DocumentStore, theirs: bytes, where: str) -> None:
    """When the edit's own lines changed, the file is left as it is, and the conflict names the lines."""
    _file(document).write_bytes(theirs)
    with pytest.raises(Conflict, match=f"changed while the model worked.*{where}"):
        apply_edit(document, EDITED, documents)
    assert _file(document).read_bytes() == theirs


def test_an_insertion_that_both_made(document: Document, documents: DocumentStore) -> None:
    """Two insertions at one place are a conflict that says where."""
    mine = ("one\r\n", "mine\n", *document.lines[1:])
    _file(document).write_bytes(b"one\r\ntheirs\ntwo\nthree\r\nfour")
    with pytest.raises(Conflict, match="lines were inserted after line 1"):
        apply_edit(document, mine, documents)
    _file(document).write_bytes(b"theirs\none\r\ntwo\nthree\r\nfour")
    with pytest.raises(Conflict, match="lines were inserted at the top"):
        apply_edit(document, ("mine\n", *document.lines), documents)


def test_a_change_that_was_made_already(document: Document, documents: DocumentStore) -> None:
    """When somebody made the same change meanwhile, nothing is written."""
    _file(document).write_bytes(NEW)
    inode = _file(document).stat().st_ino
    written = apply_edit(document, EDITED, documents)
    assert written.lines == written.base.lines == EDITED
    assert _file(document).stat().st_ino == inode


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "it was deleted"), (b"", "it is empty now"), (b"\0", "can no longer be edited: .* is a binary file")],
)
def test_a_file_that_is_no_text_any_more(
    document: Document, documents: DocumentStore, content: bytes | None, words: str
) -> None:
    """A file that was deleted, emptied or became binary is a conflict."""
    _file(document).unlink()
    if content is not None:
        _file(document).write_bytes(content)
    with pytest.raises(Conflict, match=words):
        apply_edit(document, EDITED, documents)
    assert content == (_file(document).read_bytes() if content is not None else None)


def test_a_link_that_leads_elsewhere(document: Document, documents: DocumentStore, tmp_path: Path) -> None:
    """When the link that was asked for leads to another file, neither file is written."""
    assert document.asked is not None
    (tmp_path / "other.txt").write_bytes(OLD)
    document.asked.unlink()
    document.asked.symlink_to("other.txt")
    with pytest.raises(Conflict, match="it leads to another file now"):
        apply_edit(document, EDITED, documents)
    assert (tmp_path / "other.txt").read_bytes() == (tmp_path / "real.txt").read_bytes() == OLD


def test_a_file_with_several_names(document: Document, documents: DocumentStore, tmp_path: Path) -> None:
    """A file with hard links is written under one name; the user is told that the others keep the old text."""
    os.link(_file(document), tmp_path / "other.txt")
    written = apply_edit(document, EDITED, documents)
    assert "has 2 names on disk" in written.warnings[0]
    assert (NEW, OLD) == (_file(document).read_bytes(), (tmp_path / "other.txt").read_bytes())


def test_a_buffer_cannot_be_applied(documents: DocumentStore) -> None:
    """A text that came from no file is never written."""
    buffer = documents.of_text("a\n", "buffer")
    with pytest.raises(ValueError, match="not read from a file"):
        apply_edit(buffer, split_lines("b\n"), documents)


def test_a_file_that_keeps_changing(
    document: Document, documents: DocumentStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that changes again and again just before it is written is given up after a few tries."""
    monkeypatch.setattr("plgd.edits.apply.replace_file", lambda *_: False)
    with pytest.raises(Conflict, match="it keeps changing"):
        apply_edit(document, EDITED, documents)
    assert _file(document).read_bytes() == OLD


def test_a_file_that_was_made_read_only(document: Document, documents: DocumentStore) -> None:
    """A file that was protected while the model worked is left as it is."""
    _file(document).chmod(0o444)
    with pytest.raises(Conflict, match="it was made read-only"):
        apply_edit(document, EDITED, documents)
    assert _file(document).read_bytes() == OLD
