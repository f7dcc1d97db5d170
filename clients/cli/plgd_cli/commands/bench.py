"""`plgd bench`: measurements of this machine.

What needs the model runs in a process of its own, in the environment that the daemon gets; this one may not load it.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Final, NoReturn

import anyio
import msgspec

from plgd.bench.options import add_options, find_misplaced
from plgd.client import connect
from plgd.launch import daemon_environment
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.methods import PING
from plgd_cli.ask import CLIENT_NAME
from plgd_cli.output import write
from plgd_cli.parser import Parser, positive
from plgd_lsp.bench import measure, say

__all__ = ("RoundTrips", "register")

DEFAULT_COUNT: Final = 1000


class RoundTrips(msgspec.Struct, frozen=True, kw_only=True):
    """Times of the no-op request on one connection of a warm daemon, in milliseconds."""

    n_requests: int
    median_ms: float
    p10_ms: float
    p90_ms: float


def register(_name: str, parser: Parser) -> None:
    """Add the options of `plgd bench`."""
    mode = add_options(parser)
    summary = "the time of a request that does nothing, from this process to the daemon and back"
    mode.add_argument("--rpc", dest="mode", action="store_const", const="rpc", help=summary)
    summary = "what the way over the language server costs: status, edits, code actions, changes"
    mode.add_argument("--lsp", dest="mode", action="store_const", const="lsp", help=summary)
    rpc = parser.add_argument_group("for --rpc and --lsp")
    rpc.add_argument("--count", type=positive, metavar="N", help=f"requests (default {DEFAULT_COUNT})")
    parser.set_defaults(run=partial(_run, parser))


def _run(parser: Parser, arguments: argparse.Namespace) -> int:
    if (misplaced := find_misplaced(arguments)) is not None:
        parser.error(misplaced)
    if arguments.mode == "rpc":
        return _time_requests(arguments)
    if arguments.mode == "lsp":
        return _time_language_server(arguments)
    if arguments.count is not None:
        parser.error("--count belongs to --rpc and --lsp")
    return _hand_over(arguments.words)


def _hand_over(words: Sequence[str]) -> NoReturn:
    """Become the process that measures."""
    # -P: a module in the working folder must not shadow one of plgd's.
    command = [sys.executable, "-P", "-m", "plgd", "bench", *words]
    # It takes Ctrl-C once it can answer.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.execve(sys.executable, command, daemon_environment(Paths.from_environment()))  # noqa: S606  # our own interpreter


def _time_requests(arguments: argparse.Namespace) -> int:
    times = anyio.run(_measure, arguments.count or DEFAULT_COUNT)
    if arguments.json:
        write(msgspec.json.encode(times) + b"\n")
    else:
        write(
            f"{times.n_requests:,} round trips on one connection: median {times.median_ms:.3f} ms, "
            f"10 % below {times.p10_ms:.3f} ms, 10 % above {times.p90_ms:.3f} ms\n"
        )
    return 0


def _time_language_server(arguments: argparse.Namespace) -> int:
    times = anyio.run(measure, arguments.count or DEFAULT_COUNT)
    write(msgspec.json.encode(times) + b"\n" if arguments.json else say(times))
    return 0


async def _measure(n_requests: int) -> RoundTrips:
    times_ms = []
    async with connect(Paths.from_environment(), client=CLIENT_NAME, start=True) as client:
        await client.call(PING, NoParams())  # the first answer also pays for what both sides set up lazily
        for _ in range(n_requests):
            start = time.perf_counter()
            await client.call(PING, NoParams())
            times_ms.append((time.perf_counter() - start) * 1000)
    deciles = statistics.quantiles(times_ms, n=10) if n_requests > 1 else times_ms * 9
    return RoundTrips(n_requests=n_requests, median_ms=deciles[4], p10_ms=deciles[0], p90_ms=deciles[8])
