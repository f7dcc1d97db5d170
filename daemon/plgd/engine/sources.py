"""Sources: what a rewrite can be read from, and where in it the reply's last tokens stand."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

__all__ = ("BREAK", "MAX_SOURCE_TOKENS", "Sources")

# Stands between two sources; no token equals it.
BREAK: Final = -1

# What is longer is cut: the index takes about 400 bytes a token.
MAX_SOURCE_TOKENS: Final = 1 << 18
BYTES_PER_TOKEN: Final = 400

# Agreement is measured this far back; longer agreement says nothing more about a place.
MAX_AGREEMENT: Final = 8
# Eight tokens are nearly unique in code: the first place that has them is a place the reply may have moved to. Of
# shorter runs the latest place counts, for it may be one that the reply itself has just changed.
FAR_GRAM: Final = 8
GRAMS: Final = (4, 2)
# Single tokens are trusted near the cursor only: from so many tokens behind it to so many before it.
NEAR_BACK: Final = 50
NEAR_AHEAD: Final = 200
MAX_NEAR: Final = 6


class Sources:
    """The sources, one behind the other, and behind them the reply as it grows.

    A token costs a few dictionary entries when it arrives and a look-up a few probes, however long the sources are.

    Args:
        sources: texts the reply may resemble, the text to rewrite first; those past `MAX_SOURCE_TOKENS` are cut.

    Attributes:
        tokens: all tokens; `BREAK` behind each source.
        starts: where each source begins.
        n_source: tokens of all sources; the reply begins there.
    """

    def __init__(self, sources: Sequence[Sequence[int]]) -> None:
        self.tokens: list[int] = []
        self._places: defaultdict[int, list[int]] = defaultdict(list)
        self._first: dict[int, int] = {}
        self._latest: tuple[dict[int, int], ...] = tuple({} for _ in GRAMS)
        starts: list[int] = []
        for source in sources:
            starts.append(len(self.tokens))
            for token in source[: MAX_SOURCE_TOKENS - len(self.tokens)]:
                self._places[token].append(len(self.tokens))
                self.append(token)
            self.append(BREAK)
        self.starts: Final = tuple(starts)
        self.n_source: Final = len(self.tokens)

    @property
    def n_bytes(self) -> int:
        """About how much memory it takes."""
        return BYTES_PER_TOKEN * len(self.tokens)

    def append_copied(self, tokens: Sequence[int]) -> None:
        """Take in tokens of the reply that follow as they do in the place that is copied, which is indexed already."""
        self.tokens += tokens

    def append(self, token: int) -> None:
        """Take in the next token; until the constructor is done, of a source, then of the reply."""
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
        places = self._places.get(token, ())
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
        place = self._first.get(hash(tuple(self.tokens[-FAR_GRAM:])))
        return place if place is not None and self.count_agreement(place) >= FAR_GRAM else None

    def find_latest(self) -> Iterator[int]:
        """Yield the places behind the latest occurrence of the last 4 and of the last 2 tokens."""
        for n, latest in zip(GRAMS, self._latest, strict=True):
            place = latest.get(hash(tuple(self.tokens[-n:])))
            if place is not None and self.count_agreement(place) >= n:
                yield place

    def count_agreement(self, place: int) -> int:
        """Count the tokens before a place that agree with the end of the reply, up to `MAX_AGREEMENT`."""
        tokens = self.tokens
        longest = min(MAX_AGREEMENT, place)
        n = 0
        while n < longest and tokens[place - 1 - n] == tokens[-1 - n]:
            n += 1
        return n
