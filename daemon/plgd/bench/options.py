"""The options of `plgd bench`, shared by the command line, which hands them on, and the process that measures.

Nothing heavy is imported here: `plgd bench --help` answers at once.
"""

from __future__ import annotations

import argparse
import os.path
from pathlib import Path
from typing import Final

from plgd.bench.compare.workloads import WORKLOADS

__all__ = (
    "ARMS",
    "DEFAULT_REPEATS",
    "MODES_OF",
    "NGRAMS_ONLY",
    "PLAIN",
    "add_options",
    "find_misplaced",
    "whole_number",
)

# The arm that every other one is compared with: mlx-lm's own decoding.
PLAIN: Final = "plain"
# The policy `cost` without what edits draft from first, the file: for prompts that rewrite nothing known.
NGRAMS_ONLY: Final = "cost-ngram"
DEFAULT_REPEATS: Final = 5

# Which measurements an option belongs to.
MODES_OF: Final = {
    "model": ("compare", "widths", "replay", "traces", "divergences", "edits", "warm", "load"),
    "repeats": ("compare", "widths", "host", "traces", "warm", "load"),
    "only": ("compare", "divergences"),
    "arms": ("compare",),
    "max_tokens": ("compare", "traces", "divergences", "load"),
    "replies": ("compare", "traces"),
    "plot": ("compare", "replay", "load"),
    **dict.fromkeys(("pairs", "part"), ("replay", "traces")),
    "quick": ("replay", "traces", "edits", "load"),
    "kinds": ("replay", "traces", "edits"),
    **dict.fromkeys(("suite", "speedup"), ("edits",)),
    **dict.fromkeys(("policies", "tables", "cost_tables", "tokenizer"), ("replay",)),
    **dict.fromkeys(("n_traces", "max_seconds"), ("traces",)),
    "lengths": ("warm",),
    "requests": ("warm", "load"),
    **dict.fromkeys(("parts", "clients", "n_edits", "arrivals", "connections", "calls", "seconds"), ("load",)),
}

# Options of which the first leaves the second nothing to say.
OVERRULED: Final = (("pairs", "part"), ("pairs", "quick"), ("tokenizer", "model"))

ARMS: Final = (PLAIN, "off", "ds4", "graded", "gated", NGRAMS_ONLY, "cost")


def add_options(parser: argparse.ArgumentParser) -> argparse._MutuallyExclusiveGroup:
    """Add the options of every measurement to a parser.

    Returns:
        The group that chooses what to measure, for a front end with a measurement of its own.
    """
    modes = parser.add_argument_group("what to measure (without any: the five reference workloads)")
    mode = modes.add_mutually_exclusive_group()
    for name, summary in (
        ("widths", "the cost of each verify width, by context length"),
        ("divergences", "how often drafted replies leave plain decoding's in low precision, with `exact` and without"),
        ("edits", "how good a model's edits are, and how fast, on edits whose right answers are known"),
        ("warm", "the time to the first token, cold and warm, by the length of the text; keystrokes; memory"),
        ("load", "many edits at once, many connections, many requests, on a daemon of its own"),
        ("host", "the time that plgd's own loop takes in a round, without a model"),
        ("replay", "what each policy makes of real edits, at the prices of any device, without weights"),
        ("traces", "the same edits in real time: the model computes every pass, the text is the edit's"),
    ):
        mode.add_argument(f"--{name}", dest="mode", action="store_const", const=name, help=summary)
    parser.set_defaults(mode="compare")

    shared = parser.add_argument_group("for every measurement")
    shared.add_argument("--json", action="store_true", help="print the result as JSON")
    shared.add_argument("--model", metavar="NAME", help="the model; by default the one that edits use")
    shared.add_argument(
        "--repeats", type=whole_number, metavar="N", help=f"timed repeats (default {DEFAULT_REPEATS}; of traces, 1)"
    )

    _add_compare_options(parser.add_argument_group("for the reference workloads"))
    _add_material_options(parser.add_argument_group("for replays and traces; the last two for --edits, too"))
    _add_replay_options(parser.add_argument_group("for replays"))
    traces = parser.add_argument_group("for traces")
    traces.add_argument("--n-traces", type=whole_number, metavar="N", help="edits of each kind (default 10)")
    traces.add_argument("--max-seconds", type=whole_number, metavar="N", help="begin no edit that would end later")
    warm = parser.add_argument_group("for --warm")
    warm.add_argument(
        "--lengths", type=_whole_numbers, metavar="N,...", help="tokens of the texts (default 500,2000,8000)"
    )
    warm.add_argument(
        "--requests",
        type=whole_number,
        metavar="N",
        help="random requests on a hundred documents, of --load on a few (default 200)",
    )
    _add_load_options(parser.add_argument_group("for --load"))
    edits = parser.add_argument_group("for --edits")
    edits.add_argument(
        "--suite",
        choices=("gate", "held-out"),
        help="written by hand (default), or made from public packages that are fetched",
    )
    edits.add_argument(
        "--speedup", action="store_true", default=None, help="carry out some of them without drafting, too"
    )
    return mode


