"""Writes adapters in mlx-lm's naming, which plgd reads, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

from plgd.engine.mlx.adapter_file import Adapter

__all__ = ("ADAPTER_FILE", "write_adapter")

# mlx-lm looks for this name in a folder.
ADAPTER_FILE: Final = "adapters.safetensors"


def write_adapter(path: Path, adapter: Adapter[Any], dtype: npt.DTypeLike) -> None:
    """Write an adapter; a file that is there is replaced when the new one is whole.

    Args:
        path: the safetensors file.
        adapter: its matrices are numpy's.
        dtype: what the numbers are stored in.
    """
    tensors = {
        f"{layer}.lora_{side}": np.ascontiguousarray(matrix.T, dtype)
        for layer, pair in adapter.pairs.items()
        for side, matrix in zip("ab", pair, strict=True)
    }
    metadata = {"rank": str(adapter.rank), "alpha": f"{adapter.alpha:g}", "base_sha256": adapter.base_sha256}
    part = path.with_name(path.name + ".part")
    save_file(tensors, part, metadata)
    part.replace(path)
