"""The data that is trained on and judged by: one edit with its right answer a line, in shards of JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

__all__ = ("Case", "decode_case", "read_cases", "shards")


class Case(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One edit whose right answer is known.

    Attributes:
        kind: of edit, such as `rename-variable`.
        package: that the text comes from.
        path: the text's name there.
        language: as `plgd.edits.language` names it.
        text: the whole text before the edit.
        first_line: of the lines to rewrite, counted from 1; None for the whole text.
        last_line: included; None for the whole text.
        instruction: what is asked.
        new_text: the right answer: for a range the lines that take the place of the range, else the whole text.
        phrasing: whether the instruction's wording is one that is trained on.
    """

    kind: str
    package: str
    path: str
    language: str
    text: str
    first_line: int | None
    last_line: int | None
    instruction: str
    new_text: str
    phrasing: Literal["seen", "unseen"]


_DECODER = msgspec.json.Decoder(Case)


def shards(folder: Path) -> list[Path]:
    """Return the files with cases in a folder, in the order of their names.

    Raises:
        FileNotFoundError: there are none.
    """
    found = sorted(folder.glob("*.jsonl"))
    if not found:
        raise FileNotFoundError(f"{folder} holds no *.jsonl")
    return found


def decode_case(line: bytes) -> Case:
    """Decode one line of a shard.

    Raises:
        msgspec.DecodeError: the line is no case.
    """
    return _DECODER.decode(line)


def read_cases(folder: Path) -> Iterator[Case]:
    """Yield all cases of a folder, shard by shard."""
    for shard in shards(folder):
        with shard.open("rb") as lines:
            yield from map(decode_case, lines)
