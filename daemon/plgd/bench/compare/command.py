"""`plgd bench`: the five reference workloads under every arm."""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console

from plgd.bench.compare.arms import Arm, PolicyArm
from plgd.bench.compare.measure import geometric_means, measure
from plgd.bench.compare.prompts import foresee, record, tokenize, tokenize_source
from plgd.bench.compare.workloads import WORKLOADS, ChatWorkload
from plgd.bench.machine import Machine, know_costs, open_machine
from plgd.bench.options import ARMS, DEFAULT_REPEATS, NGRAMS_ONLY, PLAIN
from plgd.bench.progress import Progress
from plgd.bench.report import show_comparison
from plgd.bench.results import BenchResult, WorkloadResult
from plgd.config import Config, load_config
from plgd.engine.correction import LiveCosts
from plgd.engine.drafting import make_file_proposer
from plgd.engine.governor import make_governor, make_proposer
from plgd.errors import BenchError
from plgd.paths import Paths

__all__ = ("load_plotter", "make_arms", "run")

# What the policies of fixed reach may verify: up to seven drafted tokens.
REFERENCE_WIDTHS: Final = range(1, 9)

# The arms that decide by measured step costs.
COST_ARMS: Final = frozenset({"cost", NGRAMS_ONLY})


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and report.

    Raises:
        BenchError: matplotlib is missing, or the plot cannot be written.
        ModelError: the model cannot be found or loaded.
        EngineError: the model failed.
    """
    plot = load_plotter() if arguments.plot is not None else None
    paths = Paths.from_environment()
    config = load_config(paths.config_file)
    with Progress() as progress:
        machine = open_machine(arguments.model, REFERENCE_WIDTHS, paths, config, on_progress=progress.say)
        names = arguments.arms or ARMS
        costs = None
        if not COST_ARMS.isdisjoint(names):
            # As in the daemon, all replies go on correcting the table.
            costs = LiveCosts(know_costs(machine.model, paths, on_progress=progress.say))
        result = _compare(machine, partial(make_arms, names=names, costs=costs, config=config), arguments, progress)
    if arguments.json:
        console.file.write(msgspec.json.encode(result).decode() + "\n")
    else:
        show_comparison(result, console)
    if plot is not None:
        plot(result, arguments.plot)


def load_plotter() -> Callable[[BenchResult, Path], None]:
    """Find out before anything is measured whether a plot can be drawn."""
    try:
        plot: Callable[[BenchResult, Path], None] = importlib.import_module("plgd.bench.compare.plot").plot_speedups
    except ModuleNotFoundError as error:
        raise BenchError.needs(error.name or "a module", "bench") from error
    return plot


def make_arms(
    machine: Machine,
    names: Sequence[str],
    costs: LiveCosts | None,
    config: Config,
    *,
    source: Sequence[int] = (),
    n_prompt: int = 0,
    announced: Sequence[tuple[str, str]] = (),
) -> list[Arm]:
    """Make the named arms. Each policy has its own constants, whatever the user has configured.

    `cost` drafts as `plgd edit` does, the others as their origins do: from n-grams of prompt and reply.

    Args:
        machine: the model.
        names: of arms.
        costs: for the arms that decide by step costs.
        config: the user's settings; of them, only the prefill counts.
        source: for `cost`, the tokens of the text that the reply may resemble.
        n_prompt: for `cost`, tokens of the prompt.
        announced: for `cost`, what the instruction says that the reply replaces, and what by.
    """

    def make(name: str) -> Arm:
        if name == PLAIN:
            return machine.plain
        policy = "cost" if name == NGRAMS_ONLY else name
        from_file = partial(
            make_file_proposer, [source], n_prompt=n_prompt, codec=machine.model.tokenizer, announced=announced
        )
        return PolicyArm(
            name,
            machine.model,
            from_file if name == "cost" else partial(make_proposer, policy),
            partial(make_governor, policy, costs=costs),
            prefill_slice=config.engine.prefill_slice,
        )

    return [make(name) for name in names]


def _compare(
    machine: Machine,
    make_arms_of: Callable[..., Sequence[Arm]],
    arguments: argparse.Namespace,
    progress: Progress,
) -> BenchResult:
    n_repeats = arguments.repeats or DEFAULT_REPEATS
    workloads: dict[str, WorkloadResult] = {}
    for name in arguments.only or WORKLOADS:
        workload = WORKLOADS[name]
        prompt = tokenize(workload, machine.model.tokenizer)
        recorded = isinstance(workload, ChatWorkload) if arguments.replies is None else arguments.replies == "recorded"
        led = machine.led_along([*prompt, *record(workload, machine.model)]) if recorded else machine
        workloads[name] = measure(
            make_arms_of(
                led,
                source=tokenize_source(workload, machine.model.tokenizer),
                n_prompt=len(prompt),
                announced=foresee(workload),
            ),
            prompt,
            recorded=recorded,
            max_tokens=min(workload.max_tokens, arguments.max_tokens or workload.max_tokens),
            n_repeats=n_repeats,
            on_call=partial(_say, progress, name, n_repeats),
        )
    return BenchResult(
        environment=msgspec.structs.replace(machine.environment, load_after=round(os.getloadavg()[0], 2)),
        n_repeats=n_repeats,
        workloads=workloads,
        geometric_means=geometric_means(workloads),
    )


def _say(progress: Progress, workload: str, n_repeats: int, arm: str, repeat: int) -> None:
    progress.say(f"{workload}: {arm} {f'{repeat} of {n_repeats}' if repeat else '(untimed)'}")
