"""Records who drafted which part of a reply, while it comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from plgd.engine.proposer import Share
from plgd.engine.types import Round
from plgd.protocol.reply_drafts import ReplyDrafts, ReplyRun

__all__ = ("MAX_RUNS", "DraftRecorder")

# Decoded plainly, each token is a run of its own, of about 60 bytes in the answer.
MAX_RUNS: Final = 65_536


class _Run:
    """A run that may still get text."""

    def __init__(self, share: Share, n_round: int) -> None:
        self.share = share
        self.n_round = n_round
        self.pieces: list[str] = []


class DraftRecorder:
    """Puts a reply's rounds and the text of its tokens together."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self._widths: list[int] = []
        self._n_left_out = 0
        self._open: _Run | None = None  # where a character began that is not whole yet

    def add(self, round_: Round, pieces: Sequence[str]) -> None:
        """Take a round.

        Args:
            round_: the next one.
            pieces: the text that each of its tokens added. In the last round there may be one more, what was held back
                until the end, and none for the token that ends the reply.
        """
        if not round_.tokens:
            return
        if len(self._runs) >= MAX_RUNS:
            self._n_left_out += len(round_.tokens)
            return
        self._widths.append(round_.n_drafted + 1)
        place = 0
        for share in _shares(round_):
            run = _Run(share, len(self._widths))
            self._runs.append(run)
            for piece in pieces[place : place + share.n_tokens]:
                self._write(run, piece)
            place += share.n_tokens
        for piece in pieces[place:]:
            self._write(self._runs[-1], piece)

    def result(self) -> ReplyDrafts:
        """Return what was recorded."""
        runs = (
            ReplyRun(text="".join(run.pieces), by=run.share.proposer, round=run.n_round, n_tokens=run.share.n_tokens)
            for run in self._runs
        )
        return ReplyDrafts(runs=tuple(runs), widths=tuple(self._widths), n_left_out=self._n_left_out)

    def _write(self, run: _Run, piece: str) -> None:
        """Give a piece to a run; the character that an earlier run began is that run's."""
        if not piece:
            self._open = self._open or run
            return
        if self._open is not None and not piece[0].isascii():
            self._open.pieces.append(piece[0])
            piece = piece[1:]
        self._open = None
        run.pieces.append(piece)


def _shares(round_: Round) -> Iterator[Share]:
    """Yield whose the tokens of a round are, those of one proposer together, and the token that no one drafted."""
    for proposer, shares in groupby(round_.shares, key=attrgetter("proposer")):
        yield Share(proposer, sum(share.n_tokens for share in shares))
    if len(round_.tokens) > round_.n_accepted:
        missed = round_.n_accepted < round_.n_drafted
        yield Share("plain" if not round_.n_drafted else "correction" if missed else "bonus", 1)
