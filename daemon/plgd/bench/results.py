"""What a comparison found: plain records, the JSON of `plgd bench --json`."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = (
    "ArmResult",
    "BenchResult",
    "Environment",
    "Record",
    "WorkloadResult",
)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """What all records share."""


class Environment(Record, frozen=True):
    """What was measured on. Numbers of two environments are not to be compared, only ratios within one.

    Attributes:
        model: the model's name.
        device: cpu, metal or cuda.
        device_name: what the device calls itself.
        blas: the matrix library on a CPU; `reference` makes any measurement of drafting meaningless.
        n_cpus: processors that this process may use.
        python: Python's version.
        platform: system and machine.
        versions: plgd and the libraries, name -> version.
        load_before: processes waiting to run, averaged over a minute, when the measurement began; more than 1 of
            another's means a noisy result.
        load_after: the same when it ended; the measurement itself is in it.
    """

    model: str
    device: str
    device_name: str
    blas: str
    n_cpus: int
    python: str
    platform: str
    versions: dict[str, str]
    load_before: float
    load_after: float = 0.0


class ArmResult(Record, frozen=True):
    """One arm on one workload.

    Attributes:
        tokens_per_s: whole-call rate of each timed call, prefill included.
        speedup: median of the rates over the median of plain's.
        paired_speedups: each call's rate over that of the plain call in the same repeat, ascending.
        identical_to_plain: every call, the untimed first one included, gave the tokens of the first plain call.
        diverges_at: the first place where a reply differed; None when none did.
        n_tokens: length of the reply.
        ttft_ms: time to the first token of each call.
        decode_ms: time after it.
        counters: the session's statistics of the last call (rounds, widths, acceptance lengths, pauses, shadow
            confirmations, pipelined rounds ...); empty for plain.
    """

    tokens_per_s: tuple[float, ...]
    speedup: float
    paired_speedups: tuple[float, ...]
    identical_to_plain: bool
    diverges_at: int | None
    n_tokens: int
    ttft_ms: tuple[float, ...]
    decode_ms: tuple[float, ...]
    counters: dict[str, Any]


class WorkloadResult(Record, frozen=True):
    """All arms on one workload.

    Attributes:
        recorded: the model was led along a recorded reply; else the reply is its own.
        n_prompt_tokens: length of the prompt.
        max_tokens: the longest reply that was allowed.
        arms: by name, in the order in which they are shown; `plain` is the first.
    """

    recorded: bool
    n_prompt_tokens: int
    max_tokens: int
    arms: dict[str, ArmResult]


class BenchResult(Record, frozen=True):
    """A whole comparison.

    Attributes:
        environment: what it was measured on.
        n_repeats: timed calls of each arm on each workload.
        workloads: by name.
        geometric_means: arm -> geometric mean of its speed-ups over all workloads that were run.
    """

    environment: Environment
    n_repeats: int
    workloads: dict[str, WorkloadResult]
    geometric_means: dict[str, float]
