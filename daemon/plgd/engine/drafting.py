"""How proposers are put together for a rewrite."""

from __future__ import annotations

from collections.abc import Sequence

from plgd.engine.chain import ProposerChain
from plgd.engine.codec import SpanCodec
from plgd.engine.file_draft import FileDraftProposer
from plgd.engine.governor import make_proposer
from plgd.engine.proposer import Proposer

__all__ = ("make_file_proposer",)


def make_file_proposer(
    sources: Sequence[Sequence[int]], *, n_prompt: int, codec: SpanCodec, ngram_min: int = 0, ngram_max: int = 0
) -> Proposer:
    """Make the proposers of a rewrite: the file draft with its substitutions, then n-grams of prompt and reply.

    Args:
        sources: texts the reply may resemble, the text to rewrite first.
        n_prompt: tokens of the history before the reply.
        codec: for substitutions.
        ngram_min: shortest n-gram; 0 takes the `cost` policy's own.
        ngram_max: longest n-gram; 0 takes the `cost` policy's own.

    Raises:
        ValueError: the n-gram lengths are out of bounds.
    """
    ngrams = make_proposer("cost", ngram_min=ngram_min, ngram_max=ngram_max)
    return ProposerChain(FileDraftProposer(sources, n_prompt, codec), ngrams)
