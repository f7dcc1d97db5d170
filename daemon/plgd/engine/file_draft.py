"""The file-draft proposer: drafts from the text that is being rewritten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from plgd.engine.codec import SpanCodec
from plgd.engine.cursor import Cursor
from plgd.engine.odds import Odds
from plgd.engine.overlay import Overlay
from plgd.engine.patcher import Patcher
from plgd.engine.proposer import NO_DRAFT, Draft, Share
from plgd.engine.source_index import SourceIndex
from plgd.engine.sources import Sources

__all__ = ("FileDraftProposer",)

# Below this chance of its first token a guess is no proposal.
LEAST_CHANCE: Final = 0.1


class FileDraftProposer:
    """Reads its drafts from the sources at the cursor, with what the reply has changed so far put in.

    Args:
        sources: the text to rewrite first, then others that the reply may resemble.
        n_prompt: tokens of the history before the reply; the cursor begins to move behind them.
        codec: for substitutions; without one there are none.
        odds: to go on with; new ones by default.
        known: as for `Sources`.
        announced: as for `Patcher`.
    """

    def __init__(
        self,
        sources: Sequence[Sequence[int]],
        n_prompt: int,
        codec: SpanCodec | None = None,
        *,
        odds: Odds | None = None,
        known: SourceIndex | None = None,
        announced: Iterable[tuple[str, str]] = (),
    ) -> None:
        self._sources = Sources(sources or ((),), known)
        self._overlay = Overlay()
        self._cursor = Cursor(self._sources, self._overlay, odds or Odds())
        self._patcher = Patcher(self._sources, self._overlay, codec, announced) if codec is not None else None
        self._n_skip = n_prompt

    @property
    def n_bytes(self) -> int:
        """About how much memory the sources and their index take."""
        return self._sources.n_bytes

    def extend(self, tokens: Sequence[int]) -> None:
        """Take in tokens that were appended to the history."""
        n_skipped = min(self._n_skip, len(tokens))
        self._n_skip -= n_skipped
        tokens = tokens[n_skipped:]
        while tokens:
            tokens = tokens[self._cursor.run_on(tokens) :]
            if tokens:
                event = self._cursor.push(tokens[0])
                if self._patcher is not None:
                    self._patcher.observe(event)
                tokens = tokens[1:]

    def propose(self, max_tokens: int) -> Draft:
        """Guess up to `max_tokens` tokens that follow the history; `NO_DRAFT` when nothing is known."""
        if self._patcher is not None:
            self._patcher.cover(self._cursor.place, max_tokens)
        guess = self._cursor.guess(max_tokens) if max_tokens > 0 else None
        if guess is None or guess.chances[0] < LEAST_CHANCE:
            return NO_DRAFT
        own = "file" if guess.in_source else "ngram"
        if not any(is_patch for _, is_patch in guess.pieces):
            return Draft(guess.tokens, own, guess.streak, guess.chances)
        shares = tuple(Share("substitution" if is_patch else own, n) for n, is_patch in guess.pieces)
        return Draft(guess.tokens, "substitution", guess.streak, guess.chances, shares)
