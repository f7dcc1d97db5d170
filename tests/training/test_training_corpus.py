"""The corpus holds what people edit: text, not too long, each once, on one side."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from plgd.errors import BenchError
from releases import make_archives
from training import corpus
from training.corpus import Source, build_corpus, read_corpus, read_sources
from training.cutting import borders, cut_to_pieces

MODULE = "\n\n".join(f"def function_{number}(value):\n    return value + {number}\n" for number in range(200))
PAGE = "# Title\n\n" + "Some words about nothing in particular.\n\n" * 5


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Source, ...]:
    """Lay two archives: one of training, and one that is held out and shares a text with it."""
    monkeypatch.setattr(corpus, "_standard_library", lambda: iter([("stdlib/a.py", "x = 1\n" * 30)]))
    shared = {"p/shared.md": (PAGE, PAGE)}
    make_archives(
        tmp_path, shared | {"p/long.py": (MODULE, MODULE), "p/_vendor/x.py": (MODULE, MODULE), "p/tiny.py": ("x", "y")}
    )
    listed = []
    for number, split in ((0, "train"), (1, "held-out")):
        path = tmp_path / f"p-{number}.whl"
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        listed.append(Source(f"package{number}", "wheel", split, "MIT", "1", path.name, digest))  # type: ignore[arg-type]
    return tuple(listed)


def test_texts_are_laid_out_by_split_and_package(tmp_path: Path, sources: tuple[Source, ...]) -> None:
    """Each text is in one split, whole or in pieces, without other projects' code and without what is too short."""
    build_corpus(tmp_path / "corpus", tmp_path, sources)
    train, held_out = read_corpus(tmp_path / "corpus", "train"), read_corpus(tmp_path / "corpus", "held-out")
    assert {"package1"} == {text.package for text in held_out}
    assert {"python-standard-library"} == {text.package for text in train}  # all else is held out already
    texts = [text.text for text in (*train, *held_out)]
    assert len(set(texts)) == len(texts)
    assert max(len(text.splitlines()) for text in texts) <= corpus.MAX_LINES
    assert PAGE in texts
    assert "".join(text.text for text in held_out if text.language == "python").count("def ") == 200


def test_the_same_corpus_is_built_again(tmp_path: Path, sources: tuple[Source, ...]) -> None:
    """Building twice gives the same texts in the same order, and nothing of before is left."""
    build_corpus(tmp_path / "corpus", tmp_path, sources)
    first = read_corpus(tmp_path / "corpus", "held-out")
    (tmp_path / "corpus" / "held-out" / "package1" / "left.py").write_text("old")
    build_corpus(tmp_path / "corpus", tmp_path, sources)
    assert first == read_corpus(tmp_path / "corpus", "held-out")
    assert not (tmp_path / "corpus" / "held-out" / "package1" / "left.py").exists()


def test_a_folder_without_a_corpus_is_refused(tmp_path: Path) -> None:
    """The error names the folder."""
    with pytest.raises(BenchError, match=tmp_path.name):
        read_corpus(tmp_path, "train")


def test_a_list_that_is_none_is_refused(tmp_path: Path) -> None:
    """An unknown key is an error that names the file."""
    path = tmp_path / "sources.toml"
    path.write_text('sources = [{ name = "x", kind = "git" }]\n', encoding="utf-8")
    with pytest.raises(BenchError, match=r"sources\.toml"):
        read_sources(path)


def test_pieces_are_the_text_again() -> None:
    """Cut at its borders and put together, a text has lost nothing but blank lines between the pieces."""
    pieces = cut_to_pieces(MODULE, "python", 50, 10_000)
    assert len(pieces) > 10
    assert max(len(piece.splitlines()) for piece in pieces) <= 50
    assert [line for line in MODULE.splitlines() if line] == [
        line for piece in pieces for line in piece.splitlines() if line
    ]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("markdown", "# A\n\n```\n\n# B\n```\n\n# C\n", [0, 7]),
        ("rst", "A\n=\n\ntext\n\nB\n===\n", [0, 5]),
        ("yaml", "a:\n  b: 1\nc: 2\n", [0, 2]),
        ("text", "one\n\n  two\n\nthree\n", [0, 4]),
        ("javascript", "const a = 1;\n\nfunction b() {\n\n  return a;\n}\n", [0, 2]),
    ],
)
def test_borders_are_where_something_new_begins(language: str, text: str, expected: list[int]) -> None:
    """A text is cut between statements of the top level, sections, keys and paragraphs, never inside."""
    assert expected == borders(text, language)
