"""The options that say how a reply is drafted."""

from __future__ import annotations

import argparse
from typing import Final

from plgd.protocol.drafting import MAX_DRAFTS, DraftingParams
from plgd_cli.parser import Parser, positive

__all__ = ("add_drafting_options", "drafting_params")

# Option -> what it does; each is the parameter of the same name. The daemon knows what may go together.
NUMBERS: Final = {
    "--max-draft": "most tokens in one draft",
    "--ngram-min": "shortest n-gram that is looked up, 1 to 16",
    "--ngram-max": "longest n-gram that is looked up, 1 to 16",
}


def add_drafting_options(parser: Parser) -> None:
    """Add the options."""
    group = parser.add_argument_group("drafting", "What is left out is as configured, or the named policy's own.")
    group.add_argument("--policy", choices=tuple(MAX_DRAFTS), help="how much to draft; off is plain decoding")
    for option, meaning in NUMBERS.items():
        group.add_argument(option, metavar="N", type=positive, help=meaning)


def drafting_params(arguments: argparse.Namespace) -> DraftingParams | None:
    """Return what was asked for, or None when nothing was."""
    names = DraftingParams.__struct_fields__
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return DraftingParams(**given) if given else None
