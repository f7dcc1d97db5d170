"""What a server sends is applied to the byte, whatever ends the lines, and undone in one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nvim.editor import Editor
from plgd.text.positions import Encoding, PositionCodec

# One of them is cut in two by a wrong encoding, each of the others ends or fills a line somewhere.
CHARACTERS: Final = ("a", "\t", "é", "漢", "\U0001f600", "\f", "\u2028", "\x85", " ")
ENDINGS: Final = {"unix": ("\n", "\r\n", "\r"), "dos": ("\r\n",)}

APPLY: Final = """
    local buf, edits, encoding = vim.api.nvim_get_current_buf(), ...
    require("plgd.apply").edits(buf, edits, encoding)
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One Neovim for all examples."""
    with Editor.running(tmp_path_factory.mktemp("shared") / "neovim") as running:
        yield running


def texts(file_format: str, max_size: int) -> st.SearchStrategy[str]:
    """Texts with the line endings that a buffer of this 'fileformat' can have."""
    pieces = st.one_of(st.sampled_from(CHARACTERS), st.sampled_from(ENDINGS[file_format]))
    return st.lists(pieces, max_size=max_size).map("".join)


@st.composite
def edits_of(draw: st.DrawFn, text: str, file_format: str) -> list[tuple[int, int, str]]:
    """Edits of a text that do not overlap and cut no line ending in two, as offsets and new text."""
    places = [n for n in range(len(text) + 1) if text[n - 1 : n + 1] != "\r\n" or n == 0]
    n_edits = draw(st.integers(1, 3))
    cuts = sorted(draw(st.lists(st.sampled_from(places), min_size=2 * n_edits, max_size=2 * n_edits)))
    return [(start, end, draw(texts(file_format, 4))) for start, end in zip(cuts[::2], cuts[1::2], strict=True)]


@st.composite
def examples(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]]]:
    """A text and edits of it."""
    text = draw(st.one_of(*(texts(file_format, 12) for file_format in ENDINGS)))
    # Neovim takes a file for a DOS file when each of its lines ends like one.
    is_dos = text.count("\n") == text.count("\r\n") > 0
    return text, draw(edits_of(text, "dos" if is_dos else "unix"))


def as_sent(text: str, edits: Sequence[tuple[int, int, str]], encoding: Encoding) -> list[dict[str, Any]]:
    """Write edits as a server does."""
    codec = PositionCodec(text, encoding)
    sent = []
    for start, end, new_text in edits:
        places = (codec.to_position(place) for place in (start, end))
        first, last = ({"line": place.line, "character": place.character} for place in places)
        sent.append({"range": {"start": first, "end": last}, "newText": new_text})
    return sent


def edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Apply edits to a string; what is inserted at the same place comes in the order of the edits."""
    parts, place = [], 0
    for start, end, new_text in sorted(edits, key=lambda edit: edit[:2]):
        parts += [text[place:start], new_text]
        place = end
    return "".join(parts) + text[place:]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(example=examples(), encoding=st.sampled_from(get_args(Encoding)))
def test_edits_are_exact(
    example: tuple[str, list[tuple[int, int, str]]], encoding: Encoding, shared: Editor, tmp_path: Path
) -> None:
    """Any edits, in any encoding, leave the bytes that the server meant, and one undo brings the rows back."""
    content, edits = example
    path = tmp_path / "any"
    shared.command("silent! %bwipeout!")
    shared.open(path, content.encode())
    text = shared.bytes().decode()
    # An empty file is a row of its own in Neovim.
    assert content == text or (content, text) == ("", "\n")
    rows = shared.rows()
    n_undos = shared.call("undotree")["seq_last"]
    shared.lua(APPLY, as_sent(text, edits, encoding), encoding)
    assert edited(text, edits).encode() == shared.bytes()
    if shared.rows() != rows:
        assert n_undos + 1 == shared.call("undotree")["seq_last"]
        shared.command("silent undo")
    assert rows == shared.rows()


