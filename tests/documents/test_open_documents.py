"""Open documents follow their editors, and are refused rather than guessed when they cannot."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plgd.documents import open as module
from plgd.documents.open import OpenDocuments, TextEdit
from plgd.documents.uris import path_of
from plgd.errors import DocumentLimit, DocumentNotOpen, InvalidParams, NotText, OutOfSync
from plgd.text.fingerprint import fingerprint
from plgd.text.positions import Encoding, Position, PositionCodec
from strategies import texts

URI = "file:///nowhere/a.py"


@pytest.fixture
def documents() -> OpenDocuments:
    """One document open, by client 1."""
    held = OpenDocuments()
    held.open(1, URI, "one\ntwo\n", 5)
    return held


def insert(text: str, line: int, character: int) -> TextEdit:
    """Put a text at a place."""
    return TextEdit(text, Position(line, character), Position(line, character))


@given(text=texts(), data=st.data(), encoding=st.sampled_from(("utf-8", "utf-16", "utf-32")))
def test_changes_are_made_as_the_editor_makes_them(text: str, data: st.DataObject, encoding: Encoding) -> None:
    """Whatever an editor changes, in whatever encoding it counts, the text is the editor's own afterwards."""
    documents = OpenDocuments()
    documents.open(1, URI, text, 0, encoding=encoding)
    for version in range(1, data.draw(st.integers(1, 4)) + 1):
        codec = PositionCodec(text, encoding)
        # Editors have no place between a carriage return and its line feed.
        places = [place for place in range(len(text) + 1) if text[place - 1 : place + 1] != "\r\n"]
        start = data.draw(st.sampled_from(places))
        end = data.draw(st.sampled_from([place for place in places if place >= start]))
        new = data.draw(texts(max_lines=2))
        edit = TextEdit(new, codec.to_position(start), codec.to_position(end))
        text = text[:start] + new + text[end:]
        changed = documents.change(1, URI, version, [edit], expected=fingerprint(text.encode()))
        assert (text, version) == (changed.text, changed.version)


def test_changes_of_one_message_follow_each_other(documents: OpenDocuments) -> None:
    """Each change is for the text that the one before it left."""
    edits = [insert("zero\n", 0, 0), insert("x", 1, 0), TextEdit("", Position(0, 0), Position(1, 0))]
    assert "xone\ntwo\n" == documents.change(1, URI, 6, edits).text


def test_the_whole_text_may_be_sent(documents: OpenDocuments) -> None:
    """A change without a range replaces everything, and what follows counts in the new text."""
    assert "newer" == documents.change(1, URI, 6, [TextEdit("new"), insert("er", 0, 3)]).text


@pytest.mark.parametrize(
    ("version", "edits", "words"),
    [
        (5, [insert("x", 0, 0)], "does not follow version 5"),
        (4, [insert("x", 0, 0)], "does not follow version 5"),
        (6, [insert("x", 7, 0)], "no line 7"),
        (6, [TextEdit("", Position(1, 0), Position(0, 0))], "ends before it begins"),
        (6, [insert("😀", 0, 0), insert("x", 0, 1)], "inside a character"),
    ],
)
def test_a_change_that_does_not_fit(documents: OpenDocuments, version: int, edits: list[TextEdit], words: str) -> None:
    """What is out of order or impossible is refused; the document is of no use until it is opened again."""
    with pytest.raises(OutOfSync, match=words):
        documents.change(1, URI, version, edits)
    with pytest.raises(OutOfSync, match="open the document again"):
        documents.get(1, URI)
    with pytest.raises(OutOfSync, match="open the document again"):
        documents.at(1, Path("/nowhere/a.py"))
    with pytest.raises(OutOfSync, match="open the document again"):
        documents.change(1, URI, 99, [TextEdit("all new")])
    assert () == documents.all()
    assert "again" == documents.open(1, URI, "again", 0).text
    assert "again" == documents.get(1, URI).text


def test_a_wrong_fingerprint_is_out_of_step(documents: OpenDocuments) -> None:
    """A client that sends the fingerprint along learns at once that the texts differ."""
    with pytest.raises(OutOfSync, match="not the text with that fingerprint"):
        documents.change(1, URI, 6, [insert("x", 0, 0)], expected=fingerprint(b"something else"))


@pytest.mark.parametrize("text", ["a\0b", "half \ud83d", "\udc00"])
def test_what_is_no_text_is_refused(documents: OpenDocuments, text: str) -> None:
    """NUL characters and halves of surrogate pairs are refused, when a document is opened and when it is changed."""
    with pytest.raises(NotText):
        documents.open(1, "untitled:1", text, 0)
    with pytest.raises(NotText):
        documents.change(1, URI, 6, [TextEdit(text)])
    with pytest.raises(OutOfSync):
        documents.get(1, URI)


