"""Models on mlx. Imported late and on the worker's thread: mlx-lm takes most of a second to import."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import mlx.core as mx

from plgd.config import Config
from plgd.engine.governor import DEFAULT_DRAFT
from plgd.engine.mlx.device import describe_device
from plgd.engine.mlx.gguf import convert_gguf
from plgd.engine.mlx.load import load_model
from plgd.engine.mlx.model import MlxModel
from plgd.engine.mlx.neighbours import QUIET_SHARE, Neighbours
from plgd.engine.mlx.step_costs import keep_step_costs, measure_step_costs, read_step_costs
from plgd.memory import give_back
from plgd.models.catalog import resolve
from plgd.paths import Paths
from plgd.server.backend import Device

__all__ = ("MlxBackend",)

# The load's part of the progress; the rest is the warm-up.
_LOAD_SHARE: Final = 0.9

_LOG: Final = logging.getLogger(__name__)


class MlxBackend:
    """Implements `plgd.server.backend.Backend`."""

    def __init__(self, config: Config, paths: Paths) -> None:
        self._config = config
        self._paths = paths

    def load(self, name: str, on_progress: Callable[[float], None]) -> MlxModel:
        """Load a model and make it ready for edits."""
        neighbours = Neighbours()
        found = resolve(name, self._paths, self._config)
        model = load_model(
            found.folder,
            name=name,
            adapter=found.adapter,
            context_limit=self._config.model.context_limit,
            kv_bits=self._config.model.kv_bits,
            on_progress=lambda percent: on_progress(percent * _LOAD_SHARE),
        )
        rest = 1.0 - _LOAD_SHARE
        self._make_ready(model, neighbours, lambda percent: on_progress(100.0 * _LOAD_SHARE + percent * rest))
        if self._config.engine.exact:
            width = model.exact_width
            widest = "any width" if width is None else f"up to {width} tokens"
            _LOG.info("%s: exact replies take passes of %s", name, widest)
        return model

    def _make_ready(self, model: MlxModel, neighbours: Neighbours, on_progress: Callable[[float], None]) -> None:
        """See that no round of an edit compiles a kernel, and that the governor knows what each width costs."""
        engine, folder = self._config.engine, self._paths.step_costs_dir
        widths: Sequence[int] = range(1, 2 if engine.policy == "off" else (engine.max_draft or DEFAULT_DRAFT) + 2)
        if engine.policy == "cost":
            costs = read_step_costs(model, folder)
            if costs is not None:
                model.use_costs(costs)
            elif neighbours.share() <= QUIET_SHARE:
                self._measure(model, on_progress)
                model.warm_up_lengths(model.costs.table.candidates())
                return
            else:
                _LOG.info("%s: step costs are assumed; the machine is too busy to measure them", model.name)
            widths = (1, *model.costs.table.candidates())
        for done, width in enumerate(widths, 1):
            model.warm_up([width])
            on_progress(100.0 * done / len(widths))
        model.warm_up_lengths(widths)

    def _measure(self, model: MlxModel, on_progress: Callable[[float], None]) -> None:
        """Measure the step costs, and keep them if the machine was quiet: a bad table would slow every later edit."""
        _LOG.info("measuring the step costs of %s", model.name)
        neighbours = Neighbours()
        costs = measure_step_costs(model, on_progress=on_progress)
        model.use_costs(costs)
        share = neighbours.share()
        if share > QUIET_SHARE:
            message = "other programs used %.0f %% of the processors meanwhile; measuring again at the next load"
            _LOG.info(message, 100.0 * share)
            return
        try:
            keep_step_costs(model, self._paths.step_costs_dir, costs)
        except OSError as error:
            _LOG.warning("the step costs were not kept, they are measured again at the next load: %s", error)

    def release(self) -> None:
        """Give the memory of models that are no longer referenced back to the system."""
        # Modules and closures of a model refer to each other in circles.
        gc.collect()
        mx.clear_cache()
        give_back()

    def rest(self) -> None:
        """Give what the C library keeps of freed memory back; mlx keeps its own, which the next edit takes."""
        give_back()

    def device(self) -> Device:
        """Describe the device and how much of it is in use."""
        found = describe_device()
        return Device(
            kind=found.kind,
            name=found.name,
            memory_bytes=found.memory_bytes,
            active_bytes=found.active_bytes,
            blas=found.blas,
        )

    def convert(self, gguf: Path, folder: Path) -> None:
        """Convert a GGUF file into a model folder."""
        convert_gguf(gguf, folder)
        mx.clear_cache()
