"""Draws replays. Imported only when a plot is asked for: it needs matplotlib, which comes with plgd's extra `bench`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure

from plgd.bench.replay.run import TableResult
from plgd.errors import BenchError

__all__ = ("plot_replay",)


def plot_replay(tables: Mapping[str, TableResult], path: Path) -> None:
    """Draw each policy's speed-up on each device as bars, and the bound as a line above them.

    Args:
        tables: results by device.
        path: its ending says the format.

    Raises:
        BenchError: the file cannot be written.
    """
    names = list(dict.fromkeys(name for result in tables.values() for name in result.policies))
    figure = Figure(figsize=(2.0 + 1.8 * len(tables), 4.0), layout="constrained")
    axes = figure.subplots()
    thickness = 0.8 / len(names)
    for index, name in enumerate(names):
        places = [place + (index - (len(names) - 1) / 2) * thickness for place in range(len(tables))]
        axes.bar(places, [result.policies[name].speedup for result in tables.values()], thickness, label=name)
    bounds = [result.bound for result in tables.values()]
    ends = [place - 0.42 for place in range(len(tables))], [place + 0.42 for place in range(len(tables))]
    axes.hlines(bounds, *ends, color="black", linewidth=1.2, label="bound")
    axes.axhline(1.0, color="grey", linewidth=0.8)
    axes.set_xticks(range(len(tables)), list(tables))
    axes.set_ylabel("speed-up over plain decoding, replayed")
    axes.legend(fontsize="small")
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise BenchError.unwritable(str(path), str(error)) from error
