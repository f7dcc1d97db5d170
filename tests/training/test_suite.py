"""The held-out suite holds the generated cases, and nothing of other people's files but by reference."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from plgd.bench.edits_held_out import load_held_out
from tiny_base import make_case
from training.cases import Case, answer_of
from training.corpus import Source
from training.suite import choose, store

FIRST = "import os\n\n\ndef first(values):\n    return sorted(values)[0]\n"
SECOND = "def second(values):\n    return sorted(values)[1]\n"
PAGE = "# Shop\n\nSells everything that anybody wants.\n"
FILES = {
    "shop/a.py": f"{FIRST}\n\n{SECOND}",
    "PKG-INFO": f"Name: shop\nDescription-Content-Type: text/markdown\n\n{PAGE}",
}


@pytest.fixture
def source(tmp_path: Path) -> Source:
    """A held-out package whose archive is there."""
    archive = tmp_path / "shop-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in FILES.items():
            info = tarfile.TarInfo(f"shop-1.0/{name}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    return Source("shop", "sdist", "held-out", "MIT", "1.0", archive.name, digest)


def case_of(path: str, text: str, new_text: str, lines: tuple[int, int] | None = None, kind: str = "rename") -> Case:
    """Make a case of the package."""
    return make_case(text, new_text, lines=lines, path=f"shop-sdist/{path}", kind=kind, phrasing="unseen")


def test_what_is_stored_comes_back(source: Source, tmp_path: Path) -> None:
    """Pieces of files, pages, ranges, typos put in and Windows' line endings: each text is the generator's."""
    cases = [
        case_of("shop/a.py", FILES["shop/a.py"], FILES["shop/a.py"].replace("first", "lowest")),
        case_of("shop/a-1.py", SECOND, "    return max(values)\n", lines=(2, 2)),
        case_of("README.md", PAGE.replace("anybody", "anybdoy"), PAGE),
        case_of("shop/a.py", FIRST.replace("\n", "\r\n"), FIRST.replace("first", "least").replace("\n", "\r\n")),
    ]
    suite = store(cases, tmp_path, 4, [source])
    edits = {edit.name: edit for edit in load_held_out(suite, tmp_path, print)}
    assert ["rename-000", "rename-001", "rename-002", "rename-003"] == list(edits)
    for case, edit in zip(cases, edits.values(), strict=True):
        assert (case.text, (answer_of(case),)) == (edit.before, edit.answers)
        assert (case.instruction, case.phrasing, case.path.rpartition("/")[2]) == (
            edit.instruction,
            edit.phrasing,
            edit.path,
        )
        assert (case.first_line, case.last_line) == (
            (edit.lines.first, edit.lines.last) if edit.lines else (None, None)
        )
    for word in (b"sorted", b"everything", b"import"):
        assert word not in msgspec.json.encode(suite)


def test_made_up_texts_stand_in_the_suite(tmp_path: Path) -> None:
    """A text that the generator made up itself needs no archive."""
    made = msgspec.structs.replace(make_case("a: 1\n", "a: 2\n", phrasing="unseen"), package="made-up", kind="set+add")
    suite = store([made], tmp_path, 1, [])
    [edit] = load_held_out(suite, tmp_path, print)
    assert ("a: 1\n", ("a: 2\n",), "two_edits") == (edit.before, edit.answers, edit.kind)
    assert () == suite.sources


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case_of("shop/a.py", "x = 1\n" * 80, "y = 1\n" * 80), id="a text of its own"),
        pytest.param(case_of("shop/b.py", SECOND, FIRST), id="a file that is not there"),
        pytest.param(make_case(SECOND, FIRST, path="toys-sdist/a.py", phrasing="unseen"), id="another package"),
    ],
)
def test_texts_of_nowhere_are_left_out(case: Case, source: Source, tmp_path: Path) -> None:
    """A text that no archive of the suite has is not stored."""
    with pytest.raises(ValueError, match="only 0 of 1 edits"):
        store([case], tmp_path, 1, [source])


@pytest.mark.parametrize("changes", [{"split": "train"}, {"kind": "wheel", "file": "shop-1.0-cp311-cp311-linux.whl"}])
def test_only_held_out_archives_for_every_platform(changes: dict[str, str], source: Source, tmp_path: Path) -> None:
    """What was trained on, and what fits one platform, is in no suite."""
    case = case_of("shop/a.py", SECOND, SECOND.replace("second", "next"))
    with pytest.raises(ValueError, match="only 0 of 1"):
        store([case], tmp_path, 1, [msgspec.structs.replace(source, **changes)])


def test_each_kind_is_in_the_suite() -> None:
    """Each kind gives one edit before any gives its second; two edits at once are one kind; seen phrasings are out."""
    kinds: Sequence[tuple[str, str]] = (
        ("b", "unseen"),
        ("b", "unseen"),
        ("a+b", "unseen"),
        ("b+a", "unseen"),
        ("a", "seen"),
        ("a", "unseen"),
    )
    cases = [make_case(f"{n}\n", kind=kind, phrasing=phrasing) for n, (kind, phrasing) in enumerate(kinds)]
    assert ["0\n", "2\n", "5\n", "1\n", "3\n"] == [case.text for case in choose(cases)]
