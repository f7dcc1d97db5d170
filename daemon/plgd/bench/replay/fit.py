"""Fits the weights that the odds begin with: `python -m plgd.bench.replay.fit TOKENIZER_DIR`.

It replays the tuning part of the corpus, every synthetic edit and replies that rewrite nothing, lets the odds learn
from each token, more slowly from pass to pass, and prints what `plgd.engine.odds_start` is to hold.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from plgd.bench.material.choice import KINDS, make_traces
from plgd.bench.material.corpus import load_corpus, read_listing
from plgd.bench.material.pairs import FilePair
from plgd.bench.replay.trace import PlainTokenizer, Trace, open_tokenizer
from plgd.engine.file_draft import FileDraftProposer
from plgd.engine.odds import Odds, Traits
from plgd.engine.odds_start import StartWeights
from plgd.paths import Paths

__all__ = ("FittedOdds", "fit", "main")

# Steps of learning in each pass; what all tokens share moves slower than what few do.
PASSES: Final = (0.05, 0.02, 0.01)
SHARED: Final = 0.3
N_EACH: Final = 6
BLANK: Final = StartWeights(
    by_origin=((-0.5,) * 7,) * 9,
    by_run=(1.0, 2.0, 3.0, 4.0),
    by_patch=(0.0,) * 4,
    by_age=(0.0,) * 5,
    by_share=(0.0,) * 5,
)


class FittedOdds(Odds):
    """Learns all weights, and no bias, over many replies."""

    step = PASSES[0]

    def learn(self, traits: Traits, *, came_true: bool, was_believed: bool) -> None:  # noqa: ARG002 - there is no bias
        """Learn from one token that a hypothesis foretold."""
        surprise = self.step * (came_true - self.chance(traits))
        self.cells[traits.row][traits.column] += surprise
        if traits.age is not None:
            self.by_age[traits.age] += SHARED * surprise
        self.by_share[self.share] += SHARED * surprise


def fit(traces: Sequence[Trace], tokenizer: PlainTokenizer) -> StartWeights:
    """Return the weights learnt from traces."""
    odds = FittedOdds(BLANK)
    for step in PASSES:
        odds.step = step
        for trace in traces:
            odds.begin()
            proposer = FileDraftProposer([trace.source], 0, tokenizer, odds=odds)
            for token in trace.reply:
                proposer.propose(1)
                proposer.extend((token,))
    n_origins = len(BLANK.by_origin)
    return StartWeights(
        by_origin=tuple(map(_rounded, odds.cells[:n_origins])),
        by_run=_rounded(odds.cells[n_origins]),
        by_patch=_rounded(odds.cells[n_origins + 1]),
        by_age=_rounded(odds.by_age),
        by_share=_rounded(odds.by_share),
    )


def main(folder: Path) -> None:
    """Fit and print."""
    packages = tuple(package for package in read_listing() if package.part == "tuning")
    pairs: list[FilePair] = load_corpus(
        packages, Paths.from_environment().cache_dir / "corpus", n_each=N_EACH, say=print
    )
    tokenizer = open_tokenizer(folder)
    traces = list(make_traces(pairs, KINDS, tokenizer))
    random.Random(0).shuffle(traces)  # noqa: S311 - the same order every time
    sys.stdout.write(f"{fit(traces, tokenizer)}\n")


def _rounded(weights: Sequence[float]) -> tuple[float, ...]:
    return tuple(round(weight, 2) for weight in weights)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
