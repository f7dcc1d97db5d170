"""Results as JSON, as a table and as a plot."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from bench.timed_arms import TimedArm, timed_reply
from plgd.bench.compare.command import load_plotter
from plgd.bench.compare.measure import geometric_means, measure
from plgd.bench.compare.plot import plot_speedups
from plgd.bench.report import show_comparison
from plgd.bench.results import BenchResult, Environment
from plgd.errors import BenchError

ENVIRONMENT = Environment(
    model="scripted",
    device="cpu",
    device_name="a double",
    blas="openblas",
    n_cpus=2,
    python="3.11.0",
    platform="Linux x86_64",
    versions={"plgd": "1", "mlx": "2"},
    load_before=0.5,
)


@pytest.fixture
def result() -> BenchResult:
    """A comparison of one workload, in which `off` says something else."""
    arms = [
        TimedArm("plain", [timed_reply([1, 2, 3, 4], 2.0)] * 3, []),
        TimedArm("off", [timed_reply([1, 2, 9, 4], 2.0)] * 3, []),
        TimedArm("graded", [timed_reply([1, 2, 3, 4], 1.0)] * 3, []),
    ]
    workloads = {"edit_fn": measure(arms, [1], max_tokens=4, n_repeats=2)}
    return BenchResult(
        environment=ENVIRONMENT, n_repeats=2, workloads=workloads, geometric_means=geometric_means(workloads)
    )


def test_json_has_its_promised_shape(result: BenchResult) -> None:
    """A program finds rates, speed-up and identity by workload and arm."""
    data = json.loads(msgspec.json.encode(result))
    graded = data["workloads"]["edit_fn"]["arms"]["graded"]
    assert ([4.0, 4.0], 2.0, True) == (graded["tokens_per_s"], graded["speedup"], graded["identical_to_plain"])
    assert data["workloads"]["edit_fn"]["arms"]["off"]["identical_to_plain"] is False
    assert ["plain", "off", "graded"] == list(data["workloads"]["edit_fn"]["arms"])
    assert {"plain": 1.0, "off": 1.0, "graded": 2.0} == data["geometric_means"]
    assert {"plgd": "1", "mlx": "2"} == data["environment"]["versions"]


def test_table_shows_every_arm_and_the_means(result: BenchResult) -> None:
    """For people there is a row for each arm, the means, a warning where a reply is not plain's (reference A14)."""
    out = io.StringIO()
    show_comparison(result, Console(file=out, width=160))
    lines = out.getvalue().splitlines()
    assert "scripted on cpu (a double, 2 processors), BLAS openblas, load 0.50 before and 0.00 after" == lines[0]
    graded, mean = (line.replace("│", " ").split() for line in lines if "graded" in line)
    assert ["graded", "4", "4.0", "500", "2.00", "2.00-2.00", "yes", "4"] == graded[:8]
    assert ["graded", "2.00"] == mean
    assert "Not the tokens of plain: edit_fn/off from token 2" == lines[-1]


def test_plot_is_drawn(result: BenchResult, tmp_path: Path) -> None:
    """The ending of the plot's name says its format."""
    plot_speedups(result, tmp_path / "out.png")
    assert b"\x89PNG" == (tmp_path / "out.png").read_bytes()[:4]
    plot_speedups(result, tmp_path / "out.svg")
    text = (tmp_path / "out.svg").read_text(encoding="utf-8")
    assert "<svg" in text


@pytest.mark.parametrize("name", ["none/out.png", "out.nosuchformat"])
def test_plot_that_cannot_be_written_is_refused(name: str, result: BenchResult, tmp_path: Path) -> None:
    """A folder that is missing and a format that nothing can write are told with the file's name."""
    with pytest.raises(BenchError, match=f"{name} was not written"):
        plot_speedups(result, tmp_path / name)


def test_missing_plotting_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without matplotlib, --plot names the extra to install."""
    monkeypatch.delitem(sys.modules, "plgd.bench.compare.plot")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(BenchError, match=r"extra `bench`.*pip install -e '\.\[bench\]'"):
        load_plotter()
