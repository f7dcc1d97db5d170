"""`plgd bench --load`: many edits at once, by classes and by random arrivals; many connections; many requests."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import signal
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
import msgspec
from rich.console import Console

from plgd.bench.load.levels import make_levels
from plgd.bench.load.plan import plan_load
from plgd.bench.load.report import show_load
from plgd.bench.load.results import Level, LoadOutput, LoadResult
from plgd.bench.load.run import LoadFound, carry_out
from plgd.bench.machine import describe, know_costs, open_machine
from plgd.bench.progress import Progress
from plgd.config import Config, load_config
from plgd.engine.cost import StepCosts
from plgd.errors import BenchError
from plgd.models.catalog import resolve
from plgd.paths import Paths

__all__ = ("run",)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and report.

    Raises:
        BenchError: an option is wrong, or a plot cannot be drawn.
        ModelError: the model cannot be found or loaded.
        DaemonError: the daemon cannot be started, or went away.
    """
    plot = _load_plotter() if arguments.plot is not None else None
    plan, paths = plan_load(arguments), Paths.from_environment()
    config = load_config(paths.config_file)
    model = resolve(arguments.model, paths, config).name
    with Progress() as progress:
        environment = describe(model)
        found = anyio.run(_until_told, partial(carry_out, plan, model, paths, config, progress.say))
        levels: tuple[Level, ...] = ()
        if "closed" in plan.parts:
            costs = _read_costs(model, paths, config, progress.say)
            limit = config.daemon.running_limit
            levels = make_levels(found.closed, found.alone, costs, running_limit=limit)
    result = LoadResult(
        environment=msgspec.structs.replace(environment, load_after=round(os.getloadavg()[0], 2)),
        n_repeats=plan.n_repeats,
        levels=levels,
        open_loop=found.open_loop,
        interactive=found.interactive,
        calls=found.calls,
        memory=found.memory,
    )
    if arguments.json:
        console.file.write(msgspec.json.encode(LoadOutput(load=result)).decode() + "\n")
    else:
        show_load(result, console)
    if plot is not None:
        plot(result, arguments.plot)


async def _until_told(measure: Callable[[], Awaitable[LoadFound]]) -> LoadFound:
    """Measure; when this process is told to end, the daemon is stopped first.

    Raises:
        KeyboardInterrupt: it was told to.
    """
    with anyio.CancelScope() as scope:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, scope.cancel)
        return await measure()
    raise KeyboardInterrupt


def _read_costs(model: str, paths: Paths, config: Config, say: Callable[[str], None]) -> StepCosts:
    """Return the table that the daemon had. The model is loaded once more for it, now that the daemon's is gone."""
    machine = open_machine(model, (), paths, config, on_progress=say)
    return know_costs(machine.model, paths, on_progress=say)


def _load_plotter() -> Callable[[LoadResult, Path], None]:
    """Find out before anything is measured whether a plot can be drawn."""
    try:
        plot: Callable[[LoadResult, Path], None] = importlib.import_module("plgd.bench.load.plot").plot_load
    except ModuleNotFoundError as error:
        raise BenchError.needs(error.name or "a module", "bench") from error
    return plot