def test_unknown_documents(documents: OpenDocuments) -> None:
    """Only what is open can be changed, closed or used, and only by the client that opened it."""
    with pytest.raises(DocumentNotOpen, match="untitled:7"):
        documents.get(1, "untitled:7")
    with pytest.raises(DocumentNotOpen):
        documents.change(2, URI, 6, [])
    with pytest.raises(DocumentNotOpen):
        documents.close(2, URI)
    documents.close(1, URI)
    with pytest.raises(DocumentNotOpen):
        documents.close(1, URI)


def test_each_client_sees_its_own(documents: OpenDocuments) -> None:
    """Two editors may hold one file; each edits its own text, and others get the one that was changed last."""
    documents.open(2, URI, "second", 0)
    path = Path("/nowhere/a.py")
    assert "one\ntwo\n" == documents.get(1, URI).text
    assert ["second", "second"] == [documents.get(3, URI).text, getattr(documents.at(3, path), "text", None)]
    documents.change(1, URI, 6, [TextEdit("first")])
    assert ["first", "second"] == [documents.get(client, URI).text for client in (3, 2)]
    assert "second" == getattr(documents.at(2, path), "text", None)


def test_a_client_that_leaves_takes_its_documents_along(documents: OpenDocuments) -> None:
    """After an editor is gone, the disk counts again."""
    documents.open(2, "untitled:1", "x", 0)
    documents.leave(1)
    assert ["untitled:1"] == [opened.uri for opened in documents.all()]
    assert documents.at(1, Path("/nowhere/a.py")) is None


def test_links_lead_to_one_document(tmp_path: Path) -> None:
    """A file that is open is found under all its names."""
    (tmp_path / "real.py").write_text("x\n")
    (tmp_path / "link.py").symlink_to("real.py")
    documents = OpenDocuments()
    documents.open(1, (tmp_path / "link.py").as_uri(), "edited", 0)
    for name in ("real.py", "link.py"):
        assert "edited" == getattr(documents.at(1, tmp_path / name), "text", None)


def test_revisions_tell_texts_apart(documents: OpenDocuments) -> None:
    """A change that changes nothing keeps the revision; any other has a new one."""
    before = documents.get(1, URI)
    same = documents.change(1, URI, 6, [TextEdit(before.text)])
    other = documents.change(1, URI, 7, [TextEdit("other")])
    assert before.revision == same.revision < other.revision


def test_there_are_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither too many documents nor a too long one, grown by changes or not, are held."""
    documents = OpenDocuments(limit=1)
    documents.open(1, URI, "x", 0)
    documents.open(1, URI, "y", 0)
    with pytest.raises(DocumentLimit, match="1 documents are open"):
        documents.open(1, "untitled:1", "x", 0)
    monkeypatch.setattr(module, "MAX_BYTES", 10)
    with pytest.raises(DocumentLimit, match="larger than"):
        documents.open(1, URI, "é" * 6, 0)
    documents.change(1, URI, 1, [insert("12345678", 0, 0)])
    with pytest.raises(DocumentLimit, match="larger than"):
        documents.change(1, URI, 2, [insert("12345678", 0, 0)])


def test_a_burst_of_changes(documents: OpenDocuments) -> None:
    """Thousands of keystrokes in a row give the text that was typed."""
    for number in range(5000):
        documents.change(1, URI, 6 + number, [insert("x" if number % 9 else "\n", 0, 0)])
    assert 5000 + len("one\ntwo\n") == len(documents.get(1, URI).text)
    assert 3 + 556 == documents.get(1, URI).n_lines


@pytest.mark.parametrize(("encoding", "n_units"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_many_changes_in_one_message(encoding: Encoding, n_units: int) -> None:
    """Ten thousand changes of astral text in one message are made one after the other, or none of them is."""
    documents = OpenDocuments()
    documents.open(1, URI, "", 0, encoding=encoding)
    edits = []
    for line in range(100):
        edits += [insert("😀", line, n_units * place) for place in range(99)]
        edits.append(insert("\u2028\f\x85\n", line, n_units * 99))
    expected = ("😀" * 99 + "\u2028\f\x85\n") * 100
    opened = documents.change(1, URI, 1, edits)
    assert (expected, 101) == (opened.text, opened.n_lines)
    with pytest.raises(OutOfSync, match="no line 999"):
        documents.change(1, URI, 2, [*edits, insert("x", 999, 0)])
    with pytest.raises(OutOfSync, match="open the document again"):
        documents.get(1, URI)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_many_changes_of_one_long_line(encoding: Encoding) -> None:
    """Changes all over a line of many blocks give the text that making them one by one gives."""
    rng = random.Random(3)  # noqa: S311  # the same changes in every run
    text = 'x = "é😀"; ' * 5000
    documents = OpenDocuments()
    documents.open(1, URI, text, 0, encoding=encoding)
    edits = []
    for new in ("a", "😀é", "", "a longer text\n", "") * 20:
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.choice((0, 1, 20_000)) * (not new))
        codec = PositionCodec(text, encoding)
        edits.append(TextEdit(new, codec.to_position(start), codec.to_position(end)))
        text = text[:start] + new + text[end:]
    assert text == documents.change(1, URI, 1, edits).text


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that pauses before each of its edits."""
    monkeypatch.setattr(module, "PORTION_S", 0.0)


