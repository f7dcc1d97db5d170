"""`plgd bench --widths`: what a round costs by verify width and context length."""

from __future__ import annotations

import argparse
import os
import time
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table

from plgd.bench.machine import open_machine
from plgd.bench.options import DEFAULT_REPEATS
from plgd.bench.progress import Progress
from plgd.bench.report import describe_environment
from plgd.bench.results import Environment
from plgd.config import load_config
from plgd.engine.calibration import measure_costs
from plgd.engine.cost import StepCosts
from plgd.paths import Paths

__all__ = ("run", "show_costs")

WIDTHS: Final = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128)
CONTEXTS: Final = (128, 1024, 4096)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and report.

    Raises:
        ModelError: the model cannot be found or loaded.
        EngineError: the model failed.
    """
    n_repeats = arguments.repeats or DEFAULT_REPEATS
    paths = Paths.from_environment()
    config = load_config(paths.config_file)
    with Progress() as progress:
        machine = open_machine(arguments.model, WIDTHS, paths, config, on_progress=progress.say)
        # Every timed round and step moves the context on by a token.
        room = machine.model.context_limit - max(WIDTHS) - (len(WIDTHS) + 8) * (n_repeats + 1)
        contexts = [n_tokens for n_tokens in CONTEXTS if n_tokens <= room]
        costs = measure_costs(
            machine.model.target,
            widths=WIDTHS,
            contexts=contexts,
            n_repeats=n_repeats,
            clock=time.perf_counter,
            on_progress=lambda n_context, repeat: progress.say(f"context {n_context}: turn {repeat}"),
        )
    environment = msgspec.structs.replace(machine.environment, load_after=round(os.getloadavg()[0], 2))
    if arguments.json:
        data = {"environment": environment, "n_repeats": n_repeats, "costs": costs.to_data()}
        console.file.write(msgspec.json.encode(data).decode() + "\n")
    else:
        show_costs(costs, environment, console)


def show_costs(costs: StepCosts, environment: Environment, console: Console) -> None:
    """Print the table, each cost in milliseconds and in plain one-token rounds."""
    console.print(describe_environment(environment), highlight=False)
    table = Table(title="a round by verify width, ms (in synchronous rounds of width 1)", title_justify="left")
    table.add_column("width", justify="right")
    for n_context in costs.contexts:
        table.add_column(f"context {n_context}", justify="right")
    table.add_row("1, pipelined", *_cells(costs.pipelined_ms, costs))
    for place, width in enumerate(costs.widths):
        table.add_row(str(width), *_cells([row[place] for row in costs.costs_ms], costs))
    console.print(table)


def _cells(times_ms: tuple[float, ...] | list[float], costs: StepCosts) -> list[str]:
    return [f"{time_ms:.2f} ({time_ms / row[0]:.2f})" for time_ms, row in zip(times_ms, costs.costs_ms, strict=True)]
