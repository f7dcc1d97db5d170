"""Joint passes of one network: flat rows, once a probe has shown that the network computes them as it does alone."""

from __future__ import annotations

import math
from collections import Counter
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
from plgd.engine.mlx.shapes import FixedShapes, RoundedKVCache
from plgd.engine.mlx.teaching import teach
from plgd.engine.together import Pass

__all__ = ("JointNetwork",)

# Tokens that each row of the probe has read before, and tokens of its passes; among the rows is one of a single token,
# and the second pass has other widths behind rows that the first one fed.
PROBE_CONTEXTS: Final = (5, 24, 40)
PROBE_WIDTHS: Final = ((3, 1, 4), (1, 2, 1))
PROBE_FILLING: Final = 3
LOGITS: Final = "logits"

# Where shapes are fixed, the first pass makes plans, and the second still graphs, as its arrays lie elsewhere.
N_NEW: Final = 2

# How far logits and cached values may lie apart, as a share of the largest: what rounding does, and no more.
TOLERANCE: Final = {mx.float32: 1e-3}
LOW_TOLERANCE: Final = 0.05
# A device may round more coarsely: products of float32 on CUDA have ten bits, but not those of a single token. So many
# times as far as logits of the same tokens alone, fed in one pass and one by one, may everything lie apart; but not
# farther than the last.
N_ROUNDINGS: Final = 10
MOST: Final = 0.1

# Everything that the probe's passes left behind, by name: logits [1, T, V] and the parts of cached states.
Reading = dict[str, object]
# Feeds each row's tokens to its caches; returns each row's logits.
Feed = Callable[[Sequence[mx.array], Sequence[list[Any]]], Sequence[mx.array]]


class JointNetwork:
    """Implements `plgd.engine.together.JointPasses`.

    Args:
        network: mlx-lm's model. It is taught to run rows once `refusal` is asked for.
        forward: runs it.
        make_caches: makes the caches of a sequence.
        shapes: the widths that passes are filled up to; any width when left out.

    Attributes:
        was_new: whether the last pass was one of the first with its shapes, where shapes are fixed because these take
            longer.
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
        self._n_run: Counter[frozenset[tuple[int, ...]]] = Counter()
        self.was_new = False

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
        """Run passes as one; returns each one's logits [1, T, V].

        The narrowest lie first: on CUDA a new sequence of kernels costs a graph, and so there are fewer of them.
        """
        order = sorted(range(len(passes)), key=lambda row: passes[row].width)
        rows = [passes[row] for row in order]
        widths = tuple(each.width for each in rows)
        total = sum(widths)
        layout = Layout(widths, self._shapes.fill(total) - total if self._shapes is not None else 0)
        logits = self._run([each.tokens for each in rows], [each.caches for each in rows], layout)
        shape = frozenset(array.shape for array in layout.made.values())
        self._n_run[shape] += 1
        self.was_new = self._shapes is not None and self._n_run[shape] <= N_NEW
        return [each for _, each in sorted(zip(order, logits, strict=True), key=lambda placed: placed[0])]

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
        """Compare joint passes with the same passes alone; where they differ, with what rounding alone changes."""
        alone = self._read(self._run_alone)
        joint = self._read(self._run_filled)
        gaps = {name: _gap(value, joint.get(name)) for name, value in alone.items()}
        differing = [name for name, gap in gaps.items() if not gap <= _tolerance(alone[name])]
        if differing:
            stepwise = self._read(self._run_stepwise)
            rounding = max(_gap(alone[name], stepwise[name]) for name in alone if name.startswith(LOGITS))
            bound = min(MOST, N_ROUNDINGS * rounding)
            differing = [name for name in differing if not gaps[name] <= bound]
        if not differing and joint.keys() == alone.keys():
            return ""
        does = "gives other logits" if differing and differing[0].startswith(LOGITS) else "leaves other states behind"
        return f"a joint pass {does} than the same passes alone"

    def _read(self, feed: Feed) -> Reading:
        """Feed the probe's passes in some way, to caches of their own."""
        caches = [self._make_caches() for _ in PROBE_CONTEXTS]
        for row, n in enumerate(PROBE_CONTEXTS):
            mx.eval(self._forward(_tokens(n, row)[None], caches[row]))
        reading: Reading = {}
        for number, widths in enumerate(PROBE_WIDTHS):
            tokens = [_tokens(width, 11 + row) for row, width in enumerate(widths)]
            for row, logits in enumerate(feed(tokens, caches)):
                reading[f"{LOGITS} {number} {row}"] = logits
            for row, held in enumerate(caches):
                for place, (leaf, _) in enumerate(leaves_of(held)):
                    parts = tree_flatten(_state_of(leaf))
                    reading |= {f"state {number} {row} {place} {name}": value for name, value in parts}
        return reading

    def _run_filled(self, tokens: Sequence[mx.array], caches: Sequence[list[Any]]) -> Sequence[mx.array]:
        return self._run(tokens, caches, Layout(tuple(map(len, tokens)), PROBE_FILLING))

    def _run_alone(self, tokens: Sequence[mx.array], caches: Sequence[list[Any]]) -> Sequence[mx.array]:
        return [self._forward(fed[None], held) for fed, held in zip(tokens, caches, strict=True)]

    def _run_stepwise(self, tokens: Sequence[mx.array], caches: Sequence[list[Any]]) -> Sequence[mx.array]:
        """Feed each row alone, token by token."""
        return [
            mx.concatenate([self._forward(token[None], held) for token in mx.split(fed, len(fed))], axis=1)
            for fed, held in zip(tokens, caches, strict=True)
        ]


def _state_of(cache: Any) -> dict[str, Any]:  # noqa: ANN401  # mlx-lm's caches share no type
    state = copy_state(cache)
    if isinstance(cache, RoundedKVCache) and cache.keys is not None:
        # Behind its tokens may be what filled up a pass.
        state |= {name: state[name][:, :, : cache.offset] for name in ("keys", "values")}
    return state


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


def _gap(expected: object, found: object) -> float:
    """Return how far apart numbers are, as a share of the largest; infinite where they cannot be compared."""
    if not isinstance(expected, mx.array):
        return 0.0 if expected == found else math.inf
    if not isinstance(found, mx.array) or expected.shape != found.shape:
        return math.inf
    if expected.size == 0:
        return 0.0
    one, other = expected.astype(mx.float32), found.astype(mx.float32)
    scale, gap = _largest(one), _largest(one - other)
    return gap / scale if scale else math.inf if gap else 0.0


def _largest(numbers: mx.array) -> float:
    largest: float = mx.max(mx.abs(numbers)).item()  # type: ignore[assignment]  # of float32
    return largest


def _tolerance(value: object) -> float:
    return TOLERANCE.get(value.dtype, LOW_TOLERANCE) if isinstance(value, mx.array) else 0.0
