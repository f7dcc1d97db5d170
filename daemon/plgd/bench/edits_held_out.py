"""The suite of edits of files that the built-in model's training never saw.

The data file has no text of other people's files: it names packages of the public indexes by version and hash, and
tells each edit's texts by the file. They are fetched when the suite is run, and kept.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from plgd.bench.edits_pieces import Piece, spell
from plgd.bench.edits_suite import SuiteEdit
from plgd.bench.material.corpus import Kind, Release, fetch_release
from plgd.bench.material.pairs import archive_texts
from plgd.errors import BenchError
from plgd.protocol.edits import LineRange

__all__ = ("HELD_OUT", "StoredEdit", "StoredSource", "StoredSuite", "load_held_out", "read_held_out")

HELD_OUT: Final = Path(__file__).parent / "data" / "held-out-edits.json"


class StoredSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An archive of a public package.

    Attributes:
        name: of the package.
        kind: what is fetched of it, which says from which index.
        version: of the package.
        file: the archive's name.
        sha256: the archive's hash.
        licence: that the package states.
    """

    name: str
    kind: Kind
    version: str
    file: str
    sha256: str
    licence: str


class StoredEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """An edit of a file.

    Attributes:
        name: no other edit has it.
        kind: of edit.
        source: the archive's name; empty for a text that was made up for the purpose.
        member: the file in the archive.
        path: the name that the model is told.
        before: the text, told by the file; a made-up one stands here itself.
        after: the right answer, told by the text.
        instruction: what is asked.
        phrasing: `seen` or `unseen` in training.
        lines: to rewrite; None for the whole text.
    """

    name: str
    kind: str
    source: str
    member: str
    path: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]
    instruction: str
    phrasing: str
    lines: tuple[int, int] | None = None


class StoredSuite(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data file."""

    sources: tuple[StoredSource, ...]
    edits: tuple[StoredEdit, ...]


def read_held_out(path: Path = HELD_OUT) -> StoredSuite:
    """Read the data file.

    Raises:
        BenchError: the file is no such suite.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=StoredSuite)
    except (OSError, msgspec.DecodeError) as error:
        raise BenchError.unreadable(str(path), str(error)) from error


def load_held_out(stored: StoredSuite, folder: Path, say: Callable[[str], None]) -> list[SuiteEdit]:
    """Fetch what is not there yet and put the edits together.

    Args:
        stored: the data file.
        folder: where archives are kept.
        say: told what is being done, and what is left out.

    Raises:
        BenchError: an archive cannot be fetched, is not the listed one, or does not hold what an edit names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sources = {source.file: source for source in stored.sources}

    @cache
    def texts(file: str) -> dict[str, str] | None:
        source = sources[file]
        if source.kind == "npm" and shutil.which("npm") is None:
            say(f"{source.name} is left out: npm is not installed")
            return None
        release = Release(source.version, source.file, source.sha256)
        return dict(archive_texts(fetch_release(source.name, source.kind, release, folder, say)))

    edits: list[SuiteEdit] = []
    for edit in stored.edits:
        members = texts(edit.source) if edit.source else {edit.member: ""}
        if members is not None:
            edits.append(_restore(edit, members))
    return edits


def _restore(edit: StoredEdit, members: dict[str, str]) -> SuiteEdit:
    if edit.member not in members:
        raise BenchError.unreadable(edit.source, f"it does not hold {edit.member}")
    try:
        before = spell(members[edit.member], edit.before)
        after = spell(before, edit.after)
    except ValueError as error:
        raise BenchError.unreadable(f"{edit.member} of {edit.source}", str(error)) from error
    return SuiteEdit(
        name=edit.name,
        kind=edit.kind,
        path=edit.path,
        instruction=edit.instruction,
        before=before,
        answers=(after,),
        lines=LineRange(*edit.lines) if edit.lines else None,
        phrasing=edit.phrasing,
    )
