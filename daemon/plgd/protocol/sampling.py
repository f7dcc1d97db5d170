"""How the tokens of a reply are drawn: the parameters of a request, and the bounds that hold wherever they are set."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from plgd.protocol.base import Message

__all__ = ("SamplingParams",)

Temperature = Annotated[float, Meta(ge=0, le=2)]
TopP = Annotated[float, Meta(gt=0, le=1)]
TopK = Annotated[int, Meta(ge=0)]
MinP = Annotated[float, Meta(ge=0, le=1)]
RepetitionPenalty = Annotated[float, Meta(ge=0.01, le=10)]
# Of presence and frequency; OpenAI's bounds, as those of temperature and bias.
Penalty = Annotated[float, Meta(ge=-2, le=2)]
PenaltyContext = Annotated[int, Meta(ge=1, le=65536)]
LogitBias = dict[Annotated[int, Meta(ge=0, lt=2**31)], Annotated[float, Meta(ge=-100, le=100)]]
Seed = Annotated[int, Meta(ge=0, lt=2**32)]


class SamplingParams(Message, frozen=True):
    """How the tokens of a reply are drawn. What is left out is as configured; greedy unless somebody changed that.

    Attributes:
        temperature: 0 takes the likeliest token each time, up to 2.
        top_p: keep the likeliest tokens that together have this probability; above 0, up to 1, which keeps all.
        top_k: keep so many likeliest tokens; 0 keeps all.
        min_p: keep tokens with at least this share of the likeliest token's probability; 0 (all) to 1.
        repetition_penalty: makes tokens that occurred less likely; 1 is none, 0.01 to 10.
        presence_penalty: subtracted from the logits of tokens that occurred; -2 to 2.
        frequency_penalty: the same for each time that a token occurred; -2 to 2.
        penalty_context: how many of the latest tokens of prompt and reply the penalties look at; 1 to 65536.
        logit_bias: added to the logits of single tokens, by their number; -100 to 100.
        seed: 0 to 4294967295; the same seed, the same reply. Without one the daemon draws one and the result tells it.
    """

    temperature: Temperature | None = None
    top_p: TopP | None = None
    top_k: TopK | None = None
    min_p: MinP | None = None
    repetition_penalty: RepetitionPenalty | None = None
    presence_penalty: Penalty | None = None
    frequency_penalty: Penalty | None = None
    penalty_context: PenaltyContext | None = None
    logit_bias: LogitBias | None = None
    seed: Seed | None = None
