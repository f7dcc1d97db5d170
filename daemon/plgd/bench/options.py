"""The options of `plgd bench`, shared by the command line, which hands them on, and the process that measures.

Nothing heavy is imported here: `plgd bench --help` answers at once.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from plgd.bench.workloads import WORKLOADS

__all__ = ("ARMS", "DEFAULT_REPEATS", "MODES_OF", "PLAIN", "add_options", "find_misplaced", "whole_number")

# The arm that every other one is compared with: mlx-lm's own decoding.
PLAIN: Final = "plain"
DEFAULT_REPEATS: Final = 5

# Which measurements an option belongs to.
MODES_OF: Final = {
    "model": ("compare", "widths"),
    "repeats": ("compare", "widths", "host"),
    "only": ("compare",),
    "arms": ("compare",),
    "max_tokens": ("compare",),
    "plot": ("compare",),
}

ARMS: Final = (PLAIN, "off", "ds4", "graded", "gated", "cost")


def add_options(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add the options of every measurement to a parser.

    Returns:
        The group that chooses what to measure, for a front end with a measurement of its own.
    """
    modes = parser.add_argument_group("what to measure (without any: the five reference workloads)")
    mode = modes.add_mutually_exclusive_group()
    for name, summary in (
        ("widths", "the cost of each verify width, by context length"),
        ("host", "the time that plgd's own loop takes in a round, without a model"),
    ):
        mode.add_argument(f"--{name}", dest="mode", action="store_const", const=name, help=summary)
    parser.set_defaults(mode="compare")

    shared = parser.add_argument_group("for every measurement")
    shared.add_argument("--json", action="store_true", help="print the result as JSON")
    shared.add_argument("--model", metavar="NAME", help="the model; by default the one that edits use")
    shared.add_argument("--repeats", type=whole_number, metavar="N", help=f"timed repeats (default {DEFAULT_REPEATS})")

    compare = parser.add_argument_group("for the reference workloads")
    compare.add_argument(
        "--only", action="append", choices=tuple(WORKLOADS), help="this workload; may be given several times"
    )
    compare.add_argument(
        "--arms", type=_arms, metavar="NAME,...", help=f"of {', '.join(ARMS)} (default all; {PLAIN} is always run)"
    )
    compare.add_argument(
        "--max-tokens", type=whole_number, metavar="N", help="shorten the replies; for trying out, not for results"
    )
    compare.add_argument("--plot", type=Path, metavar="FILE", help="draw the speed-ups, as FILE's ending says (.png)")
    return mode


def find_misplaced(arguments: argparse.Namespace) -> str | None:
    """Say which option was given that the chosen measurement has no use for; nothing is silently ignored."""
    for option, modes in MODES_OF.items():
        if getattr(arguments, option) is not None and arguments.mode not in modes:
            return f"--{option.replace('_', '-')} says nothing to --{arguments.mode}"
    return None


def whole_number(word: str) -> int:
    """Take a whole number of at least 1.

    Raises:
        argparse.ArgumentTypeError: the argument is none.
    """
    if not (word.isascii() and word.isdigit() and len(word) <= 9 and int(word) > 0):
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 1 to 999999999")
    return int(word)


def _arms(word: str) -> tuple[str, ...]:
    """Take names of arms, commas between them; returned in their usual order, plain among them."""
    named = word.split(",")
    for name in named:
        if name not in ARMS:
            raise argparse.ArgumentTypeError(f"there is no arm {name!r}; there are {', '.join(ARMS)}")
    return tuple(name for name in ARMS if name == PLAIN or name in named)
