"""What a load bench is to do, by the options of the command."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Final

from plgd.bench.load.memory import N_READINGS
from plgd.bench.material.choice import choose
from plgd.errors import BenchError

__all__ = ("PARTS", "LoadPlan", "plan_load")

PARTS: Final = ("closed", "open", "interactive", "calls", "memory")

# What is taken where no option says, and with --quick.
_CLIENTS: Final = (1, 2, 4, 8)
_N_EDITS: Final = (16, 8)
_N_INTERACTIVE: Final = (8, 3)
_SECONDS: Final = (30, 5)
_N_REQUESTS: Final = (200, 40)
_N_CONNECTIONS: Final = 200
_CALLS_PER_S: Final = 2_000
_N_BATCH: Final = 8
_MAX_TOKENS: Final = 400


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """What to measure, and how much of it.

    Attributes:
        parts: of `PARTS`.
        clients: numbers of clients of the closed loop, ascending from 1.
        n_edits: edits of a closed loop, and arrivals of the open one.
        n_repeats: of the closed loops.
        load: arrivals of the open loop, in those that one client can have answered.
        n_batch: batch edits beside interactive ones.
        n_interactive: interactive edits.
        n_connections: that call for the status.
        calls_per_s: of all of them.
        seconds: how long they call.
        n_requests: over which the memory is watched.
        max_tokens: the longest reply.
    """

    parts: tuple[str, ...]
    clients: tuple[int, ...]
    n_edits: int
    n_repeats: int
    load: float
    n_batch: int
    n_interactive: int
    n_connections: int
    calls_per_s: int
    seconds: int
    n_requests: int
    max_tokens: int


def plan_load(arguments: argparse.Namespace) -> LoadPlan:
    """Take the options; what they leave out is the default.

    Raises:
        BenchError: a part is unknown, or there are too few requests to watch the memory.
    """
    quick = 1 if arguments.quick else 0
    n_requests = arguments.requests or _N_REQUESTS[quick]
    parts = tuple(choose("part", dict.fromkeys(PARTS), arguments.parts))
    if "memory" in parts and n_requests < 2 * N_READINGS:
        raise BenchError.unreadable(f"--requests {n_requests}", f"memory is watched over at least {2 * N_READINGS}")
    return LoadPlan(
        parts=parts,
        clients=tuple(sorted({1, *(arguments.clients or _CLIENTS)})),
        n_edits=arguments.n_edits or _N_EDITS[quick],
        n_repeats=arguments.repeats or 1,
        load=(arguments.arrivals or 70) / 100,
        n_batch=_N_BATCH,
        n_interactive=_N_INTERACTIVE[quick],
        n_connections=arguments.connections or _N_CONNECTIONS,
        calls_per_s=arguments.calls or _CALLS_PER_S,
        seconds=arguments.seconds or _SECONDS[quick],
        n_requests=n_requests,
        max_tokens=arguments.max_tokens or _MAX_TOKENS,
    )
