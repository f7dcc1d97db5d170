"""Sources: what a rewrite can be read from, and where in it the reply's last tokens stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from plgd.engine.source_index import FAR_GRAM, GRAMS, SourceIndex, runs_before

__all__ = ("BREAK", "MAX_SOURCE_TOKENS", "Sources")

# Stands between two sources; no token equals it.
BREAK: Final = -1

# What is longer is cut: the index takes about 400 bytes a token.
MAX_SOURCE_TOKENS: Final = 1 << 18
BYTES_PER_TOKEN: Final = 400

# Agreement is measured this far back; longer agreement says nothing more about a place.
MAX_AGREEMENT: Final = 8
# Single tokens are trusted near the cursor only: from so many tokens behind it to so many before it.
NEAR_BACK: Final = 50
NEAR_AHEAD: Final = 200
MAX_NEAR: Final = 6


class Sources:
    """The sources, one behind the other, and behind them the reply as it grows.

    A token costs a few dictionary entries when it arrives and a look-up a few probes, however long the sources are.

    Args:
        sources: texts the reply may resemble, the text to rewrite first; those past `MAX_SOURCE_TOKENS` are cut.
        known: the index of a text that one of the sources begins with, so that this stretch is not indexed again.

    Attributes:
        tokens: all tokens; `BREAK` behind each source.
        starts: where each source begins.
        n_source: tokens of all sources; the reply begins there.
    """

    def __init__(self, sources: Sequence[Sequence[int]], known: SourceIndex | None = None) -> None:
        self.tokens: list[int] = []
        starts: list[int] = []
        at: int | None = None
        for source in sources:
            start, piece = len(self.tokens), source[: max(0, MAX_SOURCE_TOKENS - len(self.tokens))]
            starts.append(start)
            if known is not None and at is None and list(piece[: len(known)]) == known.tokens:
                at = start
            self.tokens += piece
            self.tokens.append(BREAK)
        self.starts: Final = tuple(starts)
        self.n_source: Final = len(self.tokens)
        self._known = known if known is not None and at is not None else SourceIndex(())
        self._at = at or 0
        self._index_rest()

    def _index_rest(self) -> None:
        """Index the places before and behind the known stretch, in which its own index says all."""
        tokens, start, end = self.tokens, self._at, self._at + len(self._known)
        self._own_places: defaultdict[int, list[int]] = defaultdict(list)
        for place in (*range(start), *range(end, self.n_source)):
            self._own_places[tokens[place]].append(place)
        self._places: dict[int, list[int]] = {BREAK: []}
        # A run that ends within the known stretch but begins before it is no run of it.
        far = [*runs_before(tokens, FAR_GRAM, 0, min(start + FAR_GRAM, end))]
        far += runs_before(tokens, FAR_GRAM, end, self.n_source)
        self._first: dict[int, int] = dict(reversed(far))
        self._latest: tuple[dict[int, int], ...] = tuple(
            {**dict(runs_before(tokens, n, 0, min(start + n, end))), **dict(runs_before(tokens, n, end, self.n_source))}
            for n in GRAMS
        )

    @property
    def n_bytes(self) -> int:
        """About how much memory it takes."""
        return BYTES_PER_TOKEN * len(self.tokens)

    def append_copied(self, tokens: Sequence[int]) -> None:
        """Take in tokens of the reply that follow as they do in the place that is copied, which is indexed already."""
        self.tokens += tokens

    def append(self, token: int) -> None:
        """Take in the reply's next token."""
        tokens = self.tokens
        place = len(tokens)
        # What ends here has gained a follower. Keys are hashes: whoever looks up compares the tokens.
        if place >= FAR_GRAM:
            self._first.setdefault(hash(tuple(tokens[-FAR_GRAM:])), place)
        for n, latest in zip(GRAMS, self._latest, strict=True):
            if place >= n:
                latest[hash(tuple(tokens[-n:]))] = place
        tokens.append(token)

    def end_behind(self, place: int) -> int:
        """Return the end of the source, or of the reply, that a place is in."""
        following = bisect_right(self.starts, place)
        if place >= self.n_source:
            return len(self.tokens)
        return (self.starts[following] if following < len(self.starts) else self.n_source) - 1

    def find_near(self, token: int, anchor: int) -> Iterator[int]:
        """Yield the places right behind a token's occurrences in the sources around a place, nearest first."""
        places = self._places_of(token)
        above = bisect_left(places, anchor)
        below = above - 1
        for _ in range(MAX_NEAR):
            to_above = places[above] - anchor if above < len(places) else NEAR_AHEAD + 1
            to_below = anchor - places[below] if below >= 0 else NEAR_BACK + 1
            if to_above <= NEAR_AHEAD and (to_above <= to_below or to_below > NEAR_BACK):
                yield places[above] + 1
                above += 1
            elif to_below <= NEAR_BACK:
                yield places[below] + 1
                below -= 1
            else:
                return

    def find_far(self) -> int | None:
        """Return the place behind the first occurrence of the last `FAR_GRAM` tokens, unless it is the end."""
        run = hash(tuple(self.tokens[-FAR_GRAM:]))
        place, known = self._first.get(run), self._known.first.get(run)
        if known is not None:
            place = known + self._at if place is None else min(place, known + self._at)
        return place if place is not None and self.count_agreement(place) >= FAR_GRAM else None

    def find_latest(self) -> Iterator[int]:
        """Yield the places behind the latest occurrence of the last 4 and of the last 2 tokens."""
        for n, latest, known in zip(GRAMS, self._latest, self._known.latest, strict=True):
            run = hash(tuple(self.tokens[-n:]))
            place = max(latest.get(run, -1), known.get(run, -1 - self._at) + self._at)
            if place >= 0 and self.count_agreement(place) >= n:
                yield place

    def count_agreement(self, place: int) -> int:
        """Count the tokens before a place that agree with the end of the reply, up to `MAX_AGREEMENT`."""
        tokens = self.tokens
        longest = min(MAX_AGREEMENT, place)
        n = 0
        while n < longest and tokens[place - 1 - n] == tokens[-1 - n]:
            n += 1
        return n

    def _places_of(self, token: int) -> list[int]:
        """Return where a token stands in the sources, in order; put together when it is asked for first."""
        places = self._places.get(token)
        if places is None:
            own = self._own_places.get(token, [])
            before = bisect_left(own, self._at)
            known = (place + self._at for place in self._known.places.get(token, ()))
            places = self._places[token] = [*own[:before], *known, *own[before:]]
        return places
