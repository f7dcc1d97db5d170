"""Stops: where a reply ends, and how far a draft may reach."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from plgd.engine.loop_guard import LoopGuard
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.types import StopReason

__all__ = ("Ending", "Stops", "Watcher")


class Watcher(Protocol):
    """An end of reply that only the text shows, such as a closing fence that begins in the middle of a token."""

    def push(self, token: int) -> bool:
        """Take the next committed token; each is pushed once, in order. True: the reply ends with it."""
        ...


@dataclass(frozen=True)
class Stops:
    """Where a reply ends.

    Attributes:
        eos: tokens that end a reply; the token itself is committed.
        max_tokens: the longest reply, at least 1.
        watcher: an end that the text shows; used for one reply.
        loop_guard: end a reply that only repeats itself, see `LoopGuard`.

    Raises:
        ValueError: `max_tokens` is below 1.
    """

    eos: frozenset[int]
    max_tokens: int
    watcher: Watcher | None = None
    loop_guard: bool = True

    def __post_init__(self) -> None:
        """Refuse a reply of no tokens: a round commits at least one."""
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens must be at least 1, not {self.max_tokens}")


class Ending:
    """Watches one reply for its end, token by token, before anything is rolled back.

    Args:
        stops: where to end.
        n_prompt: tokens before the reply.
        context_limit: the longest history of the target.
    """

    def __init__(self, stops: Stops, n_prompt: int, context_limit: int) -> None:
        self._eos = stops.eos
        self._watcher = stops.watcher
        self._guard = LoopGuard(n_prompt) if stops.loop_guard else None
        self._context_room = context_limit - n_prompt
        self._max_tokens = stops.max_tokens
        self._n_tokens = 0

    @property
    def room(self) -> int:
        """Tokens that the reply may still grow by."""
        return min(self._max_tokens, self._context_room) - self._n_tokens

    def cut(self, draft: Draft) -> Draft:
        """Shorten a draft that runs into an EOS token.

        It then ends *before* the EOS: when all of it is accepted, the bonus token is that EOS, in a pass that is
        narrower by one.
        """
        if self._eos.isdisjoint(draft.tokens):
            return draft
        tokens = draft.tokens[: next(i for i, token in enumerate(draft.tokens) if token in self._eos)]
        return replace(draft, tokens=tokens, chances=draft.chances[: len(tokens)]) if tokens else NO_DRAFT

    def push(self, token: int) -> StopReason | None:
        """Take the next token of the reply and say why the reply ends with it, if it does."""
        self._n_tokens += 1
        stopped_by_watcher = self._watcher is not None and self._watcher.push(token)
        looping = self._guard is not None and self._guard.push(token)
        if token in self._eos:
            return StopReason.EOS
        if stopped_by_watcher:
            return StopReason.STOP
        if looping:
            return StopReason.LOOP
        if self._n_tokens >= self._max_tokens:
            return StopReason.MAX_TOKENS
        if self._n_tokens >= self._context_room:
            return StopReason.CONTEXT
        return None
