"""What the generator writes: one case a line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Literal

import msgspec

from plgd.text.lines import split_lines

__all__ = ("Case", "answer_of", "read_cases", "read_shard", "shards")


class Case(msgspec.Struct, frozen=True):
    """A request and its right answer.

    Attributes:
        kind: of the edit; joined by `+` when the instruction asks for two.
        package: that the text comes from.
        path: of the file in its package.
        language: as `plgd.edits.language` names it.
        text: the whole file.
        first_line: of those to rewrite, counted from 1; None for the whole file.
        last_line: included.
        instruction: the user's words.
        new_text: the whole new file, or the new text of the lines.
        phrasing: whether training sees such words.
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


def answer_of(case: Case) -> str:
    """Return the whole text that is the right answer."""
    if case.first_line is None or case.last_line is None:
        return case.new_text
    lines = split_lines(case.text)
    return "".join((*lines[: case.first_line - 1], case.new_text, *lines[case.last_line :]))


def shards(folder: Path) -> list[Path]:
    """Return the files with cases in a folder, in order."""
    return sorted(folder.glob("cases-*.jsonl"))


def read_shard(path: Path) -> Iterator[Case]:
    """Read the cases of one file.

    Raises:
        OSError: the file cannot be read.
        msgspec.DecodeError: it holds something else.
    """
    decoder = msgspec.json.Decoder(Case)
    with path.open("rb") as stream:
        yield from map(decoder.decode, stream)


def read_cases(folder: Path) -> Iterator[Case]:
    """Read the cases of all shards in a folder, in order; errors as of `read_shard`."""
    return chain.from_iterable(map(read_shard, shards(folder)))
