"""Traces in real time as a table for people."""

from __future__ import annotations

import statistics
from typing import Final

from rich.console import Console
from rich.table import Table

from plgd.bench.report import describe_environment
from plgd.bench.traces.results import PolicyTime, TracesResult
from plgd.bench.traces.run import TIMED

__all__ = ("show_traces",)

HEADINGS: Final = (
    "prefill ms",
    "decode ms",
    "tok/s",
    "speed-up",
    "replayed, initial",
    "final",
    "measured",
    "measured / expected ms",
    "rounds",
    "tok/round",
)


def show_traces(result: TracesResult, console: Console) -> None:
    """Print a row for each trace and policy, and the geometric means."""
    console.print(describe_environment(result.environment), highlight=False)
    left_out = f"; no time for {result.n_left_out} more, or no end to their replies" if result.n_left_out else ""
    title = f"{len(result.traces)} edits in real time, prefill apart, median of {result.n_repeats}{left_out}"
    table = Table(title=title, title_justify="left")
    table.add_column("edit (tokens of prompt + reply)", overflow="fold", max_width=40)
    table.add_column("policy")
    for heading in HEADINGS:
        table.add_column(heading, justify="right", max_width=10)
    table.add_column("accepted / drafted", overflow="fold")
    for trace in result.traces:
        table.add_section()
        sign = "" if trace.as_meant else ", not as asked"
        name = f"{trace.kind}: {trace.name} ({trace.n_prompt_tokens} + {trace.n_tokens}{sign})"
        for policy, found in trace.policies.items():
            table.add_row(name if policy == TIMED[0] else "", policy, *_cells(found, trace.n_tokens))
    table.add_section()
    for policy, means in result.means.items():
        expected = f"{min(means.of_expected):.2f}-{max(means.of_expected):.2f}"
        predicted = (f"{value:.2f} ({means.of_predicted[name]:.2f})" for name, value in means.predicted.items())
        cells = ("", "", "", f"{means.speedup:.2f}", *predicted, expected)
        table.add_row("all (of the replayed speed-up)" if policy == TIMED[0] else "", policy, *cells)
    console.print(table)


def _cells(found: PolicyTime, n_tokens: int) -> tuple[str, ...]:
    decode_ms = statistics.median(found.decode_ms)
    return (
        f"{statistics.median(found.prefill_ms):.0f}",
        f"{decode_ms:.0f}",
        f"{1000.0 * n_tokens / decode_ms:.1f}",
        f"{found.speedup:.2f}",
        *(f"{found.predicted[table]:.2f}" for table in ("initial", "final", "measured")),
        f"{sum(found.decode_ms) / sum(found.expected_ms):.2f}",
        str(found.n_rounds),
        f"{found.tokens_per_round:.2f}",
        "  ".join(f"{who} {fare.n_accepted}/{fare.n_drafted}" for who, fare in found.proposers.items()),
    )
