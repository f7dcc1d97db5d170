"""The head of a document's prompts: the tokens that they all begin with, whatever the instruction and the range."""

from __future__ import annotations

from plgd.documents.document import Document
from plgd.documents.tokens import TokenIndex
from plgd.edits.prompt import make_prompt
from plgd.engine.model import Model
from plgd.protocol.edits import LineRange
from plgd.text.overlap import common_prefix

__all__ = ("document_label", "prompt_head")


def prompt_head(document: Document, model: Model, index: TokenIndex) -> tuple[int, ...]:
    """Return the shared head, found as what the prompts of two different edits have in common.

    Args:
        document: the text.
        model: whose prompts.
        index: of the text as the model sees it.
    """
    whole, first = LineRange(first=1, last=len(document.lines)), LineRange(first=1, last=1)
    prompts = [
        make_prompt(document, lines, instruction, model.tokenizer, index=index).tokens
        for lines, instruction in ((whole, "a"), (first, "("))
    ]
    return prompts[0][: common_prefix(*prompts)]


def document_label(document: Document) -> str:
    """Return what the model's state for a document is kept under."""
    return str(document.path or document.name)
