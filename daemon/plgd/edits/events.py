"""What a job on the model tells while it goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from plgd.protocol.documents import WarmResult
from plgd.protocol.edit_many import EditManyResult
from plgd.protocol.edits import EditResult, Stage

__all__ = ("JobDelta", "JobEvent", "JobProgress", "JobResult", "in_file", "in_part")

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Where the job is.

    Attributes:
        stage: `PREFILL`, `DECODE` or `APPLY`.
        percent: of the prompt while `PREFILL`, then of the text's lines that the reply has passed; 0 to 100.
        n_tokens: of the prompt while `PREFILL`, then of the reply.
        tokens_per_s: of the reply so far, 0 before it begins.
        part: which of several edits of a text it is about, counted from 0.
        file: which of several files it is about, counted from 0.
        awaits: another job is reading what this one's prompt begins with, too; this one goes on afterwards.
    """

    stage: Stage
    percent: float
    n_tokens: int
    tokens_per_s: float = 0.0
    part: int = 0
    file: int = 0
    awaits: bool = False


@dataclass(frozen=True, slots=True)
class JobDelta:
    """New text of the reply; `part` and `file` as in `JobProgress`."""

    text: str
    part: int = 0
    file: int = 0


JobEvent: TypeAlias = JobProgress | JobDelta
JobResult: TypeAlias = EditResult | EditManyResult | WarmResult


def in_part(steps: Generator[JobEvent, None, ValueT], part: int) -> Generator[JobEvent, None, ValueT]:
    """Say of every event of a generator which part it is about."""
    return (yield from _marked(steps, lambda event: replace(event, part=part)))


def in_file(steps: Generator[JobEvent, None, ValueT], file: int) -> Generator[JobEvent, None, ValueT]:
    """Say of every event of a generator which file it is about."""
    return (yield from _marked(steps, lambda event: replace(event, file=file)))


def _marked(
    steps: Generator[JobEvent, None, ValueT], mark: Callable[[JobEvent], JobEvent]
) -> Generator[JobEvent, None, ValueT]:
    with contextlib.closing(steps):
        while True:
            try:
                event = next(steps)
            except StopIteration as done:
                value: ValueT = done.value
                return value
            yield mark(event)
