"""The source index: where the runs of tokens of a text stand, found before anybody drafts from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

__all__ = ("FAR_GRAM", "GRAMS", "SourceIndex", "runs_before")

# Eight tokens are nearly unique in code: the first place that has them is a place the reply may have moved to. Of
# shorter runs the latest place counts, for it may be one that the reply itself has just changed.
FAR_GRAM: Final = 8
GRAMS: Final = (4, 2)


class SourceIndex:
    """The index of one text; it never changes, so that many replies are drafted from it.

    Args:
        tokens: of the text.

    Attributes:
        tokens: of the text.
        places: where each token stands.
        first: the first place behind each run of `FAR_GRAM` tokens, by the run's hash; whoever looks up compares.
        latest: the latest place behind each run, for every length of `GRAMS`.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self.tokens: Final = list(tokens)
        self.places: Final[dict[int, list[int]]] = {}
        for place, token in enumerate(self.tokens):
            self.places.setdefault(token, []).append(place)
        end = len(self.tokens)
        self.first: Final = dict(reversed(list(runs_before(self.tokens, FAR_GRAM, 0, end))))
        self.latest: Final = tuple(dict(runs_before(self.tokens, n, 0, end)) for n in GRAMS)

    def __len__(self) -> int:
        return len(self.tokens)


def runs_before(tokens: Sequence[int], n: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the hash of the n tokens before each place from `start` up to `end`, and the place; all of it in C."""
    start = max(start, n)
    stretch = tokens[start - n : max(start, end) - 1]
    return zip(map(hash, zip(*(stretch[place:] for place in range(n)), strict=False)), range(start, end), strict=False)
