"""Results as tables for people."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from plgd.bench.options import PLAIN
from plgd.bench.results import ArmResult, BenchResult, Environment

__all__ = ("describe_environment", "show_comparison")


def describe_environment(environment: Environment) -> str:
    """Say in two lines what was measured on."""
    versions = ", ".join(f"{name} {version}" for name, version in environment.versions.items())
    device = f"{environment.device} ({environment.device_name}, {environment.n_cpus} processors)"
    blas = f", BLAS {environment.blas}" if environment.blas else ""
    load = f"load {environment.load_before:.2f} before and {environment.load_after:.2f} after"
    return (
        f"{environment.model} on {device}{blas}, {load}\n"
        f"{environment.platform}, Python {environment.python}, {versions}"
    )


def show_comparison(result: BenchResult, console: Console) -> None:
    """Print one row for each workload and arm, and the geometric means."""
    console.print(describe_environment(result.environment), highlight=False)
    table = Table(title=f"whole calls, median of {result.n_repeats}", title_justify="left")
    table.add_column("workload")
    table.add_column("arm")
    for heading in ("tokens", "tok/s", "ttft ms", "speed-up", "paired", "same", "rounds", "tok/round", "accepted"):
        table.add_column(heading, justify="right")
    table.add_column("pauses (ended by a probe)", justify="right", max_width=10)
    table.add_column("pipelined (met)", justify="right", max_width=10)
    table.add_column("widths", overflow="fold")
    for name, workload in result.workloads.items():
        table.add_section()
        for index, (arm, found) in enumerate(workload.arms.items()):
            table.add_row("" if index else f"{name}{' (recorded)' if workload.recorded else ''}", arm, *_cells(found))
    table.add_section()
    for index, (arm, mean) in enumerate(result.geometric_means.items()):
        table.add_row("" if index else "all", arm, "", "", "", f"{mean:.2f}")
    console.print(table)
    differing = [
        f"{name}/{arm} from token {found.diverges_at}"
        for name, workload in result.workloads.items()
        for arm, found in workload.arms.items()
        if not found.identical_to_plain
    ]
    if differing:
        console.print(f"Not the tokens of {PLAIN}: {', '.join(differing)}", style="yellow", highlight=False)


def _cells(arm: ArmResult) -> Sequence[str]:
    low, high = arm.paired_speedups[0], arm.paired_speedups[-1]
    return (
        str(arm.n_tokens),
        f"{statistics.median(arm.tokens_per_s):.1f}",
        f"{statistics.median(arm.ttft_ms):.0f}",
        f"{arm.speedup:.2f}",
        f"{low:.2f}-{high:.2f}",
        "yes" if arm.identical_to_plain else "NO",
        *_counted(arm.counters),
    )


def _counted(counters: dict[str, Any]) -> Sequence[str]:
    """Show what the session counted; nothing for plain."""
    if not counters:
        return ("",) * 6
    drafted, governor = counters["n_drafted"], counters["governor"]
    widths = sorted((int(width), n_rounds) for width, n_rounds in counters["widths"].items())
    return (
        str(counters["n_rounds"]),
        f"{counters['n_tokens'] / counters['n_rounds']:.2f}",
        f"{counters['n_accepted']}/{drafted}" if drafted else "",
        f"{governor['n_pauses']} ({governor['n_shadow_confirmations']})" if governor["n_pauses"] else "",
        f"{counters['n_pipelined_rounds']} ({counters['n_met_in_flight']})",
        " ".join(f"{width}:{n_rounds}" for width, n_rounds in widths),
    )
