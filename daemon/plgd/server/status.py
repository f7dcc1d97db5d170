"""Words and numbers for `status`."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from plgd.protocol.daemon import JobInfo
from plgd.protocol.edits import Stage
from plgd.server.worker import WorkerState

__all__ = ("State", "resident_bytes", "say_state")

State: TypeAlias = Literal["idle", "loading", "ready", "busy", "failed", "stopping"]


def say_state(worker: WorkerState, jobs: Sequence[JobInfo], *, stopping: bool) -> tuple[State, str]:
    """Return the daemon's state and a sentence about it for a person."""
    running = [job for job in jobs if job.stage not in {Stage.QUEUED, Stage.LOADING}]
    waiting = len(jobs) - len(running)
    if stopping:
        return "stopping", f"Finishing {_edits(len(jobs))}, then exiting." if jobs else "Exiting."
    if worker.phase == "loading":
        return "loading", f"Loading {worker.model}, {worker.loading_percent:.0f} %; {_edits(waiting)} waiting for it."
    if jobs:
        return "busy", f"Working on {_edits(len(running))}, {waiting} waiting."
    if worker.phase == "failed":
        return "failed", worker.error
    if worker.phase == "ready":
        return "ready", f"{worker.model} is in memory."
    return "idle", "No model is in memory; the next edit loads it."


def _edits(n: int) -> str:
    return f"{n} edit" if n == 1 else f"{n} edits"


def resident_bytes() -> int:
    """Return the memory of this process; on macOS, where the present figure needs a library, the most it ever had."""
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    else:  # noqa: RET505  # mypy looks at one platform at a time
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
