"""Draws what a load bench found. Imported only when a plot is asked for: it needs matplotlib, of the extra `bench`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from plgd.bench.load.results import ClassTimes, Interactive, Level, LoadResult, Memory
from plgd.errors import BenchError

__all__ = ("plot_load",)


def plot_load(result: LoadResult, path: Path) -> None:
    """Draw a picture for each part that was measured and has more than a few numbers.

    Args:
        result: what was measured.
        path: its ending says the format.

    Raises:
        BenchError: the file cannot be written, or nothing that was measured makes a picture.
    """
    pictures: list[Callable[[Axes], None]] = []
    if levels := result.levels:
        pictures.append(lambda axes: _draw_levels(levels, axes))
    classes = [level.times for level in result.levels]
    names = [f"{level.n_clients} clients" for level in result.levels]
    if result.open_loop is not None:
        classes += result.open_loop.classes
        names += [f"random, {each.priority}" for each in result.open_loop.classes]
    if classes:
        pictures.append(lambda axes: _draw_times(names, classes, axes))
    if (interactive := result.interactive) is not None:
        pictures.append(lambda axes: _draw_waits(interactive, axes))
    if (memory := result.memory) is not None:
        pictures.append(lambda axes: _draw_memory(memory, axes))
    if not pictures:
        raise BenchError.unwritable(str(path), "nothing that was measured makes a picture")
    figure = Figure(figsize=(5.0 * len(pictures), 4.0), layout="constrained")
    figure.suptitle(f"{result.environment.model} on {result.environment.device_name}")
    for place, draw in enumerate(pictures, 1):
        draw(figure.add_subplot(1, len(pictures), place))
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise BenchError.unwritable(str(path), str(error)) from error


def _draw_levels(levels: tuple[Level, ...], axes: Axes) -> None:
    n_clients = [level.n_clients for level in levels]
    axes.plot(n_clients, [level.ratio for level in levels], marker="o", label="measured")
    axes.plot(n_clients, [level.bound for level in levels], marker="x", linestyle="--", label="bound by step costs")
    axes.axhline(1.0, color="black", linewidth=0.8)
    axes.set_xticks(n_clients, [str(each) for each in n_clients])
    axes.set_xlabel("clients")
    axes.set_ylabel("tokens per second, in those of one client")
    axes.legend(fontsize="small")


def _draw_times(names: list[str], classes: list[ClassTimes], axes: Axes) -> None:
    places = range(len(names))
    for share, value in (("50 %", 0), ("90 %", 1), ("99 %", 2)):
        first = [(each.first_token_ms.p50, each.first_token_ms.p90, each.first_token_ms.p99)[value] for each in classes]
        total = [(each.total_ms.p50, each.total_ms.p90, each.total_ms.p99)[value] for each in classes]
        marker = "o^s"[value]
        axes.scatter(places, first, marker=marker, color="tab:blue", label=f"first token, {share}")
        axes.scatter(places, total, marker=marker, color="tab:orange", label=f"total, {share}")
    axes.set_xticks(places, names, rotation=30, ha="right")
    axes.set_yscale("log")
    axes.set_ylabel("ms")
    axes.legend(fontsize="x-small")


def _draw_waits(found: Interactive, axes: Axes) -> None:
    counted = [wait.turns for wait in found.waits]
    axes.hist(counted, bins=[each - 0.5 for each in range(max(counted, default=0) + 2)])
    axes.set_xlabel(f"turns of {found.n_batch} batch edits before an interactive first token")
    axes.set_ylabel("interactive edits")


def _draw_memory(found: Memory, axes: Axes) -> None:
    n_requests = [reading.n_requests for reading in found.readings]
    axes.plot(n_requests, [reading.resident_bytes / 1e6 for reading in found.readings], label="process")
    axes.plot(n_requests, [reading.device_bytes / 1e6 for reading in found.readings], label="model's arrays")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("requests")
    axes.set_ylabel("MB")
    axes.legend(fontsize="small")
