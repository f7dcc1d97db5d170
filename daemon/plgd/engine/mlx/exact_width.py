"""How wide a pass may be and still compute each row as a pass of one token does, bit for bit.

Kernels differ in the order in which they add up, so wide and narrow passes round differently. But where a device uses
one kernel for one token and for several, or kernels that go about each row alike, the bits are the same, and a drafted
reply is plain decoding's in any precision. Which widths these are is a fact about device, model and libraries; here it
is found out, by decoding the same text both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import mlx.core as mx
from mlx.utils import tree_flatten

from plgd.engine.mlx.passes import Forward
from plgd.engine.mlx.target import MlxTarget

__all__ = ("find_exact_width",)

# Beyond this, rows have nowhere been seen to equal those of a pass of one token, except on kernels without any speed.
WIDEST: Final = 16
# One block of each width, one behind the other.
N_DECODED: Final = sum(range(2, WIDEST + 1))
# Tokens before the blocks, such that these cross the lengths at which attention kernels are known to change.
CONTEXTS: Final = (192, 960, 1984)
SLICE: Final = 512

# Makes an empty sequence from what runs the model and its caches.
Start = Callable[[Forward, list[Any]], MlxTarget]


def find_exact_width(
    start: Start, forward: Forward, make_caches: Callable[[], list[Any]], context_limit: int, *, kv_bits: int = 0
) -> int | None:
    """Find the widest pass of which no row, logit or cached value differs from those of one-token passes.

    A text is decoded plainly, behind prompts of several lengths, and again in blocks of 2, 3, 4 ... tokens. The first
    width that shows a difference in any bit ends the search; all narrower ones have shown none.

    Args:
        start: makes an empty sequence.
        forward: runs the model.
        make_caches: makes its caches.
        context_limit: the longest history of the model, in tokens.
        kv_bits: bits of a quantized key or value; 0 where they are as the model makes them.

    Returns:
        1 to 16. Where a draft could only be taken back by snapshot nothing is compared: what is fed again would be fed
        in passes of other widths, so there is to be no draft. None in float32, where passes of any width agree within
        a thousandth of a logit, and near ties are few enough to be decided again; not with quantized keys and values,
        which make a whole step out of a last bit.

    Raises:
        EngineError: the model failed.
    """
    room = context_limit - N_DECODED
    contexts = [n for n in CONTEXTS if n <= room] or [room]
    if room < 1:
        return 1
    width = WIDEST
    for n_context in contexts:
        narrow, wide = _Tapped(forward), _Tapped(forward)
        caches, wide_caches = make_caches(), make_caches()
        target = start(narrow, caches)
        _fill(target, n_context)
        reply = _decode(target, narrow)
        if narrow.rows[0].dtype == mx.float32 and not kv_bits:
            return None
        target = start(wide, wide_caches)
        _fill(target, n_context)
        found = _compare(target, wide, reply, narrow.rows)
        was_whole = target.offset == n_context + N_DECODED - 1
        if found == WIDEST and was_whole and not _same_bits(caches, wide_caches):
            return 1  # what was cached differs, and it is not known since when
        width = min(width, found)
    return width


class _Tapped:
    """Runs the model and keeps the logits of passes behind the prompt, one row [V] per token."""

    def __init__(self, forward: Forward) -> None:
        self.rows: list[mx.array] = []
        self.logits: mx.array | None = None
        self._forward = forward

    def __call__(self, tokens: mx.array, caches: list[Any]) -> mx.array:
        self.logits = self._forward(tokens, caches)
        return self.logits

    def keep(self, n: int) -> None:
        """Keep the first n rows of the last pass; what filled it up stands behind them."""
        if self.logits is not None:
            self.rows += [self.logits[0, row] for row in range(n)]


def _fill(target: MlxTarget, n_tokens: int) -> None:
    tokens = [(7 * i * i + 3 * i + 1) % 97 for i in range(n_tokens)]
    for start in range(0, n_tokens, SLICE):
        target.prefill(tokens[start : start + SLICE])


def _decode(target: MlxTarget, tapped: _Tapped) -> list[int]:
    """Decode plainly."""
    reply: list[int] = []
    for _ in range(N_DECODED):
        reply += target.verify(())
        tapped.keep(1)
    return reply


def _compare(target: MlxTarget, tapped: _Tapped, reply: Sequence[int], rows: Sequence[mx.array]) -> int:
    """Decode the same in blocks of growing width; return the last width before the first difference."""
    place = 0
    for width in range(2, WIDEST + 1):
        if target.rollback_method(width).by_snapshot:
            break
        draft = reply[place : place + width - 1]
        choices = target.verify(draft)
        tapped.keep(width)
        expected = list(rows[place : place + width])
        same = mx.array_equal(mx.stack(tapped.rows[place:]), mx.stack(expected))
        if list(choices) != list(reply[place : place + width]) or not same.item():
            return width - 1
        place += width
    return WIDEST


def _same_bits(caches: list[Any], others: list[Any]) -> bool:
    held = [[value for _, value in tree_flatten([cache.state for cache in each])] for each in (caches, others)]
    return len(held[0]) == len(held[1]) and all(
        mx.array_equal(one, other).item() if isinstance(one, mx.array) else one == other
        for one, other in zip(*held, strict=True)
    )
