"""Draws results. Imported only when a plot is asked for: it needs matplotlib, which comes with plgd's extra `bench`."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from plgd.bench.options import PLAIN
from plgd.bench.results import ArmResult, BenchResult
from plgd.errors import BenchError

__all__ = ("plot_speedups",)


def plot_speedups(result: BenchResult, path: Path) -> None:
    """Draw the speed-up of each arm on each workload as bars, with the range of the paired speed-ups.

    Args:
        result: what was measured.
        path: its ending says the format.

    Raises:
        BenchError: the file cannot be written.
    """
    names = [name for name in result.geometric_means if name != PLAIN]
    figure = Figure(figsize=(2.0 + 1.8 * len(result.workloads), 4.0), layout="constrained")
    axes = figure.subplots()
    thickness = 0.8 / max(len(names), 1)
    for index, name in enumerate(names):
        arms = [workload.arms[name] for workload in result.workloads.values()]
        axes.bar(
            [place + (index - (len(names) - 1) / 2) * thickness for place in range(len(arms))],
            [arm.speedup for arm in arms],
            thickness,
            yerr=[list(side) for side in zip(*(_reach(arm) for arm in arms), strict=True)],
            capsize=2,
            label=f"{name} ({result.geometric_means[name]:.2f})",
        )
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(result.workloads)), list(result.workloads))
    axes.set_ylabel("speed-up over plain, whole call")
    axes.set_title(f"{result.environment.model} on {result.environment.device_name}")
    axes.legend(title="arm (geometric mean)", fontsize="small")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise BenchError.unwritable(str(path), str(error)) from error


def _reach(arm: ArmResult) -> tuple[float, float]:
    """Return how far the paired speed-ups reach below and above the speed-up."""
    low, high = min(arm.paired_speedups), max(arm.paired_speedups)
    return max(arm.speedup - low, 0.0), max(high - arm.speedup, 0.0)
