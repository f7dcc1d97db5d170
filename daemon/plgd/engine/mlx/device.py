"""What the model runs on."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

import mlx.core as mx

__all__ = ("DeviceInfo", "describe_device", "keep_graphs_small", "machine_memory", "on_cpu", "on_cuda")

LIBRARIES: Final = ("mlx", "mlx-metal", "mlx-cpu", "mlx-cuda-13", "mlx-lm", "transformers", "tokenizers")


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """The device and the libraries, for `status` and `doctor`.

    Attributes:
        kind: cpu, metal or cuda.
        name: what the device calls itself.
        memory_bytes: the memory that a model can use.
        active_bytes: the memory that arrays use now.
        blas: the matrix library on a CPU: accelerate, openblas or reference (very slow); empty on a GPU.
        versions: the installed libraries, name -> version.
    """

    kind: str
    name: str
    memory_bytes: int
    active_bytes: int
    blas: str
    versions: dict[str, str]


def on_cpu() -> bool:
    """Whether models run on the CPU."""
    return bool(mx.default_device() == mx.Device(mx.cpu))


def on_cuda() -> bool:
    """Whether models run on a CUDA device."""
    return not on_cpu() and not mx.metal.is_available()


def keep_graphs_small() -> None:
    """Let mlx launch the kernels of a CUDA device in graphs of a few, unless the user has said of how many.

    Takes effect before the first array is computed there. Graphs of 20 kernels instead of 100 are found among those
    made before more often: on an H200 a pass of one row takes as long with either, one of four rows a tenth less.
    """
    os.environ.setdefault("MLX_MAX_OPS_PER_BUFFER", "20")


def describe_device() -> DeviceInfo:
    """Describe the default device. Only the memory in use is looked up each time."""
    return replace(_describe_device(), active_bytes=int(mx.get_active_memory()))


@cache
def _describe_device() -> DeviceInfo:
    facts = mx.device_info()
    kind = "cpu" if on_cpu() else "cuda" if on_cuda() else "metal"
    memory = facts.get("max_recommended_working_set_size") or facts.get("total_memory") or facts.get("memory_size")
    return DeviceInfo(
        kind=kind,
        name=str(facts.get("device_name", kind)),
        memory_bytes=int(memory or machine_memory()),
        active_bytes=0,
        blas=_find_blas() if kind == "cpu" else "",
        versions=_read_versions(),
    )


def machine_memory() -> int:
    """Return the bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _find_blas() -> str:
    """Name the library that float32 products end up in.

    mlx's Linux wheel brings the reference BLAS along; an OpenBLAS that was loaded before it takes its place.
    """
    if sys.platform == "darwin":
        return "accelerate"
    maps = Path("/proc/self/maps")
    # numpy brings an OpenBLAS with prefixed names along (libscipy_openblas), which takes no place.
    loaded = maps.read_text(encoding="utf-8", errors="replace") if maps.exists() else ""
    return "openblas" if "/libopenblas" in loaded else "reference"


def _read_versions() -> dict[str, str]:
    found = {}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
