"""The price of a round: what a table says that it takes, given how it is run."""

from __future__ import annotations

from typing import Protocol

__all__ = ("Prices", "price_round")


class Prices(Protocol):
    """What rounds cost on a device: a table of step costs, or live costs."""

    def round_ms(self, width: int, n_context: int) -> float:
        """Return the time of a synchronous round of this width behind so many tokens."""
        ...

    def plain_ms(self, n_context: int) -> float:
        """Return the time of a pipelined plain round behind so many tokens."""
        ...


def price_round(costs: Prices, n_drafted: int, n_context: int, *, in_flight: bool) -> float:
    """Return the milliseconds that a round is expected to take.

    Args:
        costs: the device's prices.
        n_drafted: length of the draft; 0 in a plain round.
        n_context: tokens of prompt and reply before the round.
        in_flight: a step submitted earlier is under way. A plain round only waits for it; a block waits for it too, but
            runs right behind it, one token narrower and without the host's bubble.
    """
    if not in_flight:
        return costs.round_ms(n_drafted + 1, n_context)
    plain_ms = costs.plain_ms(n_context)
    if not n_drafted:
        return plain_ms
    bubble_ms = max(costs.round_ms(1, n_context) - plain_ms, 0.0)
    return plain_ms + max(costs.round_ms(n_drafted, n_context) - bubble_ms, 0.0)
