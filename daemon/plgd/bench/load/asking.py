"""One edit, asked for and timed as its client sees it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from plgd.bench.load.texts import LoadEdit
from plgd.client import Client
from plgd.config import EngineConfig
from plgd.errors import ConnectionLost, PlgdError
from plgd.protocol.edits import EditDelta, EditParams, EditProgress, EditResult, Priority, Stage
from plgd.protocol.methods import EDIT

__all__ = ("Asked", "Asking", "Reply", "ask", "is_reply")


@dataclass(frozen=True, slots=True)
class Reply:
    """What must be the same whoever else is served: the model's own words, how they were taken, the new text."""

    words: str
    status: str
    new_text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """An edit that was asked for. Times are seconds of one clock.

    Attributes:
        edit: the edit.
        priority: the class that it was asked in.
        client: who asked, from 0.
        asked_s: when it was sent.
        first_s: when the first sign of its reply came; None when it never came so far.
        ended_s: when it was answered.
        result: the answer; None for a failure.
        error: the name of the failure; empty for an answer.
    """

    edit: LoadEdit
    priority: str
    client: int
    asked_s: float
    first_s: float | None
    ended_s: float
    result: EditResult | None
    error: str

    @property
    def n_tokens(self) -> int:
        """Tokens of the reply that were committed."""
        return self.result.stats.output_tokens if self.result is not None else 0

    @property
    def reply(self) -> Reply | None:
        """The reply; None for a failure."""
        if self.result is None:
            return None
        runs = self.result.drafts.runs if self.result.drafts is not None else ()
        return Reply("".join(run.text for run in runs), self.result.status.value, self.result.new_text)


@dataclass(frozen=True, slots=True)
class Asking:
    """How edits are asked for.

    Attributes:
        model: the model's full name; None for the daemon's default.
        max_tokens: replies end after so many tokens.
        prefill_slice: prompt tokens that the daemon reads in one pass.
        clock: seconds from any start.
    """

    model: str | None
    max_tokens: int | None
    prefill_slice: int = EngineConfig().prefill_slice
    clock: Callable[[], float] = time.perf_counter

    def params(self, edit: LoadEdit, priority: str) -> EditParams:
        """Return the request."""
        return EditParams(
            instruction=edit.instruction,
            text=edit.text,
            name=edit.name,
            model=self.model,
            max_tokens=self.max_tokens,
            sampling=edit.sampling,
            show_drafts=True,
            priority=Priority(priority),
        )


async def ask(
    client: Client,
    edit: LoadEdit,
    asking: Asking,
    *,
    priority: str,
    number: int = 0,
    on_note: Callable[[msgspec.Struct], None] = lambda _note: None,
) -> Asked:
    """Ask for an edit and wait for its answer.

    Args:
        client: a connection.
        edit: the edit.
        asking: how.
        priority: the class that it is asked in.
        number: of who asks.
        on_note: told of each notification.

    Raises:
        ConnectionLost: the daemon is gone; there is nothing left to measure.
    """
    first_s: float | None = None

    def take(note: msgspec.Struct) -> None:
        nonlocal first_s
        if first_s is None and is_reply(note):
            first_s = asking.clock()
        on_note(note)

    asked_s = asking.clock()
    result, error = None, ""
    try:
        result = await client.call(EDIT, asking.params(edit, priority), take)
    except ConnectionLost:
        raise
    except PlgdError as failure:
        error = type(failure).__name__
    return Asked(edit, priority, number, asked_s, first_s, asking.clock(), result, error)


def is_reply(note: msgspec.Struct) -> bool:
    """Tell whether a notification is a sign that the reply has begun."""
    return isinstance(note, EditDelta) or (isinstance(note, EditProgress) and note.stage is Stage.DECODE)
