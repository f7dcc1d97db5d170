"""Cost tables come from the package, a file of the same form, or a measurement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plgd.bench.replay.cost_tables import load_cost_tables
from plgd.engine.cost import StepCosts
from plgd.errors import BenchError


def test_the_shipped_tables() -> None:
    """They are lines between points, with a constant slope behind the last and an end where one is known."""
    tables = load_cost_tables()
    assert {"cpu", "m4pro", "m5max", "gb10-8b", "h200-8b-q4"} <= tables.keys()
    assert 16 == tables["m5max"].max_width
    assert 129 == tables["cpu"].max_width
    assert 1.615 == pytest.approx(tables["cpu"].round_ms(5, 0))
    assert 4.7 + 16 * (4.7 - 2.9) / 32 == pytest.approx(tables["cpu"].round_ms(80, 0))
    assert 1.0 == tables["cpu"].plain_ms(0)


def test_a_measured_table(tmp_path: Path) -> None:
    """What `--widths --json` printed is a table called by its file's name."""
    costs = StepCosts((1, 8), (0, 100), ((10.0, 20.0), (12.0, 25.0)), (9.0, 11.0), 8)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"environment": {}, "costs": costs.to_data()}), encoding="utf-8")
    assert {"mine": costs} == load_cost_tables(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[x]\nwidths = [1, 2]\n",
        "[x]\nwidths = [2]\ncosts = [1]\n",
        "[x]\nwidths=[1]\ncosts=[1]\nmore=1\n",
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    """The message names the file."""
    path = tmp_path / "costs.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BenchError, match=r"costs\.toml"):
        load_cost_tables(path)
    with pytest.raises(BenchError, match="missing"):
        load_cost_tables(tmp_path / "missing.toml")


@pytest.mark.parametrize("name", ["deep.toml", "deep.json"])
def test_a_bottomless_table_is_refused(tmp_path: Path, name: str) -> None:
    """Brackets without an end are told like any other damage."""
    brackets = "[" * 100_000
    (tmp_path / name).write_text(f"x = {brackets}" if name.endswith("toml") else f'{{"x": {brackets}', encoding="utf-8")
    with pytest.raises(BenchError, match=name):
        load_cost_tables(tmp_path / name)
