"""Kept caches: mlx-lm's caches after some tokens, and the ways back to fewer.

Caches of one row per token drop their tail. Recurrent states, convolutions and rotating windows have no tail to drop:
their state is noted after each slice of a prefill as a *restore point*, to which a later history goes back. A point
costs the memory of what it notes and nothing else: mlx arrays are never changed under a handle.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_lm.models.cache import ChunkedKVCache, RotatingKVCache

from plgd.engine.mlx.kept_file import FiledState, read_state, write_state
from plgd.engine.mlx.rollback import copy_state, drops_rows, keeps_all_rows, leaves_of, restore_state, trim_rows
from plgd.engine.mlx.spare_rows import copy_rows
from plgd.text.overlap import common_prefix

__all__ = ("KeptCaches", "RestorePoint", "RestorePoints")

# The newest points stay; of the older ones ever fewer, so that a change anywhere costs a bounded part of the text.
MAX_POINTS: Final = 8
NEWEST: Final = 4


@dataclass(frozen=True, slots=True)
class RestorePoint:
    """The state after n tokens of every cache that has no tail to drop.

    Attributes:
        n: tokens that the caches had seen.
        states: by the cache's place among the leaves of the cache list.
    """

    n: int
    states: dict[int, Any]


@dataclass(slots=True)
class RestorePoints:
    """The restore points of one sequence, in order."""

    points: list[RestorePoint] = field(default_factory=list)

    def note(self, caches: list[Any], n: int) -> None:
        """Note the state after n tokens; nothing when all caches drop their tails."""
        states = {
            place: copy_state(cache) for place, (cache, _) in enumerate(leaves_of(caches)) if not keeps_all_rows(cache)
        }
        if states:
            self.points.append(RestorePoint(n, states))
        if len(self.points) > MAX_POINTS:
            del self.points[1:-NEWEST:2]

    def find(self, caches: list[Any], n: int) -> RestorePoint | None:
        """Return the point to go back to for n tokens: exactly there when the caches drop their tails now."""
        if all(map(_drops_any_tail, (cache for cache, _ in leaves_of(caches)))):
            return RestorePoint(n, {})
        return next((point for point in reversed(self.points) if point.n <= n), None)

    def go_back(self, caches: list[Any], n: int) -> int:
        """Take the caches back to n tokens or the nearest point before them.

        Returns:
            How many tokens they hold now; 0 when there is no way back, and they must not be used any more.

        Raises:
            RollbackFailed: a cache did not go back as far as it should.
        """
        point = self.find(caches, n)
        self.points = [other for other in self.points if point is not None and other.n <= point.n]
        if point is None:
            return 0
        for place, (cache, where) in enumerate(leaves_of(caches)):
            if place in point.states:
                restore_state(cache, point.states[place])
            elif offset := int(getattr(cache, "offset", 0)):
                trim_rows(cache, offset - point.n, where)
        return point.n


@dataclass(slots=True)
class KeptCaches:
    """Implements `plgd.engine.kept.Kept`.

    Attributes:
        tokens: what the caches have seen.
        caches: mlx-lm's.
        points: the ways back.
    """

    tokens: list[int]
    caches: list[Any]
    points: RestorePoints

    @property
    def n_tokens(self) -> int:
        """How many tokens the caches have seen."""
        return len(self.tokens)

    @property
    def n_bytes(self) -> int:
        """The memory of all arrays, spare room included."""
        return sum(array.nbytes for array in self._arrays())

    def reach(self, tokens: Sequence[int]) -> int:
        """Count the tokens of a history to come that would not have to be fed again."""
        n = min(common_prefix(self.tokens, list(tokens)), len(tokens) - 1)
        point = self.points.find(self.caches, n)
        return point.n if point is not None else 0

    def save(self, path: Path, model_key: str) -> None:
        """Write the caches to a file."""
        caches = [(type(cache).__name__, vars(cache)) for cache, _ in leaves_of(self.caches)]
        points = [(point.n, point.states) for point in self.points.points]
        write_state(FiledState(self.tokens, caches, points), path, model_key)

    @classmethod
    def load(cls, path: Path, model_key: str, fresh: list[Any]) -> Self:
        """Read caches from a file.

        Args:
            path: of the file.
            model_key: of the model that wants them.
            fresh: unused caches of the model; they are copied.

        Raises:
            OSError: the file could not be read.
            ValueError: it is damaged, of another model or of another version.
        """
        state = read_state(path, model_key)
        caches = copy.deepcopy(fresh)
        leaves = [cache for cache, _ in leaves_of(caches)]
        if [type(cache).__name__ for cache in leaves] != [name for name, _ in state.caches]:
            raise ValueError("its caches are of other types")
        for cache, (_, attributes) in zip(leaves, state.caches, strict=True):
            restore_state(cache, attributes)
        return cls(state.tokens, caches, RestorePoints([RestorePoint(n, states) for n, states in state.points]))

    @classmethod
    def copy(cls, tokens: list[int], caches: list[Any], points: RestorePoints, n: int, fresh: list[Any]) -> Self | None:
        """Copy caches that are in use, as they were after n tokens or at the nearest point before; None for nothing.

        Args:
            tokens: what the caches have seen and can go back to.
            caches: in use; nothing is being written to them.
            points: their ways back.
            n: tokens that are of use.
            fresh: unused caches of the same model; they are copied.

        Raises:
            RollbackFailed: a cache did not go back as far as it should.
        """
        copies = copy.deepcopy(fresh)
        for (cache, _), (used, _) in zip(leaves_of(copies), leaves_of(caches), strict=True):
            restore_state(cache, copy_state(used))
        points = RestorePoints(list(points.points))
        n = points.go_back(copies, min(n, len(tokens)))
        if not n:
            return None
        # Were the buffers shared, the next step of those in use would have to copy them.
        copy_rows(copies)
        return cls(tokens[:n], copies, points)

    def _arrays(self) -> Iterator[mx.array]:
        states: list[object] = [vars(cache) for cache, _ in leaves_of(self.caches)]
        states += [point.states for point in self.points.points]
        yield from (value for _, value in tree_flatten(states) if isinstance(value, mx.array))


def _drops_any_tail(cache: object) -> bool:
    """Whether the cache can drop all of its tokens but the first few, however many."""
    if isinstance(cache, RotatingKVCache):
        return bool(cache.offset < cache.max_size)  # not full yet, so nothing was overwritten
    if isinstance(cache, ChunkedKVCache):
        return not cache.start_position  # its front was not cut off yet
    return drops_rows(cache)
