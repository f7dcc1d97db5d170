"""Edits with their right answers: the gate, written by hand, and what every suite is made of."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, Protocol, TypeVar

import msgspec

from plgd.edits.language import language_of
from plgd.errors import BenchError
from plgd.protocol.edits import LineRange

__all__ = ("GATE", "SuiteEdit", "choose_edits", "read_gate")

GATE: Final = Path(__file__).parent / "data" / "gate"


@dataclass(frozen=True, slots=True)
class SuiteEdit:
    """One request whose right answers are known.

    Attributes:
        name: what reports call it; no other edit of the suite has it.
        kind: of edit.
        path: the file's name.
        instruction: what is asked.
        before: the text.
        answers: the texts that are right, byte for byte.
        lines: to rewrite; None for the whole text.
        phrasing: `seen` or `unseen` in the built-in model's training; empty where that is no question.
    """

    name: str
    kind: str
    path: str
    instruction: str
    before: str
    answers: tuple[str, ...]
    lines: LineRange | None = None
    phrasing: str = ""

    @property
    def language(self) -> str:
        """The text's language, by its name."""
        return language_of(PurePosixPath(self.path).name)


class _GateEdit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An edit as it is written down: `after` and `also` are whole texts, for a range, too."""

    name: str
    kind: str
    path: str
    instruction: str
    before: str
    after: str
    lines: tuple[int, int] | None = None
    also: tuple[str, ...] = ()


class _GateFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    edit: tuple[_GateEdit, ...]


def read_gate(folder: Path = GATE) -> list[SuiteEdit]:
    """Read edits from a folder of TOML files, file by file.

    Raises:
        BenchError: there is none, or a file is no such list.
    """
    files = sorted(folder.glob("*.toml"))
    if not files:
        raise BenchError.unreadable(str(folder), "it holds no *.toml")
    return [edit for file in files for edit in _read_file(file)]


def _read_file(file: Path) -> list[SuiteEdit]:
    try:
        found = msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), _GateFile)
    except (OSError, ValueError) as error:
        raise BenchError.unreadable(str(file), str(error)) from error
    return [
        SuiteEdit(
            name=edit.name,
            kind=edit.kind,
            path=edit.path,
            instruction=edit.instruction,
            before=edit.before,
            answers=(edit.after, *edit.also),
            lines=LineRange(*edit.lines) if edit.lines else None,
        )
        for edit in found.edit
    ]


class _OfKind(Protocol):
    @property
    def kind(self) -> str: ...


EditT = TypeVar("EditT", bound=_OfKind)


def choose_edits(edits: Sequence[EditT], kinds: Sequence[str] | None, limit: int | None) -> list[EditT]:
    """Choose the edits of some kinds, and at most so many of them, spread evenly over all.

    Raises:
        BenchError: no edit is of a kind that is asked for.
    """
    known = {edit.kind: None for edit in edits}
    for kind in kinds or ():
        if kind not in known:
            raise BenchError.unreadable(f"kind of edit {kind}", f"there are {', '.join(known)}")
    chosen = [edit for edit in edits if kinds is None or edit.kind in kinds]
    if limit is None or limit >= len(chosen):
        return chosen
    return [chosen[index * len(chosen) // limit] for index in range(limit)]
