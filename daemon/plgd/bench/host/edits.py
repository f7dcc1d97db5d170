"""plgd's own time on edits of a long document: cursor, substitutions, governor and bookkeeping, without a model."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Final

import msgspec
from tokenizers import Tokenizer as TokenizerFile
from tokenizers import decoders, models, pre_tokenizers, trainers

from plgd.bench.material.choice import make_traces
from plgd.bench.material.pairs import FilePair
from plgd.bench.material.synthetic import SYNTHETIC
from plgd.bench.replay.cost_tables import load_cost_tables
from plgd.bench.replay.run import REPLAYED
from plgd.bench.replay.target import TraceTarget
from plgd.bench.replay.trace import PlainTokenizer, Trace, stops_at_end
from plgd.engine.session import Session

__all__ = ("EDIT_LINES", "EditHostCost", "make_document", "make_edits", "measure_edit", "train_tokenizer")

EDIT_LINES: Final = 5_000
# Longer replies do the same over and over.
N_REPLY: Final = 6_000
PREFILL_SLICE: Final = 4_096
VOCABULARY: Final = 8_192
# A device on which drafts are as long as they get: the most work in a round.
TABLE: Final = "h200-8b-bf16"

WORDS: Final = tuple(
    f"{first}{last}"
    for first in ("ac", "bor", "cus", "def", "er", "fil", "hand", "in")
    for last in ("tion", "der", "ry")
)


class EditHostCost(msgspec.Struct, frozen=True, kw_only=True):
    """What plgd's own loop takes on one kind of edit.

    Attributes:
        kind: of the edit.
        n_rounds: rounds of the reply.
        round_us: median over the repeats of the mean time of a round.
        token_us: the same per committed token.
    """

    kind: str
    n_rounds: int
    round_us: float
    token_us: float


def make_document(n_lines: int) -> str:
    """Return a Python module of about so many lines, the same every time; nobody would call it sensible."""
    chance = random.Random(n_lines)  # noqa: S311  # a fixed text, no secret

    def name(n_words: int) -> str:
        return "_".join(chance.choice(WORDS) for _ in range(n_words))

    lines = ["import json", ""]
    while len(lines) < n_lines:
        one, other, result = name(1), name(1), name(2)
        lines += [
            "",
            f"def {name(3)}({one}, {other}, limit=None):",
            f"    # Every {one} has its {other}, as far as the {result} goes.",
            f'    {result} = {{"{name(1)}": {one}, "{name(1)}": len({other})}}',
            f"    for place, item in enumerate({one}):",
            "        if limit is not None and place >= limit:",
            f'            raise ValueError("no {other} behind " + str(limit))',
            f"        {result}[item.{name(1)}] = {name(2)}({other}, item.{name(1)})",
            f"    return json.dumps({result})",
            "",
        ]
    return "\n".join(lines[:n_lines]) + "\n"


def train_tokenizer(text: str) -> PlainTokenizer:
    """Return a byte-level tokenizer with the words of a text, of the kind that models have."""
    file = TokenizerFile(models.BPE())
    file.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    file.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    file.train_from_iterator(
        [text], trainers.BpeTrainer(vocab_size=VOCABULARY, initial_alphabet=alphabet, show_progress=False)
    )
    return PlainTokenizer(file)


def make_edits(n_lines: int) -> tuple[PlainTokenizer, list[Trace]]:
    """Return an edit of each kind that a document of so many lines can have, and the tokenizer."""
    text = make_document(n_lines)
    tokenizer = train_tokenizer(text)
    pair = FilePair("host", "document.py", text, text)
    return tokenizer, list(make_traces([pair], tuple(SYNTHETIC), tokenizer))


def measure_edit(
    trace: Trace, tokenizer: PlainTokenizer, *, n_repeats: int, clock: Callable[[], float] = time.process_time
) -> EditHostCost:
    """Decode the beginning of an edit's reply.

    Args:
        trace: the edit.
        tokenizer: the one that it was made with.
        n_repeats: replies; the median counts.
        clock: seconds from any start; by default of this process alone. The governor sees the simulated time.
    """
    cut = replace(trace, reply=trace.reply[:N_REPLY])
    costs, policy = load_cost_tables()[TABLE], REPLAYED["cost"]
    decode_s: list[float] = []
    for _ in range(n_repeats):
        target = TraceTarget(cut.reply, costs)
        proposer = policy.make_proposer(cut, tokenizer)
        session = Session(target, proposer, policy.make_governor(costs), clock=target.clock)
        for _ in session.prefill(cut.prompt, PREFILL_SLICE):
            pass
        started_at = clock()
        with closing(session.decode(stops_at_end(cut))) as rounds:
            for _ in rounds:
                pass
        decode_s.append(clock() - started_at)
    decode_us = 1e6 * statistics.median(decode_s)
    return EditHostCost(
        kind=trace.kind,
        n_rounds=session.stats.n_rounds,
        round_us=decode_us / session.stats.n_rounds,
        token_us=decode_us / len(cut.reply),
    )
