"""A completion: what is asked, what is told while it goes on, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from plgd.engine.model import Turn
from plgd.protocol.sampling import SamplingParams

__all__ = ("Completion", "CompletionEvent", "CompletionResult", "CompletionText", "PromptRead")


@dataclass(frozen=True, slots=True)
class Completion:
    """A conversation whose next turn the model is to write.

    Attributes:
        turns: at least one, the last one the user's.
        prediction: text that the reply is expected to resemble; its first source of drafts. Empty without one.
        stop: texts that end the reply and are no part of it.
        max_tokens: the longest reply; None takes what the context leaves.
        sampling: how its tokens are drawn; what is left out is as configured.
    """

    turns: tuple[Turn, ...]
    prediction: str = ""
    stop: tuple[str, ...] = ()
    max_tokens: int | None = None
    sampling: SamplingParams = field(default_factory=SamplingParams)


@dataclass(frozen=True, slots=True)
class PromptRead:
    """So many percent of the prompt have been read."""

    percent: float


@dataclass(frozen=True, slots=True)
class CompletionText:
    """New text of the reply; may be empty while a stop text may have begun."""

    text: str


CompletionEvent: TypeAlias = PromptRead | CompletionText


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """A reply.

    Attributes:
        text: all of it.
        finish: `stop` when the model ended it or a stop text came; `length` when it was cut off at `max_tokens` or at
            the context's end, or because it did nothing but repeat itself.
        model: the model's name.
        n_prompt_tokens: tokens of the prompt.
        n_cached_tokens: those of them that the model had read already.
        n_tokens: tokens of the reply, the one that ended it included.
        n_drafted: tokens that were drafted and verified.
        n_accepted: those of them that the model confirmed.
    """

    text: str
    finish: Literal["stop", "length"]
    model: str
    n_prompt_tokens: int
    n_cached_tokens: int
    n_tokens: int
    n_drafted: int
    n_accepted: int
