"""Carries out a plan on daemons of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from plgd.bench.load.asking import Asked, Asking
from plgd.bench.load.calls import measure_calls
from plgd.bench.load.interactive import measure_interactive, replies_of
from plgd.bench.load.lanes import BATCH, INTERACTIVE, closed_loop, open_loop
from plgd.bench.load.memory import measure_memory
from plgd.bench.load.own_daemon import BENCH_CLIENT, own_daemon
from plgd.bench.load.plan import LoadPlan
from plgd.bench.load.results import Calls, Interactive, Memory, OpenLoop
from plgd.bench.load.summary import class_times, sameness
from plgd.bench.load.texts import LoadEdit, make_edits
from plgd.client import connect
from plgd.config import Config, WarmConfig
from plgd.errors import BenchError
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.daemon import SharingInfo
from plgd.protocol.methods import STATUS

__all__ = ("ClosedRun", "LoadFound", "carry_out", "measure_on")

_INTERACTIVE_SHARE: Final = 0.3
# Edits that go on beside the calls, in turn.
_N_BESIDE: Final = 4
# Kept KV while the memory is watched: full long before the first tenth of the requests is over.
_KV_BYTES: Final = 64 * 2**20


@dataclass(frozen=True, slots=True)
class ClosedRun:
    """One closed loop.

    Attributes:
        n_clients: how many clients it had.
        repeat: from 0.
        asked: what came of it.
        took_s: how long it took.
        sharing: the turns of the model in it.
    """

    n_clients: int
    repeat: int
    asked: Sequence[Asked]
    took_s: float
    sharing: SharingInfo

    @property
    def tokens_per_s(self) -> float:
        """Committed tokens of all replies by the time that the list took."""
        return sum(each.n_tokens for each in self.asked) / self.took_s


@dataclass(slots=True)
class LoadFound:
    """What was found; None or empty what was not asked for.

    Attributes:
        alone: number of an edit -> how it went with nothing else going on, first of all.
    """

    alone: Mapping[int, Asked] = field(default_factory=dict)
    closed: list[ClosedRun] = field(default_factory=list)
    open_loop: OpenLoop | None = None
    interactive: Interactive | None = None
    calls: Calls | None = None
    memory: Memory | None = None


async def carry_out(
    plan: LoadPlan, model: str, paths: Paths, config: Config, on_progress: Callable[[str], None]
) -> LoadFound:
    """Measure what the plan says.

    Edits of the loops begin cold, so that every repeat has the same work; the memory is watched as documents become
    warm.

    Args:
        plan: what to do.
        model: the model's full name.
        paths: the user's folders.
        config: the user's settings.
        on_progress: told what happens.

    Raises:
        DaemonError: the daemon cannot be started, or went away.
        BenchError: the model cannot carry out an edit.
    """
    found, edits = LoadFound(), make_edits(plan.n_edits)
    asking = Asking(model, plan.max_tokens, config.engine.prefill_slice)
    if set(plan.parts) - {"memory"}:
        cold = msgspec.structs.replace(config, warm=WarmConfig(enabled=False))
        async with own_daemon(paths, cold) as own:
            await measure_on(own, plan, edits, asking, found, on_progress)
    if "memory" in plan.parts:
        small = msgspec.structs.replace(config, warm=WarmConfig(kv_bytes=_KV_BYTES))
        async with own_daemon(paths, small) as own:
            found.memory = await measure_memory(own, asking, n_requests=plan.n_requests, on_progress=on_progress)
    return found


async def measure_on(
    own: Paths,
    plan: LoadPlan,
    edits: Sequence[LoadEdit],
    asking: Asking,
    found: LoadFound,
    on_progress: Callable[[str], None],
) -> None:
    """Measure everything but the memory on a daemon that runs, and put it into what was found."""
    on_progress("loading the model")
    # Untimed: loads the model, and compiles what several edits at once need.
    await closed_loop(own, edits, asking, n_clients=max(plan.clients))
    for repeat in range(plan.n_repeats if "closed" in plan.parts else 1):
        for n_clients in plan.clients if "closed" in plan.parts else (1,):
            on_progress(f"{n_clients} clients, {repeat + 1} of {plan.n_repeats}")
            before, started_s = await _read_sharing(own), time.perf_counter()
            asked = await closed_loop(own, edits, asking, n_clients=n_clients)
            took_s = time.perf_counter() - started_s
            sharing = _less(await _read_sharing(own), before)
            found.closed.append(ClosedRun(n_clients, repeat, asked, took_s, sharing))
    found.alone = {each.edit.number: each for each in found.closed[0].asked}
    if failed := next((each.error for each in found.alone.values() if each.error), None):
        raise BenchError.unreadable("this model", f"it could not carry out an edit ({failed})")
    if "open" in plan.parts:
        on_progress("random arrivals")
        found.open_loop = await _measure_open(own, plan, edits, asking, found)
    if "interactive" in plan.parts:
        found.interactive = await measure_interactive(
            own,
            edits,
            asking,
            n_batch=plan.n_batch,
            n_interactive=plan.n_interactive,
            alone=found.alone,
            on_progress=on_progress,
        )
    if "calls" in plan.parts:
        on_progress(f"{plan.n_connections} connections")
        found.calls = await measure_calls(
            own,
            edits[:_N_BESIDE],
            asking,
            n_connections=plan.n_connections,
            rate_per_s=plan.calls_per_s,
            seconds=plan.seconds,
        )


async def _read_sharing(own: Paths) -> SharingInfo:
    async with connect(own, client=BENCH_CLIENT, start=False) as client:
        return (await client.call(STATUS, NoParams())).sharing


def _less(after: SharingInfo, before: SharingInfo) -> SharingInfo:
    """Return what was counted between two looks; the reason is the latest."""
    return SharingInfo(
        turns=after.turns - before.turns,
        joint_turns=after.joint_turns - before.joint_turns,
        joint_rows=after.joint_rows - before.joint_rows,
        joint_passes=after.joint_passes - before.joint_passes,
        most_rows=after.most_rows,
        turns_because=after.turns_because,
    )


async def _measure_open(
    own: Paths, plan: LoadPlan, edits: Sequence[LoadEdit], asking: Asking, found: LoadFound
) -> OpenLoop:
    rate_per_s = plan.load * len(edits) / found.closed[0].took_s
    started_s = time.perf_counter()
    asked = await open_loop(own, edits, asking, rate_per_s=rate_per_s, interactive_share=_INTERACTIVE_SHARE)
    took_s = time.perf_counter() - started_s
    return OpenLoop(
        rate_per_s=rate_per_s,
        tokens_per_s=sum(each.n_tokens for each in asked) / took_s,
        classes=tuple(class_times(asked, priority) for priority in (INTERACTIVE, BATCH)),
        same=sameness(asked, replies_of(found.alone)),
    )
