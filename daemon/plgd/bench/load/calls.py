"""Many connections that ask for the status at fixed times, while an edit goes on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
import msgspec

from plgd.bench.load.asking import Asked, Asking, ask
from plgd.bench.load.lanes import INTERACTIVE
from plgd.bench.load.own_daemon import BENCH_CLIENT
from plgd.bench.load.results import Calls
from plgd.bench.load.summary import milliseconds, percentiles
from plgd.bench.load.texts import LoadEdit
from plgd.bench.load.together import run_together
from plgd.client import connect
from plgd.errors import ConnectionLost
from plgd.paths import Paths
from plgd.protocol import envelope
from plgd.protocol.base import NoParams
from plgd.protocol.daemon import PROTOCOL_VERSION, HelloParams
from plgd.protocol.methods import HELLO, STATUS
from plgd.version import __version__

__all__ = ("measure_calls",)

# Answers that are still missing so long after the last call count as failed.
_PATIENCE_S: Final = 10.0
# Calls are sent in bursts so far apart at the least: finer than a person or an editor can tell.
_TICK_S: Final = 0.002
_HELLO_ID: Final = 0


class _Answer(msgspec.Struct):
    """As much of an answer as matters here."""

    id: int | None = None
    error: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


@dataclass(slots=True)
class _Tally:
    """What all connections have seen. Times are seconds of one clock.

    Attributes:
        latencies_s: of the calls that were answered.
        late_s: of each call, how long after its time it was sent.
        n_failed: calls that were refused, or whose connection ended.
        last_s: when the last answer came.
        n_open: calls that are not answered.
        quiet: set while there are none.
    """

    latencies_s: list[float] = field(default_factory=list)
    late_s: list[float] = field(default_factory=list)
    n_failed: int = 0
    last_s: float = 0.0
    n_open: int = 0
    quiet: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self, late_s: float) -> None:
        """A call was sent."""
        self.late_s.append(late_s)
        self.n_open += 1
        self.quiet.clear()

    def end(self, n_calls: int, *, failed: bool) -> None:
        """Calls are over."""
        self.n_open -= n_calls
        self.n_failed += n_calls if failed else 0
        if not self.n_open:
            self.quiet.set()


class _Caller(asyncio.Protocol):
    """One connection. Lean, since this process shares the processors with the daemon that it measures."""

    def __init__(self, tally: _Tally) -> None:
        self._tally = tally
        self._decoder = msgspec.json.Decoder(_Answer)
        self._due: dict[int, float] = {}  # by the id of a call that is not answered: when it was due
        self._rest = b""
        self._n_calls = 0
        self.greeted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)  # noqa: S101  # what asyncio promises
        self._transport = transport
        params = HelloParams(protocol=PROTOCOL_VERSION, version=__version__, client=BENCH_CLIENT)
        transport.write(envelope.encode_request(_HELLO_ID, HELLO, params))

    def call(self, due: float) -> None:
        """Send a call that is due now."""
        if self._transport is None or self._transport.is_closing():
            self._tally.n_failed += 1
            return
        self._n_calls += 1
        self._due[self._n_calls] = due
        self._transport.write(envelope.encode_request(self._n_calls, STATUS, NoParams()))
        self._tally.begin(time.perf_counter() - due)

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            answer = self._decoder.decode(line)
            failed = not isinstance(answer.error, msgspec.UnsetType)
            if answer.id == _HELLO_ID and not self.greeted.done():
                if failed:
                    self.greeted.set_exception(ConnectionLost())
                else:
                    self.greeted.set_result(None)
                continue
            due = self._due.pop(answer.id, None) if answer.id is not None else None
            if due is None:
                continue  # about the connection as a whole: it ends, and what is open with it
            self._tally.last_s = now
            self._tally.end(1, failed=failed)
            if not failed:
                self._tally.latencies_s.append(now - due)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if not self.greeted.done():
            self.greeted.set_exception(ConnectionLost())
        self._give_up()

    def close(self) -> None:
        """Count what was never answered, and close."""
        self._give_up()
        if self._transport is not None:
            self._transport.close()

    def _give_up(self) -> None:
        self._tally.end(len(self._due), failed=True)
        self._due.clear()


async def measure_calls(
    paths: Paths,
    edits: Sequence[LoadEdit],
    asking: Asking,
    *,
    n_connections: int,
    rate_per_s: float,
    seconds: float,
) -> Calls:
    """Call on all connections in turn, at fixed times, and let one client edit meanwhile.

    A call counts from the time at which it was due, whenever it was sent: a daemon that holds the others up does not
    look faster for it.

    Args:
        paths: of the daemon that runs.
        edits: carried out alone first, then again and again beside the calls.
        asking: how edits are asked for.
        n_connections: that call.
        rate_per_s: calls that are due per second.
        seconds: how long calls are due.

    Raises:
        DaemonError: the daemon cannot be reached, or went away.
    """
    loop, tally = asyncio.get_running_loop(), _Tally()
    async with connect(paths, client=BENCH_CLIENT, start=False) as client:
        alone = [await ask(client, edit, asking, priority=INTERACTIVE) for edit in edits]
        callers = []
        try:
            for _ in range(n_connections):
                _, caller = await loop.create_unix_connection(partial(_Caller, tally), str(paths.socket))
                callers.append(caller)
                await caller.greeted
            beside: list[Asked] = []
            over = asyncio.Event()

            async def edit_on() -> None:
                while not over.is_set():
                    beside.append(await ask(client, edits[len(beside) % len(edits)], asking, priority=INTERACTIVE))

            async def call_all() -> None:
                try:
                    await _call_in_time(callers, tally, rate_per_s, seconds)
                finally:
                    over.set()

            started_s = time.perf_counter()
            await run_together((edit_on, call_all))
        finally:
            for caller in callers:
                caller.close()
    took_s = max(seconds, tally.last_s - started_s)
    return Calls(
        n_connections=n_connections,
        wanted_per_s=rate_per_s,
        answered_per_s=len(tally.latencies_s) / took_s,
        n_asked=len(tally.latencies_s) + tally.n_failed,
        n_failed=tally.n_failed,
        latency_ms=milliseconds(tally.latencies_s),
        late_ms=milliseconds(tally.late_s),
        n_edits=len(beside),
        edit_ms=percentiles(1000.0 * (each.ended_s - each.asked_s) for each in beside),
        edit_alone_ms=percentiles(1000.0 * (each.ended_s - each.asked_s) for each in alone),
    )


async def _call_in_time(callers: Sequence[_Caller], tally: _Tally, rate_per_s: float, seconds: float) -> None:
    """Send each call when it is due, then wait for the answers."""
    n_calls, started_s, n_sent = round(rate_per_s * seconds), time.perf_counter(), 0
    while n_sent < n_calls:
        now = time.perf_counter()
        while n_sent < n_calls and (due := started_s + n_sent / rate_per_s) <= now:
            callers[n_sent % len(callers)].call(due)
            n_sent += 1
        await asyncio.sleep(_TICK_S)
    with anyio.move_on_after(_PATIENCE_S):
        await tally.quiet.wait()
