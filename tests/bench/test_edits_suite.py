"""Suites are read whole: the gate from its files, the held-out edits from public archives."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import msgspec
import pytest

from plgd.bench.edits_held_out import StoredEdit, StoredSource, StoredSuite, load_held_out, read_held_out
from plgd.bench.edits_pieces import cut
from plgd.bench.edits_suite import SuiteEdit, choose_edits, read_gate
from plgd.errors import BenchError
from plgd.protocol.edits import LineRange

GATE_FILE = """
[[edit]]
name = "first"
kind = "rename"
path = "a.py"
instruction = "x -> y"
before = '''
x = 1
'''
after = '''
y = 1
'''

[[edit]]
name = "second"
kind = "add"
path = "b.toml"
instruction = "add b"
before = '''
a = 1
'''
after = '''
a = 1
b = 2
'''
also = ['''
b = 2
a = 1
''']
lines = [1, 1]
"""
MEMBER = "def total(items):\n    return sum(items)\n\n\nprint(total([1, 2]))\n"


def test_the_gate_is_read(tmp_path: Path) -> None:
    """Texts are as written, and every right answer is known."""
    (tmp_path / "a.toml").write_text(GATE_FILE)
    first, second = read_gate(tmp_path)
    assert SuiteEdit("first", "rename", "a.py", "x -> y", "x = 1\n", ("y = 1\n",)) == first
    assert ("a = 1\nb = 2\n", "b = 2\na = 1\n") == second.answers
    assert LineRange(1, 1) == second.lines
    assert "toml" == second.language


def test_the_shipped_gate_is_large_enough() -> None:
    """The gate that plgd ships has at least 80 edits, each with a name of its own."""
    names = [edit.name for edit in read_gate()]
    assert len(names) >= 80
    assert len(names) == len(set(names))


def test_the_shipped_held_out_suite() -> None:
    """It has at least 300 edits in words that training never saw, of pinned archives, and next to no text of them."""
    suite = read_held_out()
    names, files = {edit.name for edit in suite.edits}, {source.file for source in suite.sources}
    assert 300 <= len(suite.edits) == len(names)
    assert {"unseen"} == {edit.phrasing for edit in suite.edits}
    assert files == {edit.source for edit in suite.edits if edit.source}
    assert all(len(source.sha256) == 64 and source.licence for source in suite.sources)
    fetched = [edit.before for edit in suite.edits if edit.source]
    assert len(fetched) > len(suite.edits) / 2
    assert max(sum(len(piece) for piece in before if isinstance(piece, str)) for before in fetched) <= 300


@pytest.mark.parametrize("text", ["[[edit]]\nname = 'x'\n", "nothing", "[[edit]\n"])
def test_a_file_that_is_no_gate(text: str, tmp_path: Path) -> None:
    """A file of another form is named."""
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(BenchError, match=r"a\.toml"):
        read_gate(tmp_path)


def test_an_empty_folder_is_no_gate(tmp_path: Path) -> None:
    """A gate without edits would pass every model."""
    with pytest.raises(BenchError, match="holds no"):
        read_gate(tmp_path)


def test_edits_are_chosen_by_kind_and_number() -> None:
    """Of many edits some are taken from all over the suite; an unknown kind is named with the known ones."""
    edits = [SuiteEdit(str(n), "ab"[n % 2], "x.py", "i", "x\n", ("y\n",)) for n in range(10)]
    assert ["1", "3", "5", "7", "9"] == [edit.name for edit in choose_edits(edits, ("b",), None)]
    assert ["0", "3", "6"] == [edit.name for edit in choose_edits(edits, None, 3)]
    assert [] == choose_edits(edits, None, 0)
    with pytest.raises(BenchError, match=r"kind of edit c .*there are a, b"):
        choose_edits(edits, ("c",), None)


def stored(folder: Path, **changes: object) -> StoredSuite:
    """Put an archive where fetched ones are kept, and return a suite of one edit of a file in it."""
    archive = folder / "shop-1.0.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        info = tarfile.TarInfo("shop-1.0/shop/a.py")
        info.size = len(MEMBER)
        tar.addfile(info, io.BytesIO(MEMBER.encode()))
    before = MEMBER.split("\n\n\n", maxsplit=1)[0] + "\n"
    edit = StoredEdit(
        name="total",
        kind="rename",
        source=archive.name,
        member="shop/a.py",
        path="a.py",
        before=tuple(cut(MEMBER, before)),
        after=tuple(cut(before, before.replace("items", "prices"))),
        instruction="items -> prices",
        phrasing="unseen",
        lines=(1, 2),
    )
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    source = StoredSource("shop", "sdist", "1.0", archive.name, digest, "MIT")
    return StoredSuite((source,), (msgspec.structs.replace(edit, **changes),))


def test_held_out_edits_are_put_together(tmp_path: Path) -> None:
    """Before and after are the file's own text, changed where the edit says so."""
    data = tmp_path / "suite.json"
    data.write_bytes(msgspec.json.encode(stored(tmp_path)))
    [edit] = load_held_out(read_held_out(data), tmp_path, print)
    assert "def total(items):\n    return sum(items)\n" == edit.before
    assert ("def total(prices):\n    return sum(prices)\n",) == edit.answers
    assert (LineRange(1, 2), "unseen", "a.py") == (edit.lines, edit.phrasing, edit.path)
    assert b"return" not in data.read_bytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"member": "shop/b.py"}, r"does not hold shop/b\.py"),
        ({"before": ((0, 999),)}, "has no characters 0 to 999"),
    ],
)
def test_an_archive_that_does_not_hold_the_text(changes: dict[str, object], message: str, tmp_path: Path) -> None:
    """An edit that names what is not there is told, not left out."""
    with pytest.raises(BenchError, match=message):
        load_held_out(stored(tmp_path, **changes), tmp_path, print)


def test_a_data_file_that_is_none(tmp_path: Path) -> None:
    """A damaged data file is named."""
    (tmp_path / "suite.json").write_text("{}")
    with pytest.raises(BenchError, match=r"suite\.json"):
        read_held_out(tmp_path / "suite.json")
