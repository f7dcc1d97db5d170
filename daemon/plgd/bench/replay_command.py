"""`plgd bench --replay`: policies side by side on release pairs and synthetic edits, without weights."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from rich.console import Console
from rich.table import Table

from plgd.bench.corpus import load_corpus, read_listing
from plgd.bench.cost_tables import SHIPPED, load_cost_tables
from plgd.bench.pairs import FilePair, pairs_from_folders
from plgd.bench.progress import Progress
from plgd.bench.replay import REPLAYED, TableResult, replay
from plgd.bench.synthetic import ADVERSARIAL, SYNTHETIC, edit_of, unforeseen
from plgd.bench.trace import PlainTokenizer, Trace, make_trace, open_tokenizer
from plgd.config import load_config
from plgd.errors import BenchError
from plgd.models.catalog import resolve
from plgd.paths import Paths

__all__ = ("RELEASE", "ReplayReport", "load_plotter", "make_traces", "run", "show_replay")

Value = TypeVar("Value")

RELEASE: Final = "release"
KINDS: Final = (RELEASE, *SYNTHETIC, *ADVERSARIAL)

# Pairs of one package and language, and packages, in a full and in a quick replay.
N_EACH: Final = 3
QUICK_PACKAGES: Final = 6
# Pairs that a synthetic kind is made of, so that it takes about as long as a few packages.
N_SYNTHETIC: Final = 24


class ReplayReport(msgspec.Struct, frozen=True):
    """What a replay found.

    Attributes:
        tables: by cost table.
        n_traces: edits that were replayed, by kind.
        n_tokens: tokens of their replies.
    """

    tables: dict[str, TableResult]
    n_traces: dict[str, int]
    n_tokens: int


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Replay and report.

    Raises:
        BenchError: a file, the corpus, a name or the tokenizer is missing or wrong.
        ModelError: the model whose tokenizer is used cannot be found.
    """
    plot = load_plotter() if arguments.plot is not None else None
    tables = _choose("cost table", load_cost_tables(arguments.cost_tables or SHIPPED), arguments.tables)
    policies = _choose("policy", REPLAYED, arguments.policies)
    kinds = tuple(_choose("kind of edit", dict.fromkeys(KINDS), arguments.kinds or (RELEASE,)))
    paths = Paths.from_environment()
    folder = arguments.tokenizer or resolve(arguments.model, paths, load_config(paths.config_file)).folder
    tokenizer = open_tokenizer(folder)
    with Progress() as progress:
        pairs = _load_pairs(arguments, paths, progress.say)
        progress.say("tokenizing")
        traces = list(make_traces(pairs, kinds, tokenizer))
        if not traces:
            raise BenchError.unreadable("these files", "none of them has anything to edit in that way")
        found = replay(traces, tables, tokenizer, policies=policies, say=progress.say)
    counts = {kind: sum(trace.kind == kind for trace in traces) for kind in kinds}
    report = ReplayReport(found, counts, sum(len(trace.reply) for trace in traces))
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
        module = importlib.import_module("plgd.bench.replay_plot")
    except ModuleNotFoundError as error:
        raise BenchError.needs(error.name or "a module", "bench") from error
    plot: Callable[[dict[str, TableResult], Path], None] = module.plot_replay
    return plot


def make_traces(pairs: Sequence[FilePair], kinds: Sequence[str], tokenizer: PlainTokenizer) -> Iterator[Trace]:
    """Yield the traces of each kind: all pairs as they are, synthetic edits of as many as `N_SYNTHETIC`."""
    for kind in kinds:
        if kind == RELEASE:
            yield from (make_trace(pair, "Update to the next release.", kind, tokenizer) for pair in pairs)
            continue
        for pair in islice(_edits(pairs, kind), N_SYNTHETIC):
            yield make_trace(pair, kind.replace("-", " ").capitalize() + ".", kind, tokenizer)


def _edits(pairs: Sequence[FilePair], kind: str) -> Iterator[FilePair]:
    if kind in SYNTHETIC:
        yield from (edit for pair in pairs if (edit := edit_of(pair, kind)) is not None)
        return
    for pair, other in zip(pairs, islice(cycle(pairs), len(pairs) // 2, None), strict=False):
        if pair.package != other.package or len(pairs) == 1:
            yield unforeseen(pair, other, kind)


def show_replay(report: ReplayReport, console: Console) -> None:
    """Print a table for each cost table: one row for each policy."""
    kinds = ", ".join(f"{n} {kind}" for kind, n in report.n_traces.items())
    console.print(f"{kinds}; {report.n_tokens:,} tokens of reply", highlight=False)
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


def _load_pairs(arguments: argparse.Namespace, paths: Paths, say: Callable[[str], None]) -> Sequence[FilePair]:
    if arguments.pairs is not None:
        return pairs_from_folders(Path(arguments.pairs))
    packages = tuple(package for package in read_listing() if arguments.part in (None, package.part))
    if arguments.quick:
        packages = packages[:: max(len(packages) // QUICK_PACKAGES, 1)]
    return load_corpus(packages, paths.cache_dir / "corpus", n_each=1 if arguments.quick else N_EACH, say=say)


def _choose(what: str, known: Mapping[str, Value], names: Sequence[str] | None) -> dict[str, Value]:
    for name in names or ():
        if name not in known:
            raise BenchError.unreadable(f"{what} {name}", f"there are {', '.join(known)}")
    return {name: known[name] for name in names or known}
