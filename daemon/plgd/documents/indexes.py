"""The token indexes of the documents that were used last, and the draft indexes that they hold, within bounds."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from plgd.documents.tokens import TokenIndex
from plgd.engine.model import BorderedTokenizer

__all__ = ("TokenIndexes",)

# Texts whose tokens are remembered, in characters: with their tokens they take about as many bytes, times four.
MAX_CHARACTERS: Final = 16_000_000
# Tokens of them that are remembered with an index for drafts, which takes about 400 bytes a token.
MAX_SOURCE_TOKENS: Final = 1 << 18


class TokenIndexes:
    """Token indexes by document; those used longest ago go first. Belongs to the thread that owns the model."""

    def __init__(self) -> None:
        self._indexes: OrderedDict[str, TokenIndex] = OrderedDict()

    def get(self, document: str, text: str, tokenizer: BorderedTokenizer) -> TokenIndex:
        """Return the token index of a document, brought up to date.

        Args:
            document: tells it from others.
            text: the document's, as the model sees it.
            tokenizer: the model's.
        """
        index = self._indexes.pop(document, None) or TokenIndex(tokenizer)
        index.update(text)
        self._indexes[document] = index
        self._fit()
        return index

    def drop_source(self, document: str) -> None:
        """Drop the draft index of a document; its tokens stay."""
        if document in self._indexes:
            self._indexes[document].drop_source()

    def forget(self, document: str) -> None:
        """Drop the index of a document."""
        self._indexes.pop(document, None)

    def clear(self) -> None:
        """Drop all indexes."""
        self._indexes.clear()

    def _fit(self) -> None:
        n_characters = n_tokens = 0
        for place, (document, index) in enumerate(reversed(list(self._indexes.items()))):
            n_characters += len(index.text)
            n_tokens += index.n_source
            if place and n_characters > MAX_CHARACTERS:
                del self._indexes[document]
            elif place and n_tokens > MAX_SOURCE_TOKENS:
                index.drop_source()
