"""What cannot be done is said before the model is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from plgd.documents.store import DocumentStore
from plgd.edits.request import prepare
from plgd.errors import (
    EmptyInstruction,
    FileMissing,
    InvalidParams,
    LinesOutOfRange,
    NotAFile,
    NotText,
    PlgdError,
    ReadOnlyTarget,
)
from plgd.protocol.edits import EditMode, EditParams, LineRange

TEXT = "a\nb\nc\n"


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        (EditParams(instruction="", text=TEXT), EmptyInstruction, r"instruction is empty\. Say what to change\.$"),
        (EditParams(instruction=" \n\t", text=TEXT), EmptyInstruction, r"instruction is empty\. Say what to change\.$"),
        (EditParams(instruction="x"), InvalidParams, "exactly one"),
        (EditParams(instruction="x", text=TEXT, path="/x.py"), InvalidParams, "exactly one"),
        (EditParams(instruction="x", path="x.py"), InvalidParams, "must be absolute, not 'x.py'"),
        (EditParams(instruction="x", text=TEXT, mode=EditMode.APPLY), InvalidParams, "`apply` needs a `path`"),
        (EditParams(instruction="x", text=TEXT, max_tokens=0), InvalidParams, "at least 1, not 0"),
        (EditParams(instruction="x" * 65537, text=TEXT), InvalidParams, "65,537 characters; 65,536 are the most"),
        (EditParams(instruction="x", text=TEXT, name="x" * 4097), InvalidParams, "name has 4,097 characters"),
        (EditParams(instruction="x", text="", range=LineRange(first=1, last=1)), LinesOutOfRange, "0 lines"),
        (EditParams(instruction="x", text="a\0", name="b.py"), NotText, r"b\.py is a binary file"),
        (EditParams(instruction="x", path="/no/such/file.py"), FileMissing, "no such file"),
        (EditParams(instruction="x", path="/"), NotAFile, "is a folder"),
        *(
            (
                EditParams(instruction="x", text=TEXT, range=LineRange(first=first, last=last)),
                LinesOutOfRange,
                "3 lines",
            )
            for first, last in ((0, 1), (1, 4), (3, 2), (4, 4), (-1, 1))
        ),
    ],
)
def test_a_request_that_cannot_be_carried_out(params: EditParams, error: type[PlgdError], words: str) -> None:
    """Each mistake in a request has its own error, whose message says what to do."""
    with pytest.raises(error, match=words):
        prepare(params, DocumentStore())


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        (0, 1, r"counted from 1, so there is no line 0; text\.txt has 3 lines"),
        (-1, 1, "there is no line -1;"),
        (3, 2, r"Lines 3:2 end before they begin: write 2:3\. text\.txt has 3 lines"),
        (1, 4, r"Lines 1:4 are not all in text\.txt, which has 3 lines"),
        (4, 4, "Lines 4:4 are not all in"),
    ],
)
def test_lines_out_of_range(first: int, last: int, words: str) -> None:
    """A range that is reversed or not in the text is refused; the message says how many lines there are."""
    params = EditParams(instruction="x", text=TEXT, range=LineRange(first=first, last=last))
    with pytest.raises(LinesOutOfRange, match=words):
        prepare(params, DocumentStore())


def test_a_read_only_target(tmp_path: Path) -> None:
    """A read-only file is refused where it is to be written, and may be read for a proposal."""
    path = tmp_path / "file.py"
    path.write_text(TEXT)
    path.chmod(0o444)
    params = EditParams(instruction="x", path=str(path), mode=EditMode.APPLY)
    with pytest.raises(ReadOnlyTarget):
        prepare(params, DocumentStore())
    assert prepare(EditParams(instruction="x", path=str(path)), DocumentStore()).document.text == TEXT


def test_without_a_range_all_lines_may_change() -> None:
    """The whole text is rewritten when no lines are named, else the named ones."""
    whole = prepare(EditParams(instruction="x", text=TEXT), DocumentStore())
    assert (LineRange(first=1, last=3), ("a\n", "b\n", "c\n")) == (whole.lines, whole.source_lines)
    part = prepare(EditParams(instruction="x", text=TEXT, range=LineRange(first=2, last=3)), DocumentStore())
    assert part.source_lines == ("b\n", "c\n")


def test_names() -> None:
    """A text is called what the client calls it, a file by its last part unless the client knows better."""
    path = str(Path(__file__))
    names = [
        prepare(EditParams(instruction="x", text=TEXT), DocumentStore()).document.name,
        prepare(EditParams(instruction="x", text=TEXT, name="a.js"), DocumentStore()).document.name,
        prepare(EditParams(instruction="x", path=path), DocumentStore()).document.name,
        prepare(EditParams(instruction="x", path=path, name="b.js"), DocumentStore()).document.name,
    ]
    assert names == ["text.txt", "a.js", "test_request.py", "b.js"]