@pytest.mark.usefixtures("pauses")
def test_a_change_is_seen_when_it_is_made(documents: OpenDocuments) -> None:
    """While a change is under way others have the text before it, and afterwards all of the new one."""
    n_pauses = 0
    with documents.begin(1, URI, 6, [insert("a", 0, 0), insert("b", 0, 1), insert("c", 0, 2)]) as change:
        for _ in change.portions():
            n_pauses += 1
            (opened,) = documents.all()
            assert ("one\ntwo\n", 5) == (opened.text, opened.version)
            assert opened == documents.get(2, URI) == documents.at(2, Path("/nowhere/a.py"))
            assert (change,) == documents.under_way(1)
    assert 3 == n_pauses
    assert ("abcone\ntwo\n", 6) == (documents.get(2, URI).text, documents.get(1, URI).version)
    assert () == documents.under_way(1)


@pytest.mark.usefixtures("pauses")
def test_changes_under_way_keep_their_order(documents: OpenDocuments) -> None:
    """A change waits for those of its document that arrived before it."""
    first, second = documents.begin(1, URI, 6, [insert("a", 0, 0)]), documents.begin(1, URI, 7, [])
    with second:
        waiting = second.portions()
        with first:
            assert [None, None, None] == [next(waiting) for _ in range(3)]
            assert [None] == list(first.portions())
        assert [] == list(waiting)
    assert ("aone\ntwo\n", 7) == (documents.get(1, URI).text, documents.get(1, URI).version)


@pytest.mark.usefixtures("pauses")
def test_a_change_that_is_given_up(documents: OpenDocuments) -> None:
    """Of a change that is cancelled in the middle nothing is made, and none behind it fits."""
    with documents.begin(1, URI, 6, [insert("a", 0, 0), insert("b", 0, 0)]) as change:
        next(change.portions())
    with pytest.raises(OutOfSync, match="open the document again"):
        documents.get(1, URI)
    with pytest.raises(OutOfSync, match="open the document again"):
        documents.change(1, URI, 7, [insert("c", 0, 0)])


@pytest.mark.usefixtures("pauses")
def test_a_document_that_is_opened_anew_meanwhile(documents: OpenDocuments) -> None:
    """A change of a document that is closed or opened anew before it is made does not touch the new one."""
    for words in ("new", "newer"):
        with documents.begin(1, URI, 6, [insert("a", 0, 0), insert("b", 0, 0)]) as change:
            portions = change.portions()
            next(portions)
            documents.close(1, URI)
            documents.open(1, URI, words, 1)
            if words == "newer":
                assert [None] == list(portions)
        assert (words, 1) == (documents.get(1, URI).text, documents.get(1, URI).version)
        documents.open(1, URI, "", 1)


@pytest.mark.usefixtures("pauses")
def test_a_client_waits_for_its_own_changes(documents: OpenDocuments) -> None:
    """Who asks for a text behind a change of its own gets what the change makes."""
    seen: list[str] = []
    with documents.begin(1, URI, 6, [insert("a", 0, 0)]) as change:
        portions = change.portions()
        next(portions)
        asking = threading.Thread(target=lambda: seen.append(documents.get(1, URI).text))
        asking.start()
        assert [] == list(portions)
    asking.join()
    assert ["aone\ntwo\n"] == seen


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("file:///srv/a%20b.py", "/srv/a b.py"),
        ("FILE:///srv/x", "/srv/x"),
        ("file://localhost/srv/x", "/srv/x"),
        ("/srv/x", "/srv/x"),
        ("untitled:Untitled-1", None),
        ("Makefile", None),
    ],
)
def test_uris_name_files(uri: str, expected: str | None) -> None:
    """File URIs and absolute paths name files; anything else is a text without one."""
    assert (expected and os.path.realpath(expected)) == (str(path_of(uri)) if path_of(uri) else None)


@pytest.mark.parametrize("uri", ["file://server/share/x", "file:///srv/%00", "/srv/\0", "file:x.py"])
def test_uris_of_no_file_here(uri: str) -> None:
    """A file on another machine, a NUL or a relative path cannot be opened."""
    with pytest.raises(InvalidParams):
        path_of(uri)
