"""The tokens of an edit's text: from the token index of the document where there is one."""

from __future__ import annotations

from plgd.documents.tokens import TokenIndex
from plgd.edits.request import PreparedEdit
from plgd.edits.view import view
from plgd.engine.model import Tokenizer
from plgd.engine.source_index import SourceIndex

__all__ = ("TextTokens",)


class TextTokens:
    """Tokenizes what an edit needs of its text.

    Args:
        edit: the request.
        tokenizer: the model's.
        index: of the whole text as the model sees it.
    """

    def __init__(self, edit: PreparedEdit, tokenizer: Tokenizer, index: TokenIndex | None = None) -> None:
        self._edit = edit
        self._tokenizer = tokenizer
        self._index = index

    def source(self, behind: str) -> list[int]:
        """Return the tokens of the lines to rewrite, with a text behind them."""
        source = view(self._edit.source_lines)
        if self._index is None:
            return self._tokenizer.encode(source + behind)
        start = len(view(self._edit.document.lines[: self._edit.lines.first - 1]))
        return self._index.encode_part(start, start + len(source), behind)

    def known(self) -> SourceIndex | None:
        """Return the draft index of the whole text where one is kept."""
        return None if self._index is None else self._index.source()

    def whole(self) -> list[int]:
        """Return the tokens of the whole text."""
        if self._index is None:
            return self._tokenizer.encode(view(self._edit.document.lines))
        return self._index.tokens()
