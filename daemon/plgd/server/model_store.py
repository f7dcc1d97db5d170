"""What the handlers need of `plgd.models`; its one real implementation is `pulled_models`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from plgd.protocol.models import ModelInfo, ModelListResult

__all__ = ("MakeModelStore", "ModelStore")


class ModelStore(Protocol):
    """The models of this machine. Methods may read the disk, so they are called in a thread."""

    def find(self, name: str | None) -> str:
        """Return the full name of a model that can be loaded; `None` asks for the default.

        Raises:
            UnknownModel, ModelNotPulled, DamagedModel, UnsupportedModel: it cannot.
        """
        ...

    def list(self) -> ModelListResult:
        """List the catalog and every pulled model."""
        ...

    def info(self, name: str) -> ModelInfo:
        """Describe one model.

        Raises:
            UnknownModel: the name stands for nothing.
        """
        ...

    def use(self, name: str) -> ModelInfo:
        """Make a model the default, now and after a restart; raises like `find`."""
        ...

    def pull(
        self,
        name: str,
        *,
        force: bool,
        convert: Callable[[Path, Path], None],
        on_progress: Callable[[str, int, int], None],
        cancelled: Callable[[], bool],
    ) -> ModelInfo:
        """Fetch a model; see `plgd.models.pull.pull`."""
        ...


# Makes the store, in a thread and at the first need: the libraries that download take a fifth of a second to import.
MakeModelStore = Callable[[], ModelStore]
