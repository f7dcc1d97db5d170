"""The daemon itself: who it is, what it is doing, what it found about its machine, its end."""

from __future__ import annotations

from typing import Final, Literal

from plgd.protocol.base import Message, Reply
from plgd.protocol.edits import Priority, Stage

__all__ = (
    "PROTOCOL_VERSION",
    "CancelParams",
    "DoctorResult",
    "DocumentInfo",
    "Finding",
    "HelloParams",
    "HelloResult",
    "JobInfo",
    "PingResult",
    "SharingInfo",
    "StatusResult",
    "StopParams",
    "StopResult",
    "WarmInfo",
)

# Raised when an old client could misread a new daemon. `hello` compares it.
PROTOCOL_VERSION: Final = 1


class HelloParams(Message, frozen=True):
    """Who the client is; the first message of a connection.

    Attributes:
        protocol: the client's `PROTOCOL_VERSION`.
        version: the client's version of plgd.
        client: its name for logs, such as `plgd-cli`.
    """

    protocol: int
    version: str
    client: str = ""


class HelloResult(Reply, frozen=True):
    """Who the daemon is."""

    protocol: int
    version: str
    pid: int


class PingResult(Reply, frozen=True):
    """The answer to a no-op."""


class JobInfo(Reply, frozen=True):
    """A request of the model that waits or runs: an edit, a completion, or a text that becomes warm.

    Attributes:
        session: its id; an edit's is for `edit/status`.
        name: the file's path or name, or `a completion`.
        stage: `queued`, `prefill`, `decode` and so on, see `Stage`.
        percent: how much of the file the reply has covered, 0 to 100.
        queue_position: while `queued`, its place in the queue, from 1; those that run are before it, too. Else 0.
        priority: whether a person waits for it.
    """

    session: str
    name: str
    stage: Stage
    percent: float
    queue_position: int = 0
    priority: Priority = Priority.INTERACTIVE


class SharingInfo(Reply, frozen=True):
    """How edits have shared the model; counts are since the model was loaded.

    Attributes:
        turns: steps of one edit: slices of prompts, and rounds that were not joint.
        joint_turns: rounds of several edits at once.
        joint_rows: edits in all of those together.
        joint_passes: passes of the model over the rounds of several edits; a turn can need more than one, or none.
        most_rows: most edits in one joint turn.
        turns_because: why rounds of several edits take turns now; empty when they are joint.
    """

    turns: int = 0
    joint_turns: int = 0
    joint_rows: int = 0
    joint_passes: int = 0
    most_rows: int = 0
    turns_because: str = ""


class DocumentInfo(Reply, frozen=True):
    """A text that the daemon has seen.

    Attributes:
        name: its real path, or a text's name.
        version: counts the texts seen under this name, from 1.
        warm_tokens: tokens of its prompt whose KV is kept.
        kv_bytes: memory that they take.
        is_open: an editor holds it.
    """

    name: str
    version: int
    n_bytes: int
    warm_tokens: int = 0
    kv_bytes: int = 0
    is_open: bool = False


class WarmInfo(Reply, frozen=True):
    """How the kept KV fares; counts are since the model was loaded first.

    Attributes:
        kv_bytes: memory that it takes.
        kv_limit_bytes: memory that it may take; 0 before a model is loaded, and when nothing is kept.
        prompts: prompts so far.
        warm_prompts: those whose beginning was warm.
        prompt_tokens: tokens of all prompts.
        cached_tokens: those of them that were warm.
        dropped: kept states that went for others.
        spill_bytes: disk space of the states that were written, of all models.
        spill_limit_bytes: disk space that they may take; 0 before a model is loaded, and when none are written.
        spill_states: states on disk, of all models.
        spill_hits: states that came back from disk.
        spill_refused: files that were damaged or of another version, and were removed.
        spill_unwritten: states that could not be written; the log says why.
    """

    kv_bytes: int = 0
    kv_limit_bytes: int = 0
    prompts: int = 0
    warm_prompts: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    dropped: int = 0
    spill_bytes: int = 0
    spill_limit_bytes: int = 0
    spill_states: int = 0
    spill_hits: int = 0
    spill_refused: int = 0
    spill_unwritten: int = 0


class StatusResult(Reply, frozen=True):
    """What the daemon is doing; answered at once, also while the model loads or works.

    Attributes:
        state: `idle` (no model in memory), `loading`, `ready`, `busy`, `failed` (the model did not load), `stopping`.
        message: one sentence for a person; the error when `failed`.
        model: the model in memory or on its way there, empty when none.
        loading_percent: progress while `loading`, else 100.
        jobs: requests of the model that wait or run.
        resident_bytes: the process's memory.
        device_bytes: memory that the model's arrays hold.
        device: such as `cpu`, `metal`, `cuda`.
        socket: path of the socket.
        uptime_s: seconds since start.
        n_edits: edits answered since start.
        n_completions: chat completions answered since start.
        documents: texts seen, longest ago first.
        warm: what is kept of them for the next edit.
        sharing: how edits share the model.
    """

    state: Literal["idle", "loading", "ready", "busy", "failed", "stopping"]
    message: str
    version: str
    pid: int
    model: str
    loading_percent: float
    jobs: tuple[JobInfo, ...]
    resident_bytes: int
    device_bytes: int
    device: str
    socket: str
    uptime_s: float
    n_edits: int
    n_completions: int = 0
    documents: tuple[DocumentInfo, ...] = ()
    warm: WarmInfo = WarmInfo()
    sharing: SharingInfo = SharingInfo()


class StopParams(Message, frozen=True):
    """How to stop.

    Attributes:
        drain: finish the edits that run; otherwise cancel them.
    """

    drain: bool = True


class StopResult(Reply, frozen=True):
    """The daemon is about to exit; its socket is gone already."""

    pid: int


class CancelParams(Message, frozen=True):
    """Which request to cancel: the JSON-RPC id it was sent with, on the same connection."""

    id: int | str


class Finding(Reply, frozen=True):
    """One line of `plgd doctor`.

    Attributes:
        level: `ok`, `slow` (works, but not as fast as it could) or `missing` (does not work).
        subject: such as `device`, `BLAS`, `model`.
        fact: what was found.
        advice: what to do about it, empty when `ok`.
    """

    level: Literal["ok", "slow", "missing"]
    subject: str
    fact: str
    advice: str = ""


class DoctorResult(Reply, frozen=True):
    """What the daemon found about itself and its machine."""

    findings: tuple[Finding, ...]
