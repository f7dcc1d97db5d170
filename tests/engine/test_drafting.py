"""How the proposers of a rewrite are put together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from plgd.engine.chain import ProposerChain
from plgd.engine.drafting import make_file_proposer
from plgd.engine.file_draft import FileDraftProposer
from plgd.engine.ngram import NgramProposer


class Characters:
    """A codec of one token per character."""

    def encode(self, text: str) -> list[int]:
        return list(map(ord, text))

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(map(chr, tokens))


def test_the_file_goes_first_and_the_prompt_helps_out() -> None:
    """The source is drafted from the start; what stands in the prompt alone is found by its n-grams."""
    codec = Characters()
    prompt = codec.encode("say: hello world!")
    proposer = make_file_proposer([codec.encode("abcdef")], n_prompt=len(prompt), codec=codec)
    proposer.extend(prompt)
    assert "abc" == codec.decode(proposer.propose(3).tokens)
    proposer.extend(codec.encode("hello "))
    draft = proposer.propose(5)
    assert ("world", "ngram") == (codec.decode(draft.tokens), draft.proposer)


def test_later_proposers_are_told_when_they_are_asked() -> None:
    """Behind a proposer that knows what follows, a long prompt costs nothing; the next knows all when it is asked."""

    class Counting(NgramProposer):
        n_told = 0

        def extend(self, tokens: Sequence[int]) -> None:
            self.n_told += len(tokens)
            super().extend(tokens)

    ngrams = Counting(2, 3)
    chain = ProposerChain(FileDraftProposer([[1, 2, 3, 4]], 6), ngrams)
    for piece in ([7, 8, 9], [5, 6, 6]):
        chain.extend(piece)
    assert ((1, 2), 0) == (chain.propose(2).tokens, ngrams.n_told)
    chain.extend([7, 8])
    assert ((9, 5), 8) == (chain.propose(2).tokens, ngrams.n_told)


@pytest.mark.parametrize("bounds", [(0, 0), (0, 1), (6, 0), (2, 3), (0, 16), (16, 0)])
def test_lengths_of_n_grams_may_be_given_in_part(bounds: tuple[int, int]) -> None:
    """Whichever bound is left open fits the one that is given."""
    proposer = make_file_proposer([], n_prompt=0, codec=Characters(), ngram_min=bounds[0], ngram_max=bounds[1])
    proposer.extend([1, 2, 3] * 8)
    assert proposer.propose(3).tokens
