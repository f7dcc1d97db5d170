"""The store counts versions by content."""

from __future__ import annotations

import os
from pathlib import Path

from plgd.documents.store import DocumentStore


def test_a_new_content_is_a_new_version(tmp_path: Path) -> None:
    """Versions count contents: touching a file changes nothing, writing another text into it does."""
    path, documents = tmp_path / "file.py", DocumentStore()
    versions: list[int] = []
    for content in ("a\n", "a\n", "b\n", "a\n"):
        path.write_text(content)
        os.utime(path, (0, len(versions)))
        versions.append(documents.read(path).version)
    assert [1, 1, 2, 3] == versions


def test_a_link_and_its_file_are_one_document(tmp_path: Path) -> None:
    """The same real file has the same versions by whatever name it is asked for."""
    documents = DocumentStore()
    (tmp_path / "file.py").write_text("a\n")
    (tmp_path / "link.py").symlink_to("file.py")
    documents.read(tmp_path / "file.py")
    (tmp_path / "file.py").write_text("b\n")
    assert 2 == documents.read(tmp_path / "link.py").version


def test_buffers_count_by_name() -> None:
    """Texts that are not on disk have versions by their name."""
    documents = DocumentStore()
    assert (1, 1, 2) == (
        documents.of_text("a", "one.py").version,
        documents.of_text("b", "two.py").version,
        documents.of_text("c", "one.py").version,
    )


def test_the_store_is_bounded() -> None:
    """Only the names seen last are remembered."""
    documents = DocumentStore(limit=2)
    for name in ("a", "b", "a", "c"):
        documents.of_text("text", name)
    assert ["a", "c"] == [seen.name for seen in documents.seen()]
    documents.of_text("changed", "b")
    assert [("c", 1, 4), ("b", 1, 7)] == [(seen.name, seen.version, seen.n_bytes) for seen in documents.seen()]