@pytest.mark.parametrize(
    "content",
    [b"a\nb\n", b"a\nb", b"a\r\nb\r\n", b"a\r\nb\n", b"a\rb\n", "\ta\u2028b\f\n\U0001f600\n".encode(), b"a\n\n", b"\n"],
    ids=repr,
)
def test_written_file_is_what_was_meant(bare: Editor, tmp_path: Path, content: bytes) -> None:
    """A file that is opened, edited, undone and written has the bytes of before, and after a redo the new ones."""
    path = tmp_path / "file"
    bare.command("set nofixendofline")
    bare.open(path, content)
    text = content.decode()
    edits = [(len(text), len(text), "no newline here"), (0, 0, "\U0001f600\t")]
    bare.lua(APPLY, as_sent(text, edits, "utf-16"), "utf-16")
    bare.command("write")
    assert edited(text, edits).encode() == path.read_bytes()
    bare.type("u")
    bare.wait("vim.fn.undotree().seq_cur == 0")
    bare.wait("vim.bo.eol == ...", content.endswith(b"\n"))
    bare.command("write")
    assert content == path.read_bytes()
    bare.type("<C-r>")
    bare.wait("vim.fn.undotree().seq_cur > 0 and not vim.bo.eol")
    bare.command("write")
    assert edited(text, edits).encode() == path.read_bytes()


def test_typing_before_is_undone_by_itself(bare: Editor, tmp_path: Path) -> None:
    """An edit that lands while the user types in insert mode is one undo step, what was typed around it is another."""
    bare.open(tmp_path / "file", b"one\ntwo\n")
    bare.type("ibefore ")
    bare.wait("vim.api.nvim_get_current_line() == 'before one'")
    bare.lua(APPLY, as_sent("before one\ntwo\n", [(11, 14, "2")], "utf-8"), "utf-8")
    bare.type("after <Esc>")
    bare.wait("vim.fn.mode() == 'n' and vim.api.nvim_get_current_line() == 'before after one'")
    assert ["before after one", "2"] == bare.rows()
    seen = []
    for _ in range(3):
        bare.command("silent undo")
        seen.append(bare.rows())
    assert [["before one", "2"], ["before one", "two"], ["one", "two"]] == seen


def test_marks_and_cursors_stay(bare: Editor, tmp_path: Path) -> None:
    """Marks in replaced lines stay on their lines, and the cursor of each window on its text."""
    bare.open(tmp_path / "file", b"one\ntwo\nthree\nfour\n")
    bare.command("2mark a | split | wincmd w")
    bare.request("nvim_win_set_cursor", 0, (4, 2))
    bare.command("wincmd w")
    bare.request("nvim_win_set_cursor", 0, (3, 1))
    text = "one\ntwo\nthree\nfour\n"
    bare.lua(APPLY, as_sent(text, [(0, 4, ""), (4, 8, "2\n2\n2\n")], "utf-8"), "utf-8")
    assert ["2", "2", "2", "three", "four"] == bare.rows()
    assert [[4, 1], [5, 2]] == bare.lua("return vim.tbl_map(vim.api.nvim_win_get_cursor, vim.api.nvim_list_wins())")
    assert 2 == bare.call("line", "'a")


def apply_workspace_edit(bare: Editor, path: Path, version: int | None) -> dict[str, Any]:
    """Send `workspace/applyEdit` of one insertion to the plug-in's handler and return its answer."""
    edit = {"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "newText": "new "}
    document = {"uri": path.as_uri(), "version": version}
    params = {"edit": {"documentChanges": [{"textDocument": document, "edits": [edit]}]}}
    answer: dict[str, Any] = bare.lua("return (require('plgd.apply').workspace_edit(..., 'utf-8'))", params)
    return answer


def test_edit_of_another_version_is_refused(bare: Editor, tmp_path: Path) -> None:
    """An edit of a version that the buffer no longer has is refused with a reason, and nothing is changed."""
    path = tmp_path / "file"
    bare.open(path, b"one\n")
    bare.command(f"cd {tmp_path}")
    bare.lua("vim.lsp.util.buf_versions[vim.api.nvim_get_current_buf()] = 7")
    assert {"applied": False, "failureReason": "file has changed meanwhile"} == apply_workspace_edit(bare, path, 6)
    assert ["one"] == bare.rows()
    assert {"applied": True} == apply_workspace_edit(bare, path, 7)
    assert ["new one"] == bare.rows()


def test_edit_that_cannot_land_is_refused(bare: Editor, tmp_path: Path) -> None:
    """Edits of a buffer that is not open, or cannot be modified, are refused with a reason."""
    bare.command(f"cd {tmp_path}")
    other = apply_workspace_edit(bare, tmp_path / "other", None)
    assert {"applied": False, "failureReason": "other is not open"} == other
    bare.open(tmp_path / "file", b"one\n")
    bare.command("set nomodifiable")
    fixed = apply_workspace_edit(bare, tmp_path / "file", None)
    assert {"applied": False, "failureReason": "file cannot be modified ('nomodifiable')"} == fixed
    assert ["one"] == bare.rows()
