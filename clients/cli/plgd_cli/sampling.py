"""The options that say how a reply is sampled."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final, get_args, get_type_hints

import msgspec

from plgd.protocol.sampling import SamplingParams
from plgd_cli.parser import Parser

__all__ = ("add_sampling_options", "sampling_params")

# Option -> what it does; each is the parameter of the same name. `logit_bias` and `penalty_context` are for programs.
OPTIONS: Final = {
    "--temperature": "0 takes the likeliest token each time, up to 2",
    "--top-p": "keep the likeliest tokens that have this probability together",
    "--top-k": "keep so many likeliest tokens; 0 keeps all",
    "--min-p": "keep tokens with this share of the likeliest one's probability",
    "--seed": "repeat the reply that had this seed",
    "--repetition-penalty": "make tokens that occurred less likely; 1 is none",
    "--presence-penalty": "subtract this from the logits of tokens that occurred",
    "--frequency-penalty": "the same for each time that a token occurred",
}


def add_sampling_options(parser: Parser) -> None:
    """Add the options; the bounds are the protocol's own."""
    group = parser.add_argument_group("sampling", "What is left out is as configured; greedy unless you changed that.")
    hints = get_type_hints(SamplingParams, include_extras=True)
    for option, meaning in OPTIONS.items():
        bounded, _ = get_args(hints[_name(option)])  # or null, which is what an option left out means
        number = int if get_args(bounded)[0] is int else float
        group.add_argument(option, metavar="N" if number is int else "X", type=_bounded(number, bounded), help=meaning)


def sampling_params(arguments: argparse.Namespace) -> SamplingParams | None:
    """Return what was asked for, or None when nothing was."""
    given = {name: getattr(arguments, name) for name in map(_name, OPTIONS) if getattr(arguments, name) is not None}
    return SamplingParams(**given) if given else None


def _name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


def _bounded(number: type[int | float], bounded: object) -> Callable[[str], float]:
    """Make the type of an option from a kind of number and the parameter's type, which knows the bounds."""

    def read(word: str) -> float:
        try:
            value = number(word)
        except ValueError:
            what = "a whole number" if number is int else "a number"
            raise argparse.ArgumentTypeError(f"{word!r} is not {what}") from None
        try:
            msgspec.convert(value, bounded)
        except msgspec.ValidationError as error:
            bound = str(error).removeprefix(f"Expected `{number.__name__}` ")  # leaves such as `<= 2.0`
            raise argparse.ArgumentTypeError(f"{word} is out of bounds: it must be {bound}") from error
        return value

    return read
