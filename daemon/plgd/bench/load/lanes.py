"""Clients side by side: a closed loop, in which each asks when it was answered, and an open one of random arrivals."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

import anyio

from plgd.bench.load.asking import Asked, Asking, ask
from plgd.bench.load.own_daemon import BENCH_CLIENT
from plgd.bench.load.texts import LoadEdit
from plgd.bench.load.together import run_together
from plgd.client import connect
from plgd.paths import Paths

__all__ = ("BATCH", "INTERACTIVE", "closed_loop", "open_loop")

INTERACTIVE: Final = "interactive"
BATCH: Final = "batch"

# Connections of an open loop for each class; an agent has one, and so has an editor.
_OPEN_CONNECTIONS: Final = 8


async def closed_loop(
    paths: Paths, edits: Sequence[LoadEdit], asking: Asking, *, n_clients: int, priority: str = INTERACTIVE
) -> Sequence[Asked]:
    """Let clients take edits from one list, each the next when its last is answered, until all are answered.

    Args:
        paths: of the daemon that runs.
        edits: in the order in which they are begun.
        asking: how edits are asked for.
        n_clients: each has a connection of its own.
        priority: the class of all.

    Returns:
        In the order in which they were answered.

    Raises:
        DaemonError: the daemon cannot be reached, or went away.
    """
    left, answered = deque(edits), []

    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(connect(paths, client=BENCH_CLIENT, start=False)) for _ in range(n_clients)
        ]

        async def work(number: int) -> None:
            while left:
                answered.append(await ask(clients[number], left.popleft(), asking, priority=priority, number=number))

        await run_together(partial(work, number) for number in range(n_clients))
    return answered


async def open_loop(
    paths: Paths,
    edits: Sequence[LoadEdit],
    asking: Asking,
    *,
    rate_per_s: float,
    interactive_share: float,
    seed: int = 1,
) -> Sequence[Asked]:
    """Ask for edits at random times, whether or not those before are answered.

    Args:
        paths: of the daemon that runs.
        edits: in the order of their arrival.
        asking: how edits are asked for.
        rate_per_s: arrivals per second, a Poisson process.
        interactive_share: chance of an edit to be interactive; the others are batch edits.
        seed: of the times and classes.

    Returns:
        In the order in which they were answered.

    Raises:
        DaemonError: the daemon cannot be reached, or went away.
    """
    chance = random.Random(seed)  # noqa: S311  # the same arrivals in every run
    answered: list[Asked] = []
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(connect(paths, client=BENCH_CLIENT, start=False))
            for _ in range(2 * _OPEN_CONNECTIONS)
        ]

        async def one(edit: LoadEdit, priority: str, number: int, due: float) -> None:
            await anyio.sleep_until(due)
            answered.append(await ask(clients[number], edit, asking, priority=priority, number=number))

        tasks, due = [], anyio.current_time()
        for place, edit in enumerate(edits):
            due += chance.expovariate(rate_per_s)
            is_interactive = chance.random() < interactive_share
            number = place % _OPEN_CONNECTIONS + (0 if is_interactive else _OPEN_CONNECTIONS)
            tasks.append(partial(one, edit, INTERACTIVE if is_interactive else BATCH, number, due))
        await run_together(tasks)
    return answered
