"""`plgd bench --host`: what governor, index and bookkeeping take of a round, measured on a target that is free."""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table

from plgd.bench.host.edits import EDIT_LINES, make_edits, measure_edit
from plgd.bench.host.free_target import FreeTarget
from plgd.bench.options import DEFAULT_REPEATS
from plgd.engine.governor import POLICIES, make_governor, make_proposer
from plgd.engine.session import Session
from plgd.engine.stops import Stops

__all__ = ("HostCost", "measure_host", "run")

CONTEXTS: Final = (1_000, 8_000, 32_000)
N_REPLY: Final = 2_000
VOCABULARY: Final = 50_000
# One token in so many of the reply differs from the prompt: often enough for the governor to have work in each round.
EDIT_EVERY: Final = 25
PREFILL_SLICE: Final = 512


class HostCost(msgspec.Struct, frozen=True, kw_only=True):
    """What plgd's own loop takes.

    Attributes:
        n_context: tokens of the prompt.
        n_rounds: rounds of the reply.
        round_us: median over the repeats of the mean time of a round.
        token_us: the same per committed token.
        prefill_us: the same per token of the prompt, for the index.
    """

    n_context: int
    n_rounds: int
    round_us: float
    token_us: float
    prefill_us: float


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure each policy at each context length, and each kind of edit of a long document, and report."""
    n_repeats = arguments.repeats or DEFAULT_REPEATS
    found = {
        policy: [measure_host(policy, n_context, n_repeats=n_repeats) for n_context in CONTEXTS] for policy in POLICIES
    }
    tokenizer, traces = make_edits(EDIT_LINES)
    edits = [measure_edit(trace, tokenizer, n_repeats=n_repeats) for trace in traces]
    if arguments.json:
        console.file.write(msgspec.json.encode({"policies": found, "edits": edits}).decode() + "\n")
        return
    table = Table(title="plgd's own time, microseconds", title_justify="left")
    for heading in ("policy", "context", "rounds", "per round", "per token", "index, per prompt token"):
        table.add_column(heading, justify="left" if heading == "policy" else "right")
    for policy, costs in found.items():
        table.add_section()
        for index, cost in enumerate(costs):
            times = (f"{value:.1f}" for value in (cost.round_us, cost.token_us, cost.prefill_us))
            table.add_row("" if index else policy, f"{cost.n_context:,}", str(cost.n_rounds), *times)
    console.print(table)
    table = Table(title=f"edits of {EDIT_LINES:,} lines, drafted from the file", title_justify="left")
    for heading in ("kind", "rounds", "per round", "per token"):
        table.add_column(heading, justify="left" if heading == "kind" else "right")
    for edit in edits:
        table.add_row(edit.kind, str(edit.n_rounds), f"{edit.round_us:.1f}", f"{edit.token_us:.1f}")
    console.print(table)


def measure_host(
    policy: str, n_context: int, *, n_repeats: int, clock: Callable[[], float] = time.process_time
) -> HostCost:
    """Decode a rewrite of the end of a random prompt, with single tokens changed.

    Args:
        policy: the governor's policy.
        n_context: tokens of the prompt.
        n_repeats: replies; the median counts.
        clock: seconds from any start; by default of this process alone, since nothing here waits. The governor sees it
            too.
    """
    prompt, reply = _make_rewrite(n_context)
    decode_s, prefill_s = [], []
    for _ in range(n_repeats):
        session = Session(FreeTarget(reply), make_proposer(policy), make_governor(policy), clock=clock)
        started_at = clock()
        for _ in session.prefill(prompt, PREFILL_SLICE):
            pass
        prefilled_at = clock()
        with closing(session.decode(Stops(frozenset(), N_REPLY))) as rounds:
            for _ in rounds:
                pass
        decode_s.append(clock() - prefilled_at)
        prefill_s.append(prefilled_at - started_at)
    decode_us = 1e6 * statistics.median(decode_s)
    return HostCost(
        n_context=n_context,
        n_rounds=session.stats.n_rounds,
        round_us=decode_us / session.stats.n_rounds,
        token_us=decode_us / N_REPLY,
        prefill_us=1e6 * statistics.median(prefill_s) / n_context,
    )


def _make_rewrite(n_context: int) -> tuple[Sequence[int], Sequence[int]]:
    chance = random.Random(n_context)  # noqa: S311  # a fixed text, no secret
    prompt = [chance.randrange(VOCABULARY) for _ in range(n_context)]
    source = prompt[-N_REPLY:]
    copied = [source[place % len(source)] for place in range(N_REPLY + 1)]
    return prompt, [token + VOCABULARY if place % EDIT_EVERY == 0 else token for place, token in enumerate(copied)]
