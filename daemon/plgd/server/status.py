"""Words and numbers for `status`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

from plgd.documents.store import Seen
from plgd.documents.warm import WarmCounts
from plgd.protocol.daemon import DocumentInfo, JobInfo, SharingInfo, WarmInfo
from plgd.protocol.edits import Stage
from plgd.server.resident import WorkerState
from plgd.server.sharing import SharingCounts

__all__ = ("State", "describe_documents", "describe_sharing", "describe_warmth", "say_state")

State: TypeAlias = Literal["idle", "loading", "ready", "busy", "failed", "stopping"]


def say_state(worker: WorkerState, jobs: Sequence[JobInfo], *, stopping: bool) -> tuple[State, str]:
    """Return the daemon's state and a sentence about it for a person."""
    running = [job for job in jobs if job.stage not in {Stage.QUEUED, Stage.LOADING}]
    waiting = len(jobs) - len(running)
    if stopping:
        return "stopping", f"Finishing {_requests(len(jobs))}, then exiting." if jobs else "Exiting."
    if worker.phase == "loading":
        percent = f"{worker.loading_percent:.0f} %"
        return "loading", f"Loading {worker.model}, {percent}; {_requests(waiting)} waiting for it."
    if jobs:
        return "busy", f"Working on {_requests(len(running))}, {waiting} waiting."
    if worker.phase == "failed":
        return "failed", worker.error
    if worker.phase == "ready":
        return "ready", f"{worker.model} is in memory."
    return "idle", "No model is in memory; the next edit loads it."


def _requests(n: int) -> str:
    return f"{n} request" if n == 1 else f"{n} requests"


def describe_documents(
    seen_texts: Sequence[Seen], opened: Collection[str], counts: WarmCounts
) -> tuple[DocumentInfo, ...]:
    """Describe the texts that the daemon has seen, and what is kept of them."""
    states = {name: (n_tokens, n_bytes) for name, n_tokens, n_bytes in counts.documents}
    return tuple(
        DocumentInfo(
            name=seen.name,
            version=seen.version,
            n_bytes=seen.n_bytes,
            warm_tokens=states.get(seen.name, (0, 0))[0],
            kv_bytes=states.get(seen.name, (0, 0))[1],
            is_open=seen.name in opened,
        )
        for seen in seen_texts
    )


def describe_warmth(counts: WarmCounts) -> WarmInfo:
    """Describe how the kept KV fares."""
    return WarmInfo(
        kv_bytes=counts.n_bytes,
        kv_limit_bytes=counts.limit_bytes,
        prompts=counts.n_prompts,
        warm_prompts=counts.n_hits,
        prompt_tokens=counts.n_prompt_tokens,
        cached_tokens=counts.n_cached_tokens,
        dropped=counts.n_dropped,
        spill_bytes=counts.spill.n_bytes,
        spill_limit_bytes=counts.spill.limit_bytes,
        spill_states=counts.spill.n_states,
        spill_hits=counts.spill.n_hits,
        spill_refused=counts.spill.n_refused,
        spill_unwritten=counts.spill.n_unwritten,
    )


def describe_sharing(sharing: SharingCounts) -> SharingInfo:
    """Describe how edits share the model."""
    return SharingInfo(
        turns=sharing.n_turns,
        joint_turns=sharing.n_joint_turns,
        joint_rows=sharing.n_joint_rows,
        joint_passes=sharing.n_joint_passes,
        most_rows=sharing.most_rows,
        turns_because=sharing.turns_because,
    )
