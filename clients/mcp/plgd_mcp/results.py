"""What the tools answer; the types are the tools' output schemas."""

from __future__ import annotations

from typing import Literal, TypeVar

import msgspec
from pydantic import BaseModel, Field

__all__ = ("Accepted", "Clash", "EditOutcome", "HunkPlace", "ReviewedPlace", "SessionState", "Warmth", "told")

Status = Literal["proposed", "applied", "no_change", "conflict", "truncated", "rejected_output", "cancelled"]
ModelT = TypeVar("ModelT", bound=BaseModel)


def told(kind: type[ModelT], result: msgspec.Struct) -> ModelT:
    """Take over the fields of a daemon's result that a tool's answer has."""
    return kind.model_validate(msgspec.to_builtins(result))


class HunkPlace(BaseModel):
    """One contiguous change; lines are counted from 1."""

    id: int = Field(description="names the hunk for accept_hunks")
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


class ReviewedPlace(HunkPlace):
    """A hunk, and what was decided about it."""

    state: Literal["open", "accepted", "rejected"]


class Clash(BaseModel):
    """Lines that the edit and somebody else changed."""

    first: int = Field(description="first line of the place in the text that was edited, counted from 1")
    last: int
    file_first: int = Field(description="its first line in the file as it is now")
    base: str = Field(description="the lines that were edited")
    file: str = Field(description="the lines of the file now")
    edit: str = Field(description="the lines that the edit would put there")


class EditOutcome(BaseModel):
    """What became of an edit."""

    status: Status = Field(
        description="applied: the file has the new text. proposed: accept_hunks can write it. no_change: the model "
        "changed nothing. conflict: somebody else changed the same lines. truncated, rejected_output: the model's "
        "answer could not be used. Only with applied was the file written."
    )
    session: str = Field(description="names the edit for edit_status and accept_hunks")
    path: str = Field(description="the real file")
    diff: str = Field(description="unified diff, empty without change")
    hunks: list[HunkPlace]
    warnings: list[str] = Field(description="sentences to read, the reason when the answer was rejected")
    conflict: Clash | None
    base_fingerprint: str = Field(description="SHA-256 of the text that was edited")
    new_fingerprint: str = Field(description="SHA-256 of the new text")
    model: str


class SessionState(BaseModel):
    """An edit as it is now."""

    session: str
    stage: str | None = Field(description="where the edit is while it runs, else null")
    percent: float
    status: Status | None = Field(description="how it ended, null while it runs")
    path: str
    hunks: list[ReviewedPlace]
    file: Literal["base", "accepted", "other", "missing", "none"] = Field(
        description="what is on disk now: the text that was edited, the text with the accepted hunks, another, nothing"
    )
    file_fingerprint: str


class Accepted(BaseModel):
    """What became of accepted hunks."""

    session: str
    status: Status = Field(description="applied: the file has them. no_change: nothing was left. conflict: see there")
    path: str
    diff: str = Field(description="what was written now, or would be")
    hunks: list[ReviewedPlace]
    warnings: list[str]
    conflict: Clash | None


class Warmth(BaseModel):
    """What is ready for the next edit of a file."""

    path: str
    model: str
    warm_tokens: int = Field(description="tokens that the next edit need not read")
    total_ms: float
