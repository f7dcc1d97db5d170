"""What is edited: small Python files, each another, and wishes that a small model can fulfil."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from plgd.protocol.sampling import SamplingParams

__all__ = ("LoadEdit", "make_edits")

_THINGS: Final = ("parcel", "ticket", "sensor", "invoice", "booking", "sample", "delivery", "repair")
_SUMS: Final = ("total", "amount", "weight", "charge", "balance")
# Every so manieth reply is drawn by a seed instead of taken greedily.
_SAMPLED_EACH: Final = 4

_HEAD: Final = '"""What {thing}s of group {number} come to."""\n\nLIMIT = {limit}\n'
_PARTS: Final = (
    '''

def {thing}_cost(lines, discount=0):
    """Return what the {thing}s cost; lines are (count, price) pairs."""
    {sum} = 0
    for count, price in lines:
        {sum} += count * price
    if discount:
        {sum} -= {sum} * discount
    if {sum} > LIMIT:
        raise ValueError("too many {thing}s")
    return {sum}
''',
    '''

def {thing}_mean(lines):
    """Return the mean price of a {thing}."""
    {sum} = sum(price for _, price in lines)
    print("{thing}s:", len(lines), "in all:", {sum})
    return {sum} / max(len(lines), 1)
''',
)


@dataclass(frozen=True, slots=True)
class LoadEdit:
    """An edit to ask for.

    Attributes:
        number: tells it from others, from 0.
        name: the file's.
        text: the whole file.
        instruction: what to change: `rename` a variable, or set a constant to another `value`.
        kind: `rename` or `value`.
        sampling: how its tokens are drawn; None for greedily.
    """

    number: int
    name: str
    text: str
    instruction: str
    kind: str
    sampling: SamplingParams | None


def make_edits(n_edits: int) -> Sequence[LoadEdit]:
    """Make so many edits of as many files, the same in every run; long and short ones, renames and values in turn."""
    return tuple(_make(number) for number in range(n_edits))


def _make(number: int) -> LoadEdit:
    words = {
        "thing": _THINGS[number % len(_THINGS)],
        "sum": _SUMS[number % len(_SUMS)],
        "number": number,
        "limit": 100 + 7 * number,
    }
    parts = _PARTS if number % 2 == 0 else _PARTS[:1]
    text = "".join(part.format(**words) for part in (_HEAD, *parts))
    if number % 3 == 2:
        kind, instruction = "value", f"Change LIMIT from {words['limit']} to {250 + number}."
    else:
        kind, instruction = "rename", f"Rename the variable {words['sum']} to net_{words['sum']}."
    sampled = number % _SAMPLED_EACH == _SAMPLED_EACH - 1
    sampling = SamplingParams(temperature=0.7, seed=number) if sampled else None
    return LoadEdit(number, f"{words['thing']}_{number}.py", text, instruction, kind, sampling)
