"""The models of this machine, by `plgd.models`. Imported late: see `model_store`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from plgd.config import Config
from plgd.models.catalog import info, list_models, resolve, select
from plgd.models.entries import Machine
from plgd.models.pull import pull
from plgd.paths import Paths
from plgd.protocol.models import ModelInfo, ModelListResult

__all__ = ("PulledModels",)


class PulledModels:
    """Implements `plgd.server.model_store.ModelStore`."""

    def __init__(self, config: Config, paths: Paths) -> None:
        self._config = config
        self._paths = paths

    def find(self, name: str | None) -> str:
        """Return the full name of a model that can be loaded."""
        return resolve(name, self._paths, self._config).name

    def list(self) -> ModelListResult:
        """List the catalog and every pulled model."""
        return list_models(self._paths, self._config, _look_at_machine())

    def info(self, name: str) -> ModelInfo:
        """Describe one model."""
        return info(name, self._paths, self._config, _look_at_machine())

    def use(self, name: str) -> ModelInfo:
        """Make a model the default."""
        return select(name, self._paths, self._config)

    def pull(
        self,
        name: str,
        *,
        force: bool,
        convert: Callable[[Path, Path], None],
        on_progress: Callable[[str, int, int], None],
        cancelled: Callable[[], bool],
    ) -> ModelInfo:
        """Fetch a model."""
        pull(name, self._paths, convert=convert, on_progress=on_progress, cancelled=cancelled, force=force)
        return self.info(name)


def _look_at_machine() -> Machine:
    """Find out without mlx, which takes long to import, what models run on: the installed build of it tells."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    on_cpu = sys.platform != "darwin" and not any(
        (found.name or "").startswith("mlx-cuda") for found in metadata.distributions()
    )
    return Machine(memory_bytes, on_cpu)
