"""How proposers are put together for a rewrite."""

from __future__ import annotations

from collections.abc import Sequence

from plgd.engine.chain import ProposerChain
from plgd.engine.codec import SpanCodec
from plgd.engine.file_draft import FileDraftProposer
from plgd.engine.governor import make_proposer
from plgd.engine.proposer import Proposer

__all__ = ("make_file_proposer",)


def make_file_proposer(sources: Sequence[Sequence[int]], *, n_prompt: int, codec: SpanCodec) -> Proposer:
    """Make the proposers of a rewrite: the file draft with its substitutions, then n-grams of prompt and reply.

    Args:
        sources: texts the reply may resemble, the text to rewrite first.
        n_prompt: tokens of the history before the reply.
        codec: for substitutions.
    """
    return ProposerChain(FileDraftProposer(sources, n_prompt, codec), make_proposer("cost"))
