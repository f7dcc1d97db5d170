"""What the daemon's memory does over many requests, wrong ones and cancelled ones among them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from plgd.bench.load.asking import Asking, ask, is_reply
from plgd.bench.load.lanes import BATCH
from plgd.bench.load.own_daemon import BENCH_CLIENT
from plgd.bench.load.results import Memory, MemoryReading
from plgd.bench.load.texts import make_edits
from plgd.bench.load.together import run_together
from plgd.client import Client, connect
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.methods import STATUS

__all__ = ("N_READINGS", "measure_memory")

N_READINGS: Final = 10
_N_CLIENTS: Final = 4
# All of them are seen within the first tenth of a long run, so that what is kept of documents does not grow later.
_N_DOCUMENTS: Final = 16
# Long enough for a few rounds, short enough for thousands of requests.
_MAX_TOKENS: Final = 12
# Of a hundred requests: how many the client gives up, half of them before the reply begins, and how many are wrong.
_CANCELLED: Final = 10
_WRONG: Final = 5


async def measure_memory(
    paths: Paths, asking: Asking, *, n_requests: int, on_progress: Callable[[str], None] = lambda _: None
) -> Memory:
    """Make random requests on a few documents with several clients, and read the daemon's memory now and then.

    Args:
        paths: of the daemon that runs.
        asking: names the model.
        n_requests: to make, at least `N_READINGS`.
        on_progress: told how far it is.

    Raises:
        DaemonError: the daemon cannot be reached, or went away.
    """
    async with connect(paths, client=BENCH_CLIENT, start=False) as watch:
        requests = _Requests(watch, replace(asking, max_tokens=_MAX_TOKENS), n_requests, on_progress)
        await requests.begin()

        async def work() -> None:
            async with connect(paths, client=BENCH_CLIENT, start=False) as client:
                await requests.work(client)

        await run_together(work for _ in range(_N_CLIENTS))
    return requests.result()


@dataclass(slots=True)
class _Requests:
    """Random requests, and what was read meanwhile.

    Attributes:
        watch: the connection on which the memory is read.
        asking: how edits are asked for.
        n_requests: to make.
        on_progress: told how far it is.
    """

    watch: Client
    asking: Asking
    n_requests: int
    on_progress: Callable[[str], None]
    _chance: random.Random = field(default_factory=lambda: random.Random(9))  # noqa: S311  # the same in every run
    _n_begun: int = 0
    _n_done: int = 0
    _n_cancelled: int = 0
    _n_refused: int = 0
    _readings: list[MemoryReading] = field(default_factory=list)

    async def begin(self) -> None:
        """Have the model loaded and take the first reading."""
        await ask(self.watch, make_edits(1)[0], self.asking, priority=BATCH)
        await self._read(0)

    async def work(self, client: Client) -> None:
        """Make requests on one connection until there are enough of all."""
        while self._n_begun < self.n_requests:
            self._n_begun += 1
            await self._make_one(client)
            self._n_done += 1
            if self._n_done % (self.n_requests // N_READINGS) == 0:
                self.on_progress(f"random requests: {self._n_done} of {self.n_requests}")
                await self._read(self._n_done)

    def result(self) -> Memory:
        """Say what was found."""
        first, last = self._readings[1], self._readings[-1]
        return Memory(
            n_requests=self._n_done,
            n_cancelled=self._n_cancelled,
            n_refused=self._n_refused,
            readings=tuple(self._readings),
            resident_growth_bytes=last.resident_bytes - first.resident_bytes,
            device_growth_bytes=last.device_bytes - first.device_bytes,
        )

    async def _make_one(self, client: Client) -> None:
        edit = make_edits(_N_DOCUMENTS)[self._chance.randrange(_N_DOCUMENTS)]
        drawn = self._chance.randrange(100)
        if drawn < _CANCELLED:
            with anyio.CancelScope() as scope:
                gives_up_at_once = drawn < _CANCELLED // 2
                await ask(
                    client,
                    edit,
                    self.asking,
                    priority=BATCH,
                    on_note=lambda note: scope.cancel() if gives_up_at_once or is_reply(note) else None,
                )
            self._n_cancelled += scope.cancelled_caught
        elif drawn < _CANCELLED + _WRONG:
            wrong = replace(self.asking, model="no-such-model")
            self._n_refused += bool((await ask(client, edit, wrong, priority=BATCH)).error)
        else:
            await ask(client, edit, self.asking, priority=BATCH)

    async def _read(self, n_requests: int) -> None:
        status = await self.watch.call(STATUS, NoParams())
        memory = (status.resident_bytes, status.device_bytes)
        self._readings.append(MemoryReading(n_requests=n_requests, resident_bytes=memory[0], device_bytes=memory[1]))
