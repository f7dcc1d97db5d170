"""Reads a LoRA adapter from its file, in mlx-lm's naming or peft's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, Literal, TypeVar

from safetensors import SafetensorError, safe_open

from plgd.errors import DamagedModel, UnsupportedModel

__all__ = ("Adapter", "read_adapter")

ArrayT = TypeVar("ArrayT")

# Both name a pair of matrices after the layer it adds to.
PEFT: Final = re.compile(r"(?:base_model\.model\.)?(?P<layer>.+)\.lora_(?P<side>[AB])\.weight")
# mlx-lm multiplies from the other side, so its matrices are peft's transposed.
MLX: Final = re.compile(r"(?P<layer>.+)\.lora_(?P<side>[ab])")


@dataclass(frozen=True)
class Adapter(Generic[ArrayT]):
    """A LoRA adapter in memory: a layer's weight W becomes W + scale * B @ A.

    Attributes:
        rank: of every pair.
        alpha: what the scale is made of.
        base_sha256: of the file with the weights it was trained on.
        pairs: from a layer's path in the model to its A [rank, inputs] and B [outputs, rank].
    """

    rank: int
    alpha: float
    base_sha256: str
    pairs: dict[str, tuple[ArrayT, ArrayT]]

    @property
    def scale(self) -> float:
        """The factor of every product, alpha / rank."""
        return self.alpha / self.rank


def read_adapter(path: Path, *, name: str, framework: Literal["mlx", "np", "pt"] = "mlx") -> Adapter[Any]:
    """Read an adapter with `rank`, `alpha` and `base_sha256` in the file's metadata.

    Args:
        path: a safetensors file.
        name: the model it belongs to, for messages.
        framework: whose arrays are wanted.

    Raises:
        DamagedModel: missing, cut short, not a safetensors file, or a matrix without its partner.
        UnsupportedModel: it does not say its rank, alpha and base, or holds something else.
    """
    sides: dict[str, dict[str, Any]] = {}
    try:
        with safe_open(path, framework=framework) as file:
            metadata: dict[str, str] = file.metadata() or {}
            for key in file.keys():  # noqa: SIM118  # the handle is no mapping
                match = PEFT.fullmatch(key) or MLX.fullmatch(key)
                if match is None:
                    raise UnsupportedModel.of(name, f"its adapter {path.name} holds {key}, which is no LoRA matrix")
                side, matrix = match["side"], file.get_tensor(key)
                transposed = side.islower() and matrix.ndim == 2
                sides.setdefault(match["layer"], {})[side.upper()] = matrix.T if transposed else matrix
    except (OSError, SafetensorError) as error:
        raise DamagedModel.adapter(name, path.name, str(error)) from error
    for layer, pair in sides.items():
        if len(pair) != 2:
            raise DamagedModel.adapter(name, path.name, f"one of the two matrices of {layer} is missing")
    try:
        rank, alpha, base_sha256 = int(metadata["rank"]), float(metadata["alpha"]), metadata["base_sha256"]
    except (KeyError, ValueError) as error:
        raise UnsupportedModel.of(
            name, f"its adapter {path.name} does not say its rank, alpha and base_sha256"
        ) from error
    if rank < 1:
        raise UnsupportedModel.of(name, f"its adapter {path.name} says that its rank is {rank}")
    return Adapter(rank, alpha, base_sha256, {layer: (pair["A"], pair["B"]) for layer, pair in sides.items()})
