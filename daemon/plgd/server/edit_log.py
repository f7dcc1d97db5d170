"""One line of the log for each edit: what became of it and how long it took, never what was asked or written."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from plgd.errors import Cancelled, PlgdError
from plgd.protocol.edits import EditResult

__all__ = ("EditNotes", "logged_edit")

_LOG: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class EditNotes:
    """What the line will say; filled in while the edit goes on.

    Attributes:
        model: the model's name, once it is known.
        result: the answer, once there is one.
    """

    model: str = ""
    result: EditResult | None = None


@contextmanager
def logged_edit(path: str | None, clock: Callable[[], float] = time.monotonic) -> Iterator[EditNotes]:
    """Log an edit when the block ends, whichever way.

    Args:
        path: the file, or `None` for a text; a text's name is the client's own words.
        clock: seconds from any start.
    """
    started, notes, outcome = clock(), EditNotes(), "failed"
    try:
        yield notes
        outcome = _words(notes.result)
    except Cancelled:
        outcome = "cancelled"
        raise
    except PlgdError as error:
        outcome = type(error).__name__
        raise
    finally:
        by = f" by {notes.model}" if notes.model else ""
        # A path may hold line ends and bytes that are no text: `repr` keeps the log one line per edit, in UTF-8.
        what = repr(path) if path is not None else "a text"
        _LOG.info("edit of %s%s: %s, %.0f ms", what, by, outcome, 1000.0 * (clock() - started))


def _words(result: EditResult | None) -> str:
    if result is None:
        return "no answer"
    stats = result.stats
    ended = f" ended by {stats.stopped_by}" if stats.stopped_by else ""
    return f"{result.status.value}, {stats.output_tokens} tokens{ended}"
