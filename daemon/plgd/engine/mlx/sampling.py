"""How the next token is taken from the model's logits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Protocol, cast

import mlx.core as mx

from plgd.engine.mlx.penalties import Penalties
from plgd.engine.sampling import Sampling
from plgd.errors import EngineError

__all__ = (
    "Choices",
    "Greedy",
    "Sampled",
    "Sampler",
    "choose",
    "default_margin",
    "gumbel_noise",
    "make_sampler",
    "top_p_threshold",
)

# How far wide and narrow passes drift apart, in logits: in float32 1e-4 was seen, in the others it is a few units in
# the last place of a logit of about 20.
MARGINS: Final = {mx.float32: 1e-3, mx.float16: 0.06, mx.bfloat16: 0.25}

# Noise this low or lower has a chance of 1e-24; minus infinity would let a filtered token draw level.
LEAST_NOISE: Final = -4.0


@dataclass(frozen=True, slots=True)
class Choices:
    """Tokens taken from logits, not read yet.

    Attributes:
        tokens: [n]; -1 where the logits hold no number.
        near_ties: [n], whether the runner-up was within the margin; None where nobody asked.
    """

    tokens: mx.array
    near_ties: mx.array | None = None

    def behind(self, token: mx.array) -> Choices:
        """Put a token [1] of a one-token pass before them."""
        tokens = mx.concatenate([token, self.tokens])
        near_ties = None if self.near_ties is None else mx.concatenate([mx.array([False]), self.near_ties])
        return Choices(tokens, near_ties)

    def read(self) -> tuple[list[int], list[bool]]:
        """Wait for them, once for everything, and return tokens and near ties.

        Raises:
            EngineError: the logits were no numbers.
        """
        if self.near_ties is None:
            tokens = cast("list[int]", self.tokens.tolist())
            near_ties = [False] * len(tokens)
        else:
            tokens, marks = cast("list[list[int]]", mx.stack([self.tokens, self.near_ties]).tolist())
            near_ties = [bool(mark) for mark in marks]
        if min(tokens) < 0:
            raise EngineError.during("a round", "its logits are not numbers (NaN)")
        return tokens, near_ties


class Sampler(Protocol):
    """Says which token is taken, on the device, without waiting for anything: the one that scores highest."""

    @property
    def n_past(self) -> int:
        """How many tokens before a position matter to it beside the logits."""
        ...

    def score(self, logits: mx.array, position: int, past: mx.array) -> mx.array:
        """Score every token in every row.

        Args:
            logits: [B, T, V].
            position: where in the history the token of row 0 will stand; row i stands at `position + i`. Randomness
                is keyed by it, so that a reply does not depend on how its tokens were grouped into passes.
            past: [P] tokens before these positions: the last row follows all of them, each row before it one less. It
                reaches `n_past` tokens before the first row, or to the start of the history.

        Returns:
            [B, T, V], in the units of logits; NaN where the logits hold no number.
        """
        ...


class Greedy:
    """The most likely token; of equals, the first."""

    n_past = 0

    def score(self, logits: mx.array, position: int, past: mx.array) -> mx.array:  # noqa: ARG002  # it needs neither
        """Take the logits as they are."""
        return logits


class Sampled:
    """A draw from the filtered distribution, by the Gumbel-max trick: the highest of logits plus noise.

    The noise of a position depends on the seed and the position alone.

    Args:
        sampling: the settings.
    """

    def __init__(self, sampling: Sampling) -> None:
        self._sampling = sampling
        self._penalties = Penalties(sampling)

    @property
    def n_past(self) -> int:
        """How many tokens the penalties look back."""
        return self._penalties.n_past

    def score(self, logits: mx.array, position: int, past: mx.array) -> mx.array:
        """Penalise, filter, and add noise in proportion to the temperature."""
        logits = self._penalties.apply(logits.astype(mx.float32), past)
        temperature = self._sampling.temperature
        if not temperature:
            return logits
        logprobs = logits - mx.logsumexp(logits, axis=-1, keepdims=True)
        noise = gumbel_noise(self._sampling.seed, position, *logits.shape[1:])
        return self._filter(logprobs) + temperature * noise

    def _filter(self, logprobs: mx.array) -> mx.array:
        """Take the tokens below any filter's threshold out: [B, T, V] to [B, T, V]."""
        sampling = self._sampling
        thresholds: list[mx.array] = []
        if sampling.top_p < 1:
            thresholds.append(top_p_threshold(logprobs, sampling.top_p))
        if sampling.min_p > 0:
            thresholds.append(mx.max(logprobs, axis=-1, keepdims=True) + math.log(sampling.min_p))
        if 0 < sampling.top_k < logprobs.shape[-1]:
            thresholds.append(mx.topk(logprobs, sampling.top_k, axis=-1).min(axis=-1, keepdims=True))
        for threshold in thresholds:
            logprobs = mx.where(logprobs < threshold, -mx.inf, logprobs)
        return logprobs


def make_sampler(sampling: Sampling) -> Sampler:
    """Make the sampler of some settings."""
    changes_logits = sampling.temperature or sampling.has_penalties or sampling.logit_bias
    return Sampled(sampling) if changes_logits else Greedy()


def choose(scores: mx.array, margin: float | None = None) -> Choices:
    """Take the token that scores highest in each row.

    Args:
        scores: [1, T, V].
        margin: mark choices whose runner-up scores lower by no more than this; None marks nothing and costs nothing.
    """
    best = mx.argmax(scores, axis=-1, keepdims=True)
    highest = mx.take_along_axis(scores, best, axis=-1)
    # A NaN anywhere in a pass spreads to all logits of its row: looking at the chosen one finds it.
    tokens = mx.where(mx.isnan(highest), -1, best.astype(mx.int32)).squeeze((0, -1))
    if margin is None:
        return Choices(tokens)
    return Choices(tokens, (mx.sum(scores >= highest - margin, axis=-1) > 1).squeeze(0))


def default_margin(logits: mx.array) -> float:
    """Return the margin that suits the precision of logits."""
    return MARGINS[logits.dtype]


def gumbel_noise(seed: int, position: int, n_rows: int, n_vocabulary: int) -> mx.array:
    """Draw the noise of some positions in a row: [T, V].

    Threefry, mlx's generator, takes a key of two words: they are the seed and the position.
    """
    positions = mx.arange(position, position + n_rows, dtype=mx.uint32)
    keys = mx.stack([mx.full(n_rows, seed, mx.uint32), positions], axis=1)
    noise: mx.array = mx.vmap(lambda key: mx.random.gumbel((n_vocabulary,), key=key))(keys)
    return mx.maximum(noise, LEAST_NOISE)


def top_p_threshold(logprobs: mx.array, top_p: float) -> mx.array:
    """Return the log-probability of the least likely token in the nucleus: [B, T, V] to [B, T, 1].

    A token belongs to it while the tokens that are likelier have less than `top_p` together (Holtzman et al. 2020).
    """
    ascending = mx.sort(logprobs, axis=-1)
    probabilities = mx.exp(ascending)
    above = mx.cumsum(probabilities, axis=-1, reverse=True, inclusive=False)
    total = above[..., :1] + probabilities[..., :1]
    # The likeliest token always stays, also where so small a `top_p` is 0 in float32.
    n_dropped = mx.minimum(mx.sum(above >= top_p * total, axis=-1, keepdims=True), logprobs.shape[-1] - 1)
    return mx.take_along_axis(ascending, n_dropped, axis=-1)
