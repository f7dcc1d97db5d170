"""How a reply's tokens are taken from the model's logits, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ("GREEDY", "Sampling")


@dataclass(frozen=True, slots=True)
class Sampling:
    """The settings of one reply; the defaults are greedy decoding. Bounds are checked where the numbers come in.

    Meaning and order are those of mlx-lm's `sample_utils`: bias, repetition, presence and frequency change the
    logits; top-p, min-p and top-k filter the probabilities at temperature 1; then the temperature applies.

    Attributes:
        temperature: 0 takes the likeliest token.
        top_p: keep the likeliest tokens that together have this probability; 1 keeps all.
        top_k: keep so many likeliest tokens; 0 keeps all.
        min_p: keep tokens with at least this share of the likeliest token's probability; 0 keeps all.
        repetition_penalty: divides positive logits of tokens that occurred, multiplies negative ones; 1 is none.
        presence_penalty: subtracted from the logits of tokens that occurred.
        frequency_penalty: subtracted from the logits of tokens once for each time that they occurred.
        penalty_context: tokens of prompt and reply, the latest, in which the penalties look for occurrences.
        logit_bias: pairs of a token and what is added to its logit.
        seed: 0 to 2^32 - 1; the same seed, the same reply.
        near_tie_margin: a choice whose runner-up is closer than this, in logits, is a near tie; 0 takes the margin
            that suits the precision of the model's logits.
        exact: give plain decoding's own tokens. In float32 a near tie's choice is made again in a pass of one token;
            in lower precision drafts are only as wide as passes compute each row like those of one token.
    """

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    penalty_context: int = 20
    logit_bias: tuple[tuple[int, float], ...] = ()
    seed: int = 0
    near_tie_margin: float = 0.0
    exact: bool = False

    @property
    def has_penalties(self) -> bool:
        """Whether what occurred before changes the logits."""
        return self.repetition_penalty != 1 or self.presence_penalty != 0 or self.frequency_penalty != 0


GREEDY: Final = Sampling()
