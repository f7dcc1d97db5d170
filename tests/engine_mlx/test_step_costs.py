"""Step costs on this machine: measured once, kept for the same circumstances, measured anew for others."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from plgd.engine.cost import StepCosts
from plgd.engine.mlx.load import load_model
from plgd.engine.mlx.model import MlxModel
from plgd.engine.mlx.step_costs import keep_step_costs, measure_step_costs, read_step_costs, verify_widths
from tiny_models import write_model


def ticking() -> float:
    """Tell a time that goes on by a millisecond with each look."""
    return next(TICKS) / 1000.0


TICKS = itertools.count()


def test_costs_are_kept(tiny_model: MlxModel, tmp_path: Path) -> None:
    """What was measured is read back the same."""
    assert read_step_costs(tiny_model, tmp_path / "costs") is None
    seen: list[float] = []
    costs = measure_step_costs(tiny_model, clock=ticking, on_progress=seen.append)
    keep_step_costs(tiny_model, tmp_path / "costs", costs)
    assert costs == read_step_costs(tiny_model, tmp_path / "costs")
    assert verify_widths(tiny_model) == costs.widths
    assert (sorted(seen), 100.0) == (seen, seen[-1])
    assert [path.suffix for path in (tmp_path / "costs").iterdir()] == [".json"]


@pytest.mark.parametrize("content", ["", "[]", "{", '{"widths": [1]}', '{"widths": 1}', "[" * 100_000])
def test_a_broken_table_is_no_table(tiny_model: MlxModel, tmp_path: Path, content: str) -> None:
    """A file that cannot be read, or holds something else, counts as not measured."""
    keep_step_costs(tiny_model, tmp_path, measure_step_costs(tiny_model, clock=ticking))
    (file,) = tmp_path.iterdir()
    file.write_text(content, encoding="utf-8")
    assert read_step_costs(tiny_model, tmp_path) is None


@pytest.mark.parametrize(
    "change",
    [
        {"max_width": 4096},
        {"widths": [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 4096], "max_width": 4096},
        {"contexts": [100]},
        {"padded": True},
    ],
)
def test_a_table_of_another_measurement_is_no_table(
    tiny_model: MlxModel, tmp_path: Path, change: dict[str, object]
) -> None:
    """A table whose rows and columns are not those that a measurement has is not used: its widths would be run."""
    keep_step_costs(tiny_model, tmp_path, measure_step_costs(tiny_model, clock=ticking))
    (file,) = tmp_path.iterdir()
    data = {**json.loads(file.read_text(encoding="utf-8")), **change}
    StepCosts.from_data(data)  # whole in itself
    file.write_text(json.dumps(data), encoding="utf-8")
    assert read_step_costs(tiny_model, tmp_path) is None


@pytest.mark.parametrize(("factor", "is_kept"), [(2.5, True), (40.0, False)])
def test_a_table_whose_wide_rounds_are_dearer_than_narrow_ones_is_no_table(
    tiny_model: MlxModel, tmp_path: Path, factor: float, *, is_kept: bool
) -> None:
    """What no round would correct, as none would be so wide, is measured again; what kernels may cost is believed."""
    measured = measure_step_costs(tiny_model, clock=ticking)
    rows = tuple(
        tuple(cost if width < 32 else factor * cost for width, cost in zip(measured.widths, row, strict=True))
        for row in measured.costs_ms
    )
    keep_step_costs(tiny_model, tmp_path, replace(measured, costs_ms=rows))
    assert is_kept == (read_step_costs(tiny_model, tmp_path) is not None)


def test_nothing_is_left_of_a_table_that_cannot_be_kept(tiny_model: MlxModel, tmp_path: Path) -> None:
    """Where the table cannot take its place, its error is raised and the folder is as before."""
    costs = measure_step_costs(tiny_model, clock=ticking)
    keep_step_costs(tiny_model, tmp_path, costs)
    (file,) = tmp_path.iterdir()
    file.unlink()
    file.mkdir()
    with pytest.raises(IsADirectoryError):
        keep_step_costs(tiny_model, tmp_path, costs)
    assert [file] == list(tmp_path.iterdir())


def test_a_table_for_less_room_is_measured_anew(tiny_folder: Path, tmp_path: Path) -> None:
    """A model whose context was limited when it was measured gets a whole table once the limit is gone."""
    narrow = load_model(tiny_folder, name="tiny", context_limit=64)
    keep_step_costs(narrow, tmp_path, measure_step_costs(narrow, clock=ticking))
    assert read_step_costs(narrow, tmp_path) is not None
    assert read_step_costs(load_model(tiny_folder, name="tiny"), tmp_path) is None


def test_other_circumstances_are_measured_anew(tiny_model: MlxModel, tiny_folder: Path, tmp_path: Path) -> None:
    """Another model or another KV mode does not use a table that was measured without it."""
    keep_step_costs(tiny_model, tmp_path, measure_step_costs(tiny_model, clock=ticking))
    wider = load_model(write_model(tmp_path / "wider", bits=None, seed=1), name="same shapes")
    quantized = load_model(tiny_folder, name="tiny", kv_bits=8)
    assert read_step_costs(wider, tmp_path) is not None
    assert read_step_costs(quantized, tmp_path) is None


def test_a_short_context_limit_narrows_the_table(tiny_folder: Path) -> None:
    """A model with hardly any room is measured within it."""
    model = load_model(tiny_folder, name="tiny", context_limit=150)
    costs = measure_step_costs(model, clock=ticking)
    assert max(costs.contexts) < 150
