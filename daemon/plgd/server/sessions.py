"""Edits that are over, kept for a while: what became of them, and proposals under review."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from plgd.documents.document import Document
from plgd.edits.review import Review
from plgd.errors import SessionUnknown
from plgd.protocol.edits import EditResult, EditStatus
from plgd.protocol.sessions import HunkState, ReviewedHunk

__all__ = ("KeptSession", "Sessions")

# `AcceptParams` tells these three.
_LIMIT: Final = 64
_BYTES_LIMIT: Final = 64 * 1024 * 1024
_EXPIRES_AFTER_S: Final = 3600.0
# A text is held as bytes and as lines.
_COPIES: Final = 2


@dataclass(frozen=True, slots=True)
class KeptSession:
    """What is remembered of an edit.

    Attributes:
        session: its id.
        path: the real file; empty for a text.
        base_fingerprint: of the text that was edited.
        new_fingerprint: of the text with all hunks.
        ended_as: the status of its result.
        told_hunks: those of its result.
        review: of a proposal, what was decided about its hunks.
    """

    session: str
    path: str
    base_fingerprint: str
    new_fingerprint: str
    ended_as: EditStatus
    told_hunks: tuple[ReviewedHunk, ...]
    review: Review | None

    @property
    def status(self) -> EditStatus:
        """What became of the edit."""
        return self.ended_as if self.review is None else self.review.status

    @property
    def hunks(self) -> tuple[ReviewedHunk, ...]:
        """Its hunks, with what was decided about each."""
        return self.told_hunks if self.review is None else self.review.hunks

    @property
    def accepted_fingerprint(self) -> str:
        """Of the text with the accepted hunks."""
        return self.new_fingerprint if self.review is None else self.review.accepted_fingerprint


class Sessions:
    """Bounded by number, bytes and time; those used longest ago go first. Used on the event loop only.

    Args:
        clock: seconds from any start.
        bytes_limit: memory that texts under review may take; the newest is kept even if it is larger.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, bytes_limit: int = _BYTES_LIMIT) -> None:
        self._clock = clock
        self._bytes_limit = bytes_limit
        self._kept: OrderedDict[str, tuple[KeptSession, int, float]] = OrderedDict()
        self._n_bytes = 0

    def keep(self, document: Document, result: EditResult) -> None:
        """Remember an edit that is over.

        Args:
            document: the text that was edited.
            result: its answer.
        """
        is_open = result.status is EditStatus.PROPOSED
        kept = KeptSession(
            session=result.session,
            path=result.path,
            base_fingerprint=result.base_fingerprint,
            new_fingerprint=result.new_fingerprint,
            ended_as=result.status,
            told_hunks=tuple(
                ReviewedHunk(
                    id=hunk.id,
                    old_start=hunk.old_start,
                    old_lines=hunk.old_lines,
                    new_start=hunk.new_start,
                    new_lines=hunk.new_lines,
                    state=HunkState.ACCEPTED,
                )
                for hunk in result.hunks
            ),
            review=Review(document, result) if is_open else None,
        )
        n_bytes = _COPIES * (len(document.data) + len(result.new_text)) if is_open else 0
        self._kept[result.session] = kept, n_bytes, self._clock()
        self._n_bytes += n_bytes
        self._drop_expired()
        while len(self._kept) > _LIMIT or (self._n_bytes > self._bytes_limit and len(self._kept) > 1):
            self._drop_oldest()

    def get(self, session: str) -> KeptSession:
        """Return a session; it is kept for another while.

        Raises:
            SessionUnknown: there is none of this id.
        """
        self._drop_expired()
        if session not in self._kept:
            raise SessionUnknown.named(session)
        kept, n_bytes, _ = self._kept.pop(session)
        self._kept[session] = kept, n_bytes, self._clock()
        return kept

    def _drop_expired(self) -> None:
        oldest_allowed = self._clock() - _EXPIRES_AFTER_S
        while self._kept and next(iter(self._kept.values()))[2] < oldest_allowed:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        _, (_, n_bytes, _) = self._kept.popitem(last=False)
        self._n_bytes -= n_bytes
