"""`plgd bench --warm`: what keeping documents warm is worth, and what it costs."""

from __future__ import annotations

import argparse
import os
from bisect import bisect_right
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table

from plgd.bench.first_token import FirstToken, measure_first_token
from plgd.bench.growth import Growth, measure_growth
from plgd.bench.keystrokes import Keystrokes, long_text, measure_keystrokes
from plgd.bench.machine import open_machine
from plgd.bench.options import DEFAULT_REPEATS
from plgd.bench.progress import Progress
from plgd.bench.report import describe_environment
from plgd.bench.results import Environment, Record
from plgd.config import load_config
from plgd.engine.model import BorderedTokenizer
from plgd.paths import Paths

__all__ = ("WarmBench", "run", "text_of")

LENGTHS: Final = (500, 2_000, 8_000)
LONG_LINES: Final = 20_000
KEYSTROKES: Final = 1_000
# Of a prompt besides its text, and the first token.
ROOM: Final = 160
REQUESTS: Final = 200


class WarmBench(Record, frozen=True):
    """Everything that was measured."""

    environment: Environment
    n_repeats: int
    first_tokens: tuple[FirstToken, ...]
    keystrokes: Keystrokes
    growth: Growth


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
        machine = open_machine(arguments.model, (1, 2, 8, 16), paths, config, on_progress=progress.say)
        first_tokens = []
        for n_tokens in arguments.lengths or LENGTHS:
            if n_tokens + ROOM > machine.model.context_limit:
                continue
            progress.say(f"first token behind {n_tokens} tokens")
            text = text_of(machine.model.tokenizer, n_tokens)
            first_tokens.append(measure_first_token(machine.model, text, config.engine, n_repeats=n_repeats))
        progress.say("keystrokes")
        keystrokes = measure_keystrokes(machine.model.tokenizer, n_lines=LONG_LINES, n_keystrokes=KEYSTROKES)
        growth = measure_growth(
            machine.model,
            config.engine,
            n_requests=arguments.requests or REQUESTS,
            active_bytes=lambda: machine.active_bytes,
            on_progress=progress.say,
        )
    environment = msgspec.structs.replace(machine.environment, load_after=round(os.getloadavg()[0], 2))
    found = WarmBench(
        environment=environment,
        n_repeats=n_repeats,
        first_tokens=tuple(first_tokens),
        keystrokes=keystrokes,
        growth=growth,
    )
    if arguments.json:
        console.file.write(msgspec.json.encode(found).decode() + "\n")
    else:
        _show(found, console)


def text_of(tokenizer: BorderedTokenizer, n_tokens: int) -> str:
    """Write as many whole lines as have at most so many tokens together."""
    lines = long_text(n_tokens).splitlines(keepends=True)
    n_lines = bisect_right(range(len(lines) + 1), n_tokens, key=lambda n: len(tokenizer.encode("".join(lines[:n]))))
    return "".join(lines[: n_lines - 1])


def _show(found: WarmBench, console: Console) -> None:
    console.print(describe_environment(found.environment), highlight=False)
    table = Table(title="time to the first token, ms", title_justify="left")
    for heading in (
        "prompt tokens",
        "warm tokens",
        "cold",
        "warm",
        "cold / warm",
        "rest and 2 steps",
        "ratio",
        "tokens then",
    ):
        table.add_column(heading, justify="right")
    for each in found.first_tokens:
        times = [f"{each.cold_ms:.0f}", f"{each.warm_ms:.0f}", f"{each.speedup:.1f}"]
        times += [f"{each.bound_ms:.0f}", f"{each.warm_ms / each.bound_ms:.2f}"]
        table.add_row(f"{each.prompt_tokens:,}", f"{each.cached_tokens:,}", *times, str(each.first_tokens))
    console.print(table)
    keys, growth = found.keystrokes, found.growth
    console.print(
        f"A keystroke in the middle of {keys.n_lines:,} lines ({keys.n_tokens:,} tokens): median {keys.p50_ms:.2f} ms, "
        f"99 % below {keys.p99_ms:.2f} ms, longest {keys.longest_ms:.2f} ms.",
        highlight=False,
    )
    kept, limit, process, arrays = (
        n_bytes / 1e6
        for n_bytes in (
            growth.most_kept_bytes,
            growth.limit_bytes,
            growth.resident_growth_bytes,
            growth.device_growth_bytes,
        )
    )
    console.print(
        f"{growth.n_requests:,} requests on {growth.n_documents} documents, {growth.n_warm:,} of them warm: kept up to "
        f"{growth.n_kept} states, {kept:.0f} MB of {limit:.0f} MB; after the first tenth the process grew by "
        f"{process:+.0f} MB, its arrays by {arrays:+.0f} MB.",
        highlight=False,
    )
