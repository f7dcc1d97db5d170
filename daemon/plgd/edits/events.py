"""What a job on the model tells while it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from plgd.protocol.documents import WarmResult
from plgd.protocol.edits import EditResult, Stage

__all__ = ("JobDelta", "JobEvent", "JobProgress", "JobResult")


@dataclass(frozen=True, slots=True)
class JobProgress:
    """Where the job is.

    Attributes:
        stage: `PREFILL`, `DECODE` or `APPLY`.
        percent: of the prompt while `PREFILL`, then of the text's lines that the reply has passed; 0 to 100.
        n_tokens: of the prompt while `PREFILL`, then of the reply.
        tokens_per_s: of the reply so far, 0 before it begins.
    """

    stage: Stage
    percent: float
    n_tokens: int
    tokens_per_s: float = 0.0


@dataclass(frozen=True, slots=True)
class JobDelta:
    """New text of the reply."""

    text: str


JobEvent: TypeAlias = JobProgress | JobDelta
JobResult: TypeAlias = EditResult | WarmResult
