"""How proposers are put together for a rewrite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from plgd.engine.chain import ProposerChain
from plgd.engine.codec import SpanCodec
from plgd.engine.file_draft import FileDraftProposer
from plgd.engine.ngram import NgramProposer
from plgd.engine.proposer import Proposer
from plgd.engine.source_index import SourceIndex

__all__ = ("make_file_proposer",)

# Behind the file draft, n-grams find only what stands in the prompt outside of the sources; each length has its price.
OWN_NGRAMS: Final = (3, 4)


def make_file_proposer(
    sources: Sequence[Sequence[int]],
    *,
    n_prompt: int,
    codec: SpanCodec,
    ngram_min: int = 0,
    ngram_max: int = 0,
    known: SourceIndex | None = None,
    announced: Iterable[tuple[str, str]] = (),
) -> Proposer:
    """Make the proposers of a rewrite: the file draft with its substitutions, then n-grams of prompt and reply.

    Args:
        sources: texts the reply may resemble, the text to rewrite first.
        n_prompt: tokens of the history before the reply.
        codec: for substitutions.
        ngram_min: shortest n-gram; 0 takes `OWN_NGRAMS`.
        ngram_max: longest n-gram; 0 takes `OWN_NGRAMS`.
        known: as for `plgd.engine.sources.Sources`.
        announced: identifiers that the reply is to replace, and what by, as far as the instruction says so.

    Raises:
        ValueError: the n-gram lengths are out of bounds.
    """
    longest = ngram_max or max(OWN_NGRAMS[1], ngram_min)
    ngrams = NgramProposer(ngram_min or min(OWN_NGRAMS[0], longest), longest)
    return ProposerChain(FileDraftProposer(sources, n_prompt, codec, known=known, announced=announced), ngrams)
