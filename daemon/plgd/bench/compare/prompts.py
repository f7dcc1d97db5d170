"""Turns a workload into the tokens that a model is given."""

from __future__ import annotations

from typing import Final

from plgd.bench.compare.recordings import RECORDINGS
from plgd.bench.compare.workloads import EditWorkload, Workload
from plgd.documents.document import Document
from plgd.edits.announced import announced
from plgd.edits.prompt import Prompt, make_prompt
from plgd.engine.model import Model, Tokenizer
from plgd.protocol.edits import LineRange

__all__ = ("foresee", "record", "tokenize", "tokenize_source")

SYSTEM: Final = "You are a helpful assistant."


def tokenize(workload: Workload, tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the whole prompt, up to the first token of the reply.

    An edit gets the prompt that `plgd edit` makes, a message the model's chat template.
    """
    if isinstance(workload, EditWorkload):
        return _prompt(workload, tokenizer).tokens
    return tuple(tokenizer.encode_chat(SYSTEM, workload.user, ""))


def tokenize_source(workload: Workload, tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the text that a file draft is read from: the file with the fence that ends it, or the whole message."""
    if isinstance(workload, EditWorkload):
        prompt = _prompt(workload, tokenizer)
        return tuple(tokenizer.encode(prompt.source + prompt.fence))
    return tuple(tokenizer.encode(workload.user))


def foresee(workload: Workload) -> tuple[tuple[str, str], ...]:
    """Return what an edit's instruction says that the reply replaces, and what by; of a message, nothing."""
    return announced(workload.instruction, workload.text) if isinstance(workload, EditWorkload) else ()


def _prompt(workload: EditWorkload, tokenizer: Tokenizer) -> Prompt:
    document = Document.of_text(workload.text, workload.file)
    whole = LineRange(first=1, last=len(document.lines))
    return make_prompt(document, whole, workload.instruction, tokenizer)


def record(workload: Workload, model: Model) -> tuple[int, ...]:
    """Return the workload's recorded reply as tokens, with one that ends it."""
    return (*model.tokenizer.encode(RECORDINGS[workload.name]), min(model.eos_tokens))
