"""What a keystroke costs in a long document: the editor's text, its lines and its tokens brought up to date."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from plgd.bench.results import Record
from plgd.documents.open import OpenDocuments, TextEdit
from plgd.documents.tokens import TokenIndex
from plgd.engine.model import BorderedTokenizer
from plgd.text.positions import Position

__all__ = ("Keystrokes", "long_text", "measure_keystrokes")

_LINES = (
    "def total_of_order_{0}(items, rate={1}):\n",
    "    result = {1}  # everything that was ordered\n",
    "    for item in items:\n",
    "        result += item.price * item.count - {0}\n",
    "    return round(result * rate, 2)\n",
    "\n",
)


class Keystrokes(Record, frozen=True):
    """Times of single keystrokes.

    Attributes:
        n_lines: of the document.
        n_tokens: of the document.
        n_keystrokes: measured.
        p50_ms: half of them took at most so long.
        p99_ms: 99 % of them took at most so long.
        longest_ms: the longest.
    """

    n_lines: int
    n_tokens: int
    n_keystrokes: int
    p50_ms: float
    p99_ms: float
    longest_ms: float


def long_text(n_lines: int) -> str:
    """Write a program of so many lines."""
    return "".join(_LINES[n % len(_LINES)].format(n // len(_LINES), n % 97) for n in range(n_lines))


def measure_keystrokes(
    tokenizer: BorderedTokenizer,
    *,
    n_lines: int,
    n_keystrokes: int,
    clock: Callable[[], float] = time.process_time,
) -> Keystrokes:
    """Type in the middle of a long document.

    Args:
        tokenizer: the model's.
        n_lines: of the document.
        n_keystrokes: characters to type, at least 2; every 30th is a line end.
        clock: seconds from any start; by default of this process alone, since nothing here waits.
    """
    documents, uri = OpenDocuments(), "untitled:long"
    opened = documents.open(None, uri, long_text(n_lines), 0)
    index = TokenIndex(tokenizer, opened.text)
    line, character, times_ms = n_lines // 2, 0, []
    for number in range(1, n_keystrokes + 1):
        typed = "\n" if number % 30 == 0 else " x"[number % 2]
        place = Position(line, character)
        started = clock()
        opened = documents.change(None, uri, number, [TextEdit(typed, place, place)])
        index.update(opened.text)
        times_ms.append(1000.0 * (clock() - started))
        line, character = (line + 1, 0) if typed == "\n" else (line, character + 1)
    percentiles = statistics.quantiles(times_ms, n=100)
    return Keystrokes(
        n_lines=n_lines,
        n_tokens=index.n_tokens,
        n_keystrokes=n_keystrokes,
        p50_ms=percentiles[49],
        p99_ms=percentiles[98],
        longest_ms=max(times_ms),
    )
