"""The trained matrices: low-rank pairs for the projections of every layer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Final

import torch

from plgd.engine.mlx.adapter_file import Adapter, read_adapter
from training.base import PROJECTIONS, Base, Shape

__all__ = ("Lora", "Pair")

# A [rank, inputs] and B [outputs, rank].
Pair = tuple[torch.Tensor, torch.Tensor]


class Lora:
    """All pairs as one flat tensor in float32, so that clipping, stepping and averaging are one operation each.

    A layer's weight W becomes W + alpha / rank * B @ A. At the start B is zero and A is drawn as peft draws it.

    Args:
        shape: the base model's sizes.
        rank: of every pair.
        alpha: the scale's numerator.
        device: where the pairs live.
        seed: of the start.

    Attributes:
        flat: all numbers, [n]; what the optimizer steps.
        scale: alpha / rank.
    """

    def __init__(self, shape: Shape, *, rank: int, alpha: float, device: str, seed: int) -> None:
        self.rank: Final = rank
        self.alpha: Final = alpha
        self._n_layers = shape.n_layers
        generator = torch.Generator().manual_seed(seed)
        parts: list[torch.Tensor] = []
        for _ in range(shape.n_layers):
            for name in PROJECTIONS:
                n_outputs, n_inputs = shape.projection(name)
                a = (torch.rand(rank, n_inputs, generator=generator) * 2 - 1) / math.sqrt(n_inputs)
                parts += [a, torch.zeros(n_outputs, rank)]
        # Of one layer; all have the same.
        self._shapes = [tuple(part.shape) for part in parts[: 2 * len(PROJECTIONS)]]
        self.flat = torch.cat([part.flatten() for part in parts]).to(device).requires_grad_()

    @property
    def scale(self) -> float:
        """The factor of every product."""
        return self.alpha / self.rank

    def merged(self, frozen: dict[str, torch.Tensor], dtype: torch.dtype) -> dict[str, torch.Tensor]:
        """Return the sums of frozen weights and pairs' products; gradients reach `flat`.

        Args:
            frozen: each projection's weights, [layers, outputs, inputs].
            dtype: of the frozen weights and of the sums.
        """
        stacked = self._stacked(self.flat.to(dtype))
        return {name: torch.baddbmm(frozen[name], b, a, alpha=self.scale) for name, (a, b) in stacked.items()}

    def pairs(self) -> dict[str, Pair]:
        """Return all pairs by the path of the layer in the model, in float32 and apart from training."""
        stacked = self._stacked(self.flat.detach())
        return {
            f"model.layers.{index}.{name}": (stacked[name][0][index], stacked[name][1][index])
            for index in range(self._n_layers)
            for name in PROJECTIONS
        }

    def _stacked(self, flat: torch.Tensor) -> dict[str, Pair]:
        """Return each projection's pairs of all layers: A [layers, rank, inputs] and B [layers, outputs, rank]."""
        by_layer = flat.view(self._n_layers, -1)
        pieces = by_layer.split([math.prod(shape) for shape in self._shapes], 1)
        matrices = iter([piece.unflatten(1, shape) for piece, shape in zip(pieces, self._shapes, strict=True)])
        return {name: (next(matrices), next(matrices)) for name in PROJECTIONS}

    def adapter(self, base: Base) -> Adapter[Any]:
        """Return what an adapter's file holds, in float32."""
        pairs = {layer: (a.cpu().numpy(), b.cpu().numpy()) for layer, (a, b) in self.pairs().items()}
        return Adapter(self.rank, self.alpha, base.sha256, pairs)

    def load(self, path: Path, base: Base) -> None:
        """Go on from an adapter's numbers.

        Raises:
            DamagedModel, UnsupportedModel: see `read_adapter`.
            ValueError: an adapter of another base, rank, alpha or model.
        """
        adapter = read_adapter(path, name=str(path), framework="pt")
        own = self.pairs()
        if (adapter.base_sha256, adapter.scale, adapter.pairs.keys()) != (base.sha256, self.scale, own.keys()):
            raise ValueError(f"{path} is no adapter of this base, with this scale, for these layers")
        for layer, pair in own.items():
            if [matrix.shape for matrix in pair] != [matrix.shape for matrix in adapter.pairs[layer]]:
                raise ValueError(f"{path} has another rank than {self.rank}")
        matrices = [matrix.float().flatten() for layer in own for matrix in adapter.pairs[layer]]
        with torch.no_grad():
            self.flat.copy_(torch.cat(matrices))
