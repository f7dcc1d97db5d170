"""Replies decoded with and without drafts, by the shortest loops that can do it: what a target is judged by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plgd.engine.target import Target

__all__ = ("Drafter", "drafted_reply", "plain_reply")

# The reply so far in, the next draft out; None asks for a pipelined step.
Drafter = Callable[[list[int]], Sequence[int] | None]


def plain_reply(target: Target, n_tokens: int) -> list[int]:
    """Decode a reply token by token, by `verify` alone."""
    return [target.verify(())[0] for _ in range(n_tokens)]


def drafted_reply(target: Target, n_tokens: int, drafter: Drafter) -> list[int]:
    """Decode a reply with drafts: keep the agreeing head of each and the choice after it.

    Args:
        target: prefilled.
        n_tokens: at least so many are decoded, exactly so many returned.
        drafter: what to draft.
    """
    reply: list[int] = []
    fed = target.offset
    while len(reply) < n_tokens:
        draft = drafter(reply)
        if draft is None:
            reply.append(target.advance())
            continue
        choices = target.verify(draft)
        draft = draft[: len(choices) - 1]  # a target may cut it
        n_accepted = 0
        while n_accepted < len(draft) and draft[n_accepted] == choices[n_accepted]:
            n_accepted += 1
        target.rollback(len(draft) - n_accepted)
        reply.extend(choices[: n_accepted + 1])
        assert target.offset == fed + len(reply)
    return reply[:n_tokens]
