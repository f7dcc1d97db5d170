"""`plgd bench`: measurements of this machine."""

from __future__ import annotations

import argparse
import statistics
import time

import anyio
import msgspec

from plgd.client import connect
from plgd.paths import Paths
from plgd.protocol.messages import NoParams
from plgd.protocol.methods import PING
from plgd_cli.ask import CLIENT_NAME
from plgd_cli.output import write
from plgd_cli.parser import Parser, positive

__all__ = ("RoundTrips", "register")


class RoundTrips(msgspec.Struct, frozen=True, kw_only=True):
    """Times of the no-op request on one connection of a warm daemon, in milliseconds."""

    n_requests: int
    median_ms: float
    p10_ms: float
    p90_ms: float


def register(_name: str, parser: Parser) -> None:
    """Add the commands below `plgd bench`."""
    commands = parser.add_subparsers(dest="bench_command", metavar="COMMAND", required=True, title="commands")
    summary = "time a request that does nothing, from this process to the daemon and back"
    rpc = commands.add_parser("rpc", help=summary, description=f"{summary.capitalize()}.")
    rpc.add_argument("--count", type=positive, default=1000, metavar="N", help="requests (default 1000)")
    rpc.add_argument("--json", action="store_true", help="print the times as JSON")
    rpc.set_defaults(run=_rpc)


def _rpc(arguments: argparse.Namespace) -> int:
    times = anyio.run(_measure, arguments.count)
    if arguments.json:
        write(msgspec.json.encode(times) + b"\n")
    else:
        write(
            f"{times.n_requests:,} round trips on one connection: median {times.median_ms:.3f} ms, "
            f"10 % below {times.p10_ms:.3f} ms, 10 % above {times.p90_ms:.3f} ms\n"
        )
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