def _add_compare_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--only", action="append", choices=tuple(WORKLOADS), help="this workload; may be given several times"
    )
    group.add_argument(
        "--arms", type=_arms, metavar="NAME,...", help=f"of {', '.join(ARMS)} (default all; {PLAIN} is always run)"
    )
    group.add_argument(
        "--replies",
        choices=("own", "recorded"),
        help="the model's own, or recorded ones that it is led along (default: its own edits, recorded prose)",
    )
    group.add_argument(
        "--max-tokens", type=whole_number, metavar="N", help="shorten the replies; for trying out, not for results"
    )
    group.add_argument("--plot", type=_picture, metavar="FILE", help="draw the speed-ups, as FILE's ending says (.png)")


def _add_material_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--pairs", type=Path, metavar="DIR", help="edits of your own: the files that differ in DIR/before and DIR/after"
    )
    group.add_argument("--part", choices=("tuning", "held-out"), help="only this part of the release pairs")
    group.add_argument("--quick", action="store_true", default=None, help="a few of them")
    group.add_argument(
        "--kinds",
        type=_names,
        metavar="NAME,...",
        help="kinds of edit (default release, of --edits all): rename, re-indent and others",
    )


def _add_replay_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--policies", type=_names, metavar="NAME,...", help="policies (default all)")
    group.add_argument("--tables", type=_names, metavar="NAME,...", help="cost tables, by name (default all)")
    group.add_argument(
        "--cost-tables", type=Path, metavar="FILE", help="a TOML file of cost tables, or the JSON of --widths"
    )
    group.add_argument(
        "--tokenizer", type=Path, metavar="DIR", help="a folder with a tokenizer.json (default the model's)"
    )


def _add_load_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--parts", type=_names, metavar="NAME,...", help="of closed, open, interactive, calls, memory (default all)"
    )
    group.add_argument(
        "--clients", type=_whole_numbers, metavar="N,...", help="edits at once (default 1,2,4,8; 1 is always run)"
    )
    group.add_argument("--n-edits", type=whole_number, metavar="N", help="edits of each loop (default 16)")
    group.add_argument(
        "--arrivals",
        type=whole_number,
        metavar="PERCENT",
        help="random arrivals, of those that one client can have answered (default 70)",
    )
    group.add_argument("--connections", type=whole_number, metavar="N", help="that ask for the status (default 200)")
    group.add_argument("--calls", type=whole_number, metavar="N", help="for the status, per second (default 2000)")
    group.add_argument("--seconds", type=whole_number, metavar="N", help="how long they ask (default 30)")


def find_misplaced(arguments: argparse.Namespace) -> str | None:
    """Say which option was given that the chosen measurement has no use for; nothing is silently ignored."""
    for option, modes in MODES_OF.items():
        if getattr(arguments, option) is not None and arguments.mode not in modes:
            return f"--{option.replace('_', '-')} says nothing to --{arguments.mode}"
    for option, other in OVERRULED:
        if getattr(arguments, option) is not None and getattr(arguments, other) is not None:
            return f"--{other} says nothing where there is --{option}"
    return None


def whole_number(word: str) -> int:
    """Take a whole number of at least 1.

    Raises:
        argparse.ArgumentTypeError: the argument is none.
    """
    if not (word.isascii() and word.isdigit() and len(word) <= 9 and int(word) > 0):
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 1 to 999999999")
    return int(word)


def _picture(word: str) -> Path:
    """Take the place of a picture: better refused now than when everything is measured.

    Raises:
        argparse.ArgumentTypeError: no picture can be written there.
    """
    path = Path(word)
    if not path.suffix:
        raise argparse.ArgumentTypeError(f"{word!r} has no ending that says the format, such as .png")
    if os.path.isdir(path) or not os.path.isdir(path.parent):  # noqa: PTH112  # these never raise
        raise argparse.ArgumentTypeError(f"{word!r} is a folder, or in none")
    return path


def _names(word: str) -> tuple[str, ...]:
    """Take names with commas between them."""
    return tuple(word.split(","))


def _whole_numbers(word: str) -> tuple[int, ...]:
    """Take whole numbers of at least 1 with commas between them."""
    return tuple(map(whole_number, word.split(",")))


def _arms(word: str) -> tuple[str, ...]:
    """Take names of arms, commas between them; returned in their usual order, plain among them."""
    named = word.split(",")
    for name in named:
        if name not in ARMS:
            raise argparse.ArgumentTypeError(f"there is no arm {name!r}; there are {', '.join(ARMS)}")
    return tuple(name for name in ARMS if name == PLAIN or name in named)
