"""How much each token of a reply counts: nearly all are copies that the model soon gets right, some are decisions.

Decisions are the tokens that differ from the source, the one at which the copy goes on behind them, and the copies of
a token with which a change begins elsewhere: the same name where it stays, or a longer one that begins alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ("DECISION", "Weights", "weigh")

Weights = npt.NDArray[np.float32]
# An expectation, not measured against others: copies are left with most of the sum on long files, and with little of
# it on short ones.
DECISION: Final = 4.0
# Changes of more tokens than this, multiplied, are not compared token by token.
MAX_PRODUCT: Final = 40_000

Change = tuple[int, int, int, int]


def weigh(source: Sequence[int], reply: Sequence[int], ends_line: Callable[[int], bool]) -> Weights:
    """Return a weight for each token of a reply, at least 1.

    Args:
        source: the tokens of the text that the reply rewrites.
        reply: the tokens of the new text, and those that close it.
        ends_line: tells whether a token holds the end of a line.
    """
    weights = np.ones(len(reply), np.float32)
    begins: set[int] = set()
    for first, last, new_first, new_last in _changes(source, reply, ends_line):
        weights[new_first : new_last + 1] = DECISION  # the token behind a change is where the copy goes on
        begins.update(source[first : min(last, first + 1)])
    if begins:
        weights[np.isin(np.asarray(reply), list(begins))] = DECISION
    return weights


def _changes(source: Sequence[int], reply: Sequence[int], ends_line: Callable[[int], bool]) -> Iterator[Change]:
    """Yield what differs as tokens `first` to `last` of the source and those of the reply instead, not included."""
    old, new = _lines(source, ends_line), _lines(reply, ends_line)
    at, new_at = _starts(old), _starts(new)
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            first, last, new_first, new_last = at[i], at[i_end], new_at[j], new_at[j_end]
            if (last - first) * (new_last - new_first) > MAX_PRODUCT:
                yield first, last, new_first, new_last
                continue
            matcher = SequenceMatcher(None, source[first:last], reply[new_first:new_last], autojunk=False)
            for part, a, a_end, b, b_end in matcher.get_opcodes():
                if part != "equal":
                    yield first + a, first + a_end, new_first + b, new_first + b_end


def _lines(tokens: Sequence[int], ends_line: Callable[[int], bool]) -> list[tuple[int, ...]]:
    ends = [index + 1 for index, token in enumerate(tokens) if ends_line(token)]
    if not ends or ends[-1] < len(tokens):
        ends.append(len(tokens))
    return [tuple(tokens[start:end]) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _starts(lines: Sequence[tuple[int, ...]]) -> list[int]:
    """Return where each line begins, and where the last one ends."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    return starts
