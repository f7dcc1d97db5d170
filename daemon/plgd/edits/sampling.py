"""Settles how a reply is sampled: by the request, else by the user's settings."""

from __future__ import annotations

from collections.abc import Callable
from secrets import randbits

import msgspec

from plgd.config import Config
from plgd.engine.sampling import Sampling
from plgd.protocol.sampling import SamplingParams

__all__ = ("draw_seed", "settle_sampling")


def draw_seed() -> int:
    """Draw a seed for a reply that was asked for without one."""
    return randbits(32)


def settle_sampling(params: SamplingParams | None, config: Config, *, draw: Callable[[], int] = draw_seed) -> Sampling:
    """Put the request's settings over the configured ones.

    Args:
        params: of the request.
        config: of the user.
        draw: gives the seed where the request has none.
    """
    asked = msgspec.structs.asdict(params) if params is not None else {}
    given = {name: value for name, value in asked.items() if value is not None}
    biases = given.pop("logit_bias", {})
    seed = given.pop("seed", None)
    return Sampling(
        **{**msgspec.structs.asdict(config.sampling), **given},
        logit_bias=tuple(biases.items()),
        seed=draw() if seed is None else seed,
        near_tie_margin=config.engine.near_tie_margin,
        exact=config.engine.exact,
    )
