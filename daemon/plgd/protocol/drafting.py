"""How a reply is drafted: the parameters of a request, and the bounds that hold wherever they are set."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

from plgd.protocol.base import Message

__all__ = ("MAX_DRAFTS", "DraftSource", "DraftingParams", "check_drafting")

Policy = Literal["cost", "graded", "gated", "ds4", "off"]
# 0 takes the policy's own.
NgramLength = Annotated[int, Meta(ge=0, le=16)]
DraftLength = Annotated[int, Meta(ge=0)]

# The references' bounds; `cost` may go as wide as any device pays for.
MAX_DRAFTS: Final[dict[str, int]] = {"cost": 128, "graded": 64, "gated": 64, "ds4": 15, "off": 64}


class DraftingParams(Message, frozen=True):
    """How a reply is drafted. What is left out is as configured, or the named policy's own.

    Attributes:
        policy: `cost`, `graded`, `gated`, `ds4`, or `off` for plain decoding.
        max_draft: most tokens in one draft; at most 128 (`cost`), 64 (`graded`, `gated`), 15 (`ds4`).
        ngram_min: shortest n-gram that is looked up, 1 to 16.
        ngram_max: longest n-gram that is looked up, 1 to 16.
    """

    policy: Policy | None = None
    max_draft: DraftLength | None = None
    ngram_min: NgramLength | None = None
    ngram_max: NgramLength | None = None


class DraftSource(Message, frozen=True):
    """A text that the reply may resemble in parts. Exactly one of `path` and `text` is given.

    It is read once, when the request arrives, and drafted from; the model is not shown it. One that the reply does not
    resemble changes nothing.

    Attributes:
        path: absolute path of a file: UTF-8 text, as an editor holds it or else as it is on disk; an empty one is no
            source.
        text: the text itself.
    """

    path: str | None = None
    text: str | None = None


def check_drafting(policy: str, max_draft: int, ngram_min: int, ngram_max: int) -> None:
    """Refuse options that contradict each other or the policy; 0 stands for the policy's own.

    Raises:
        ValueError: with the reason.
    """
    if bool(ngram_min) != bool(ngram_max):
        raise ValueError("ngram_min and ngram_max are set together, or neither is")
    if ngram_min > ngram_max:
        raise ValueError(f"ngram_min ({ngram_min}) is larger than ngram_max ({ngram_max})")
    if max_draft > MAX_DRAFTS[policy]:
        raise ValueError(f"max_draft ({max_draft}) of policy {policy} is {MAX_DRAFTS[policy]} at most")
    if policy == "off" and (max_draft or ngram_max):
        raise ValueError("max_draft, ngram_min and ngram_max say how to draft, and policy off does not draft")
    if policy == "ds4" and ngram_max:
        raise ValueError("policy ds4 always looks up 4-grams; leave ngram_min and ngram_max out")
