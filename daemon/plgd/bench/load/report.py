"""What a load bench found, as tables for people."""

from __future__ import annotations

import statistics

from rich.console import Console
from rich.table import Table

from plgd.bench.load.results import (
    Calls,
    ClassTimes,
    Interactive,
    Level,
    LoadResult,
    Memory,
    OpenLoop,
    Percentiles,
    Sameness,
)
from plgd.bench.report import describe_environment

__all__ = ("show_load",)


def show_load(result: LoadResult, console: Console) -> None:
    """Print a table or a few lines for each part that was measured."""
    console.print(describe_environment(result.environment), highlight=False)
    if result.levels:
        _show_levels(result, console)
        _show_times("the same edits, ms from the request", [level.times for level in result.levels], console)
    if result.open_loop is not None:
        _show_open_loop(result.open_loop, console)
    if result.interactive is not None:
        _show_interactive(result.interactive, console)
    if result.calls is not None:
        _show_calls(result.calls, console)
    if result.memory is not None:
        _show_memory(result.memory, console)


def _show_levels(result: LoadResult, console: Console) -> None:
    title = f"{result.levels[0].n_edits} edits of as many files by so many clients, median of {result.n_repeats}"
    table = Table(title=title, title_justify="left")
    for heading in (
        "clients",
        "tok/s",
        "edits/s",
        "ratio",
        "range",
        "bound",
        "bound of rounds",
        "fairness",
        "as alone",
    ):
        table.add_column(heading, justify="right")
    for level in result.levels:
        table.add_row(str(level.n_clients), *_level_cells(level))
    console.print(table)
    for because in sorted({level.turns_because for level in result.levels if level.turns_because}):
        console.print(f"Rounds took turns: {because}.", highlight=False)


def _level_cells(level: Level) -> tuple[str, ...]:
    return (
        f"{statistics.median(level.tokens_per_s):.1f}",
        f"{statistics.median(level.edits_per_s):.2f}",
        f"{level.ratio:.2f}",
        f"{min(level.ratios):.2f}-{max(level.ratios):.2f}",
        f"{level.bound:.2f}",
        f"{level.rounds_bound:.2f}",
        f"{level.fairness:.3f}",
        f"{level.joint_rows:.1f}" if level.joint_rows else "",
        f"{100.0 * level.joint_share:.0f} %",
        _same(level.same),
    )


def _show_times(title: str, rows: list[ClassTimes], console: Console) -> None:
    table = Table(title=title, title_justify="left")
    table.add_column("class")
    table.add_column("answered of asked", justify="right")
    for heading in ("first token 50 %", "90 %", "99 %", "total 50 %", "90 %", "99 %"):
        table.add_column(heading, justify="right")
    table.add_column("failures")
    for times in rows:
        failures = ", ".join(f"{name} {n}" for name, n in times.failures.items())
        cells = (*_cells(times.first_token_ms), *_cells(times.total_ms))
        table.add_row(times.priority, f"{times.total_ms.n} of {times.n_asked}", *cells, failures)
    console.print(table)


def _show_open_loop(found: OpenLoop, console: Console) -> None:
    title = f"random arrivals, {found.rate_per_s:.2f} edits/s on average: ms from the request"
    _show_times(title, list(found.classes), console)
    console.print(f"{found.tokens_per_s:.1f} tokens/s; replies as alone: {_same(found.same)}.", highlight=False)


def _show_interactive(found: Interactive, console: Console) -> None:
    table = Table(title=f"an interactive edit beside {found.n_batch} batch edits", title_justify="left")
    for heading in ("turns of others before its first token", "rounds of one of them", "of all of them"):
        table.add_column(heading, justify="right")
    for heading in ("first token ms", "alone ms"):
        table.add_column(heading, justify="right")
    for wait in found.waits:
        counted = (str(wait.turns), str(wait.rounds_of_one), str(wait.rounds_of_all))
        table.add_row(*counted, f"{wait.first_token_ms:.0f}", f"{wait.alone_ms:.0f}")
    console.print(table)
    failures = ", ".join(f"{name} {n}" for name, n in found.failures.items()) or "none"
    console.print(
        f"At most {found.most_turns} turns of others; replies as alone: {_same(found.same)}; failures: {failures}.",
        highlight=False,
    )


def _show_calls(found: Calls, console: Console) -> None:
    latency, late = found.latency_ms, found.late_ms
    console.print(
        f"status on {found.n_connections} connections: {found.answered_per_s:,.0f} of {found.wanted_per_s:,.0f} a "
        f"second, {found.n_failed} of {found.n_asked:,} failed; answered within {latency.p50:.1f} ms (half), "
        f"{latency.p90:.1f} (90 %), {latency.p99:.1f} (99 %), {latency.longest:.0f} (all) of when they were due; sent "
        f"within {late.p99:.1f} ms (99 %).\n"
        f"Beside them {found.n_edits} edits took {found.edit_ms.p50:.0f} ms (half of them), alone "
        f"{found.edit_alone_ms.p50:.0f} ms.",
        highlight=False,
    )


def _show_memory(found: Memory, console: Console) -> None:
    first, last = found.readings[1], found.readings[-1]
    console.print(
        f"{found.n_requests:,} requests, {found.n_cancelled} of them given up and {found.n_refused} refused: after the "
        f"first {first.n_requests:,} the process took {first.resident_bytes / 1e6:,.0f} MB and its arrays "
        f"{first.device_bytes / 1e6:,.0f} MB, at the end {last.resident_bytes / 1e6:,.0f} and "
        f"{last.device_bytes / 1e6:,.0f} MB.",
        highlight=False,
    )


def _same(same: Sameness) -> str:
    return f"{same.n_identical} of {same.n_compared}"


def _cells(found: Percentiles) -> tuple[str, ...]:
    return tuple(f"{value:.0f}" for value in (found.p50, found.p90, found.p99)) if found.n else ("", "", "")
