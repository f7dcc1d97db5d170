"""What the worker needs of the machine that runs models; its one real implementation is `mlx_backend`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from plgd.engine.model import Model

__all__ = ("Backend", "Device", "MakeBackend")


@dataclass(frozen=True, slots=True)
class Device:
    """Where the arrays are.

    Attributes:
        kind: `cpu`, `metal` or `cuda`.
        name: what the device calls itself.
        memory_bytes: what the device has.
        active_bytes: what plgd's arrays take of it.
        blas: `accelerate`, `openblas` or `reference` on a CPU, empty on a GPU.
    """

    kind: str
    name: str
    memory_bytes: int
    active_bytes: int
    blas: str


class Backend(Protocol):
    """Loads models. Every method is called on the worker's thread."""

    def load(self, name: str, on_progress: Callable[[float], None]) -> Model:
        """Load a model and warm it up.

        Args:
            name: as `plgd.models` resolves it.
            on_progress: called with 0 to 100; what it raises ends the load.

        Raises:
            ModelError: the model cannot be found or loaded.
        """
        ...

    def release(self) -> None:
        """Give the memory of models that are no longer referenced back to the system."""
        ...

    def rest(self) -> None:
        """Give what work has freed back to the system: nobody waits now."""
        ...

    def device(self) -> Device:
        """Describe the device and how much of it is in use."""
        ...

    def convert(self, gguf: Path, folder: Path) -> None:
        """Convert a GGUF file into a model folder.

        Raises:
            UnsupportedModel, DamagedModel: the file cannot be converted.
        """
        ...


# Makes the backend, on the worker's thread and at the first need: importing mlx-lm takes most of a second, and the
# socket must answer before that.
MakeBackend = Callable[[], Backend]
