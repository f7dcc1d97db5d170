"""Joint passes of one network: flat rows, once a probe has shown that the network computes them as it does alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten

from plgd.engine.mlx.mixers import Mixers, NotFlat
from plgd.engine.mlx.passes import Forward
from plgd.engine.mlx.rollback import copy_state, leaves_of
from plgd.engine.mlx.rows import Layout, join_caches
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.mlx.teaching import teach
from plgd.engine.together import Pass

__all__ = ("JointNetwork",)

# Tokens that each row of the probe has read before, and tokens of its passes; among the rows is one of a single token,
# and the second pass has other widths behind rows that the first one fed.
PROBE_CONTEXTS: Final = (5, 24, 40)
PROBE_WIDTHS: Final = ((3, 1, 4), (1, 2, 1))
PROBE_FILLING: Final = 3

# How far logits and cached values may lie apart, as a share of the largest: what rounding does, and no more.
TOLERANCE: Final = {mx.float32: 1e-3}
LOW_TOLERANCE: Final = 0.05


class JointNetwork:
    """Implements `plgd.engine.together.JointPasses`.

    Args:
        network: mlx-lm's model. It is taught to run rows once `refusal` is asked for.
        forward: runs it.
        make_caches: makes the caches of a sequence.
        shapes: the widths that passes are filled up to; any width when left out.
    """

    def __init__(
        self,
        network: nn.Module,
        forward: Forward,
        make_caches: Callable[[], list[Any]],
        shapes: FixedShapes | None = None,
    ) -> None:
        self._network = network
        self._forward = forward
        self._make_caches = make_caches
        self._shapes = shapes

    @cached_property
    def refusal(self) -> str:
        """Why the network runs no joint passes; empty when it does. Found out on first use, in a few dozen passes."""
        return self._probed[0]

    @property
    def by_rows(self) -> Sequence[str]:
        """The modules of the network that run row by row in a joint pass, by the names of their classes."""
        return self._probed[1]

    @cached_property
    def _probed(self) -> tuple[str, Sequence[str]]:
        try:
            teach(self._network)
            mixers = Mixers(self._network)
            refusal = self._find_refusal(mixers)
        except Exception as error:  # noqa: BLE001  # a network may do anything with rows that it knows nothing of
            return _say(error), ()
        return refusal, sorted(mixers.by_rows)

    def _find_refusal(self, mixers: Mixers) -> str:
        """Probe until nothing is left that would have to run row by row."""
        while True:
            try:
                refusal = self._probe()
            except NotFlat as error:
                if error.kind in mixers.by_rows:
                    raise
                mixers.by_rows.add(error.kind)
                mixers.by_rows.discard(error.inner)
                continue
            if not refusal or mixers.by_rows >= mixers.innermost:
                return refusal
            mixers.by_rows |= mixers.innermost

    def run(self, passes: Sequence[Pass]) -> Sequence[mx.array]:
        """Run passes as one; returns each one's logits [1, T, V]."""
        widths = tuple(each.width for each in passes)
        total = sum(widths)
        layout = Layout(widths, self._shapes.fill(total) - total if self._shapes is not None else 0)
        return self._run([each.tokens for each in passes], [each.caches for each in passes], layout)

    def submit(self, arrays: Sequence[mx.array]) -> None:
        """Start computing arrays."""
        _until_it_fails(mx.async_eval, arrays)

    def wait(self, arrays: Sequence[mx.array]) -> None:
        """Wait until arrays are computed or have failed."""
        _until_it_fails(mx.eval, arrays)

    def _run(self, tokens: Sequence[mx.array], caches: Sequence[list[Any]], layout: Layout) -> list[mx.array]:
        flat = layout.join(tokens, axis=0)
        return layout.split(self._forward(flat[None], join_caches(caches, layout)), axis=1)

    def _probe(self) -> str:
        """Compare joint passes with the same passes alone."""
        alone, joint = ([self._make_caches() for _ in PROBE_CONTEXTS] for _ in range(2))
        for row, n in enumerate(PROBE_CONTEXTS):
            for rows in (alone, joint):
                mx.eval(self._forward(_tokens(n, row)[None], rows[row]))
        for widths in PROBE_WIDTHS:
            tokens = [_tokens(width, 11 + row) for row, width in enumerate(widths)]
            expected = [self._forward(fed[None], caches) for fed, caches in zip(tokens, alone, strict=True)]
            found = self._run(tokens, joint, Layout(widths, PROBE_FILLING))
            if not all(map(_agree, expected, found)):
                return "a joint pass gives other logits than the same passes alone"
            if not all(map(_agree_caches, alone, joint)):
                return "a joint pass leaves other states behind than the same passes alone"
        return ""


def _say(error: Exception) -> str:
    """Put what a network raised into a line."""
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def _until_it_fails(compute: Callable[..., None], arrays: Sequence[mx.array]) -> None:
    try:
        compute(*arrays)
    except (RuntimeError, ValueError, MemoryError):
        # Whose array it was is found out by reading them one by one: the failed one raises again.
        return


def _tokens(n: int, seed: int) -> mx.array:
    return mx.array([(7 * i * i + 3 * i + seed) % 97 for i in range(n)], mx.int32)


def _agree(expected: mx.array, found: mx.array) -> bool:
    if expected.shape != found.shape:
        return False
    if expected.size == 0:
        return True
    scale = mx.max(mx.abs(expected))
    tolerance = TOLERANCE.get(expected.dtype, LOW_TOLERANCE)
    return bool((mx.max(mx.abs(expected - found)) <= tolerance * scale).item())


def _agree_caches(expected: list[Any], found: list[Any]) -> bool:
    for (one, _), (other, _) in zip(leaves_of(expected), leaves_of(found), strict=True):
        held, also = (dict(tree_flatten(copy_state(cache))) for cache in (one, other))
        if held.keys() != also.keys():
            return False
        for name, value in held.items():
            same = _agree(value, also[name]) if isinstance(value, mx.array) else value == also[name]
            if not same:
                return False
    return True
