"""The machine under measurement is the one that edits use."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from plgd.bench.machine import know_costs, open_machine
from plgd.config import Config, ModelConfig
from plgd.engine.mlx.neighbours import Neighbours
from plgd.engine.mlx.step_costs import measure_step_costs, read_step_costs
from plgd.errors import BenchError
from plgd.paths import Paths
from tiny_models import write_model


def test_the_model_is_loaded_as_configured(tmp_path: Path) -> None:
    """What is measured has the context limit and the quantized keys and values that edits have."""
    folder = write_model(tmp_path / "model")
    config = Config(model=ModelConfig(context_limit=100, kv_bits=8))
    model = open_machine(str(folder), (), Paths(tmp_path, tmp_path, tmp_path), config).model
    assert (100, 8) == (model.context_limit, model.kv_bits)


def test_step_costs_that_cannot_be_kept_are_told(tmp_path: Path) -> None:
    """Where the cache cannot be written, the measurement ends with the place and the reason."""
    paths = Paths(tmp_path, tmp_path, tmp_path)
    machine = open_machine(str(write_model(tmp_path / "model")), (), paths, Config())
    paths.step_costs_dir.touch()
    with pytest.raises(BenchError, match="was not written: File exists"):
        know_costs(machine.model, paths, on_progress=lambda _: None, watch=_neighbours(0.0))


def test_step_costs_of_a_busy_machine_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured beside other programs serves this run alone; a quiet machine's table is kept for the daemon."""
    paths = Paths(tmp_path, tmp_path, tmp_path)
    model = open_machine(str(write_model(tmp_path / "model")), (), paths, Config()).model
    # A busy machine may measure what nobody believes, and such a table is measured again.
    ticking = itertools.count(1.0).__next__
    monkeypatch.setattr("plgd.bench.machine.measure_step_costs", partial(measure_step_costs, clock=ticking))
    know_costs(model, paths, on_progress=lambda _: None, watch=_neighbours(1.0))
    assert read_step_costs(model, paths.step_costs_dir) is None
    costs = know_costs(model, paths, on_progress=lambda _: None, watch=_neighbours(0.0))
    assert costs == read_step_costs(model, paths.step_costs_dir)


def _neighbours(n_busy: float) -> Callable[[], Neighbours]:
    """Other programs that keep so many processors busy."""
    return lambda: Neighbours(None, lambda: n_busy * (os.cpu_count() or 1))
