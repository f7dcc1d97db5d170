"""The head of a document's prompts: the tokens that they all begin with, whatever the instruction and the range."""

from __future__ import annotations

from plgd.documents.document import Document
from plgd.documents.loans import Label
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
    # A model that is shown ranges alone shares nothing of the text between them; whole files it does share.
    other = whole if model.ranges_alone else first
    prompts = [
        make_prompt(document, lines, instruction, model.tokenizer, ranges_alone=model.ranges_alone, index=index).tokens
        for lines, instruction in ((whole, "a"), (other, "("))
    ]
    return prompts[0][: common_prefix(*prompts)]


def document_label(document: Document, *, alone: bool = False) -> Label:
    """Return what the model's state for a document is kept under.

    Args:
        document: the text.
        alone: the prompt shows a part of it alone.
    """
    return Label(str(document.path or document.name), alone)
