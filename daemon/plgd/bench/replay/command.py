"""`plgd bench --replay`: policies side by side on release pairs and synthetic edits, without weights."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from plgd.bench.material.choice import KINDS, RELEASE, choose, load_pairs, make_traces
from plgd.bench.progress import Progress
from plgd.bench.replay.bound import can_be_aligned
from plgd.bench.replay.cost_tables import SHIPPED, load_cost_tables
from plgd.bench.replay.run import REPLAYED, TableResult, replay
from plgd.bench.replay.trace import open_tokenizer
from plgd.config import load_config
from plgd.errors import BenchError
from plgd.models.catalog import resolve
from plgd.paths import Paths

__all__ = ("ReplayReport", "load_plotter", "run", "show_replay")


class ReplayReport(msgspec.Struct, frozen=True):
    """What a replay found.

    Attributes:
        tables: by cost table.
        n_traces: edits that were replayed, by kind.
        n_tokens: tokens of their replies.
        n_bounded_by_ends: edits that repeat too much to be aligned; their bound knows what they begin and end with.
    """

    tables: dict[str, TableResult]
    n_traces: dict[str, int]
    n_tokens: int
    n_bounded_by_ends: int


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Replay and report.

    Raises:
        BenchError: a file, the corpus, a name or the tokenizer is missing or wrong.
        ModelError: the model whose tokenizer is used cannot be found.
    """
    plot = load_plotter() if arguments.plot is not None else None
    tables = choose("cost table", load_cost_tables(arguments.cost_tables or SHIPPED), arguments.tables)
    policies = choose("policy", REPLAYED, arguments.policies)
    kinds = tuple(choose("kind of edit", dict.fromkeys(KINDS), arguments.kinds or (RELEASE,)))
    paths = Paths.from_environment()
    folder = arguments.tokenizer or resolve(arguments.model, paths, load_config(paths.config_file)).folder
    tokenizer = open_tokenizer(folder)
    with Progress() as progress:
        pairs = load_pairs(arguments, paths, progress.say)
        progress.say("tokenizing")
        traces = list(make_traces(pairs, kinds, tokenizer))
        if not traces:
            raise BenchError.unreadable("these files", "none of them has anything to edit in that way")
        found = replay(traces, tables, tokenizer, policies=policies, say=progress.say)
    counts = {kind: sum(trace.kind == kind for trace in traces) for kind in kinds}
    report = ReplayReport(
        found,
        counts,
        n_tokens=sum(len(trace.reply) for trace in traces),
        n_bounded_by_ends=sum(not can_be_aligned(trace.source, trace.reply) for trace in traces),
    )
    if arguments.json:
        console.file.write(msgspec.json.encode(report).decode() + "\n")
    else:
        show_replay(report, console)
    if plot is not None:
        plot(report.tables, arguments.plot)


def load_plotter() -> Callable[[dict[str, TableResult], Path], None]:
    """Find out before anything is replayed whether a plot can be drawn.

    Raises:
        BenchError: matplotlib is missing.
    """
    try:
        module = importlib.import_module("plgd.bench.replay.plot")
    except ModuleNotFoundError as error:
        raise BenchError.needs(error.name or "a module", "bench") from error
    plot: Callable[[dict[str, TableResult], Path], None] = module.plot_replay
    return plot


def show_replay(report: ReplayReport, console: Console) -> None:
    """Print a table for each cost table: one row for each policy."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in report.n_traces.items())
    console.print(f"{kinds}; {report.n_tokens:,} tokens of reply", highlight=False)
    if report.n_bounded_by_ends:
        console.print(
            f"{report.n_bounded_by_ends} of them repeat too much to be aligned: the bound knows what they begin and "
            "end with alike, and takes the rest to be new",
            highlight=False,
        )
    for name, result in report.tables.items():
        table = Table(title=f"{name}: bound {result.bound:.2f}", title_justify="left")
        table.add_column("policy")
        for heading in ("speed-up", "of the bound", "tok/round", "rounds"):
            table.add_column(heading, justify="right")
        table.add_column("accepted / drafted", overflow="fold")
        if len(report.n_traces) > 1:
            table.add_column("by kind", overflow="fold")
        for policy, found in result.policies.items():
            cells = [
                policy,
                f"{found.speedup:.2f}",
                f"{found.share_of_bound:.3f}",
                f"{found.tokens_per_round:.2f}",
                str(found.n_rounds),
                "  ".join(f"{who} {fare.n_accepted}/{fare.n_drafted}" for who, fare in found.proposers.items()),
            ]
            if len(report.n_traces) > 1:
                cells.append("  ".join(f"{kind} {speedup:.2f}" for kind, speedup in found.by_kind.items()))
            table.add_row(*cells)
        console.print(table)
        last = next(reversed(result.policies))
        for worst in result.policies[last].worst:
            share, speedup = f"{worst.share_of_bound:.2f} of the bound", f"{worst.speedup:.2f} times plain"
            console.print(f"  {last} on {worst.name} ({worst.kind}): {share}, {speedup}", highlight=False)
