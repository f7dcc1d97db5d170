"""Makes a sequence's caches: mlx-lm's own, with quantized or rounded ones in the place of plain ones where asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.models.cache import CacheList, KVCache, QuantizedKVCache, make_prompt_cache

from plgd.engine.mlx.shapes import FixedShapes, RoundedKVCache
from plgd.errors import UnsupportedModel

__all__ = ("CacheMaker",)

# Quantized in groups of as many values as divide a head, the coarsest first; mlx has no others.
GROUP_SIZES: Final = (64, 32)
# Their attention turns sparse at a length that the probe does not reach, and then needs the true rows.
SPARSE_LATER: Final = frozenset({"minimax_m3_vl"})
# Tokens of the probe: prefilled, then a block behind them.
PROBE: Final = (tuple(range(40)), tuple(range(40, 64)))


class CacheMaker:
    """Makes fresh caches for one model.

    Caches of a sliding window or of a recurrent state stay mlx-lm's own: they are small, and mlx-lm quantizes none.

    Args:
        network: mlx-lm's model.
        name: the model's name, for messages.
        kv_bits: bits of a quantized key or value, 8 or 4; 0 keeps them as they are.
        shapes: fixed shapes to keep attention to; they are dropped where the model's attention cannot do with them,
            and for quantized keys and values.

    Raises:
        UnsupportedModel: the model's attention cannot use quantized keys and values, or mlx-lm makes no caches for it.
    """

    def __init__(self, network: nn.Module, name: str, *, kv_bits: int = 0, shapes: FixedShapes | None = None) -> None:
        if not make_prompt_cache(network):
            raise UnsupportedModel.of(name, "mlx-lm makes no caches for it, so nothing would be remembered")
        self._network = network
        self._replace: Callable[[KVCache, int], KVCache] | None = None
        self.shapes: FixedShapes | None = None
        if kv_bits:
            try:
                self._use_quantized(kv_bits)
            except (ValueError, RuntimeError, TypeError, AttributeError) as error:
                raise UnsupportedModel.of(name, "its attention cannot use quantized keys and values") from error
        elif shapes is not None:
            self._use_rounded(shapes)

    def __call__(self) -> list[Any]:
        """Make the caches of an empty sequence, one per layer."""
        caches: list[Any] = make_prompt_cache(self._network)
        if self._replace is None:
            return caches
        place = 0

        def visit(cache: Any) -> Any:  # noqa: ANN401  # mlx-lm's caches share no type
            nonlocal place
            if isinstance(cache, CacheList):
                return CacheList(*map(visit, cache.caches))
            if type(cache) is not KVCache or self._replace is None:
                return cache
            place += 1
            return self._replace(cache, place - 1)

        return [visit(cache) for cache in caches]

    def _use_quantized(self, bits: int) -> None:
        if self._turns_sparse():
            raise ValueError("sparse attention needs plain keys")
        groups = self._find_groups()
        self._replace = lambda cache, place: _quantize(cache, groups[place], bits)
        self._probe()

    def _use_rounded(self, shapes: FixedShapes) -> None:
        if self._turns_sparse():
            return
        expected = self._probe()
        self._replace = lambda _cache, _place: RoundedKVCache(shapes.kv_step)
        if self._agrees(expected):
            self.shapes = shapes
        else:
            self._replace = None

    def _turns_sparse(self) -> bool:
        return getattr(self._network, "model_type", None) in SPARSE_LATER

    def _find_groups(self) -> list[int]:
        """Return the group size for each plain cache; 0 for one that the model does not fill or cannot be quantized."""
        filled: list[KVCache] = []

        def note(cache: KVCache, _place: int) -> KVCache:
            filled.append(cache)
            return cache

        self._replace = note
        self._probe()
        return [_group_size(cache) for cache in filled]

    def _probe(self) -> mx.array:
        """Run a few tokens through fresh caches and return the last logits."""
        caches = self()
        logits: mx.array = [self._network(mx.array([tokens]), cache=caches) for tokens in PROBE][-1]
        mx.eval(logits)
        return logits

    def _agrees(self, expected: mx.array) -> bool:
        """Whether the replaced caches give the same logits, up to rounding."""
        try:
            logits = self._probe()
        except (ValueError, RuntimeError, TypeError, AttributeError):
            return False
        scale = mx.max(mx.abs(expected))
        return bool((mx.max(mx.abs(logits - expected)) <= 0.05 * scale).item())


def _group_size(cache: KVCache) -> int:
    if cache.keys is None:
        return 0
    dims = (cache.keys.shape[-1], cache.values.shape[-1])
    return next((size for size in GROUP_SIZES if all(dim and dim % size == 0 for dim in dims)), 0)


def _quantize(cache: KVCache, group_size: int, bits: int) -> KVCache:
    return QuantizedKVCache(group_size=group_size, bits=bits) if group_size else cache
