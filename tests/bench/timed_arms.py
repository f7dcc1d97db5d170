"""Arms whose replies take exactly as long as a test says."""

from __future__ import annotations

from collections.abc import Sequence

from plgd.bench.compare.arms import Reply
from plgd.engine.stats import Stats

__all__ = ("TimedArm", "timed_reply")


def timed_reply(tokens: Sequence[int], seconds: float) -> Reply:
    """Make a reply that took so long, half of it up to its first token."""
    return Reply(tuple(tokens), ttft_ms=500.0 * seconds, total_ms=1000.0 * seconds, stats=Stats(n_rounds=len(tokens)))


class TimedArm:
    """Gives the planned replies one after the other.

    Args:
        name: what it is called.
        replies: the first is the untimed one.
        calls: gets its name at each call.
    """

    def __init__(self, name: str, replies: Sequence[Reply], calls: list[str]) -> None:
        self.name = name
        self._replies = list(replies)
        self._calls = calls

    def reply(self, prompt: Sequence[int], max_tokens: int) -> Reply:  # noqa: ARG002 - as planned
        self._calls.append(self.name)
        return self._replies.pop(0)
