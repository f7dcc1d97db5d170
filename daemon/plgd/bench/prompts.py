"""Turns a workload into the tokens that a model is given."""

from __future__ import annotations

from typing import Final

from plgd.bench.recordings import RECORDINGS
from plgd.bench.workloads import EditWorkload, Workload
from plgd.documents.document import Document
from plgd.edits.prompt import make_prompt
from plgd.engine.model import Model, Tokenizer
from plgd.protocol.messages import LineRange

__all__ = ("record", "tokenize")

SYSTEM: Final = "You are a helpful assistant."


def tokenize(workload: Workload, tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the whole prompt, up to the first token of the reply.

    An edit gets the prompt that `plgd edit` makes, a message the model's chat template.
    """
    if isinstance(workload, EditWorkload):
        document = Document.of_text(workload.text, workload.file)
        whole = LineRange(first=1, last=len(document.lines))
        return make_prompt(document, whole, workload.instruction, tokenizer).tokens
    return tuple(tokenizer.encode_chat(SYSTEM, workload.user, ""))


def record(workload: Workload, model: Model) -> tuple[int, ...]:
    """Return the workload's recorded reply as tokens, with one that ends it."""
    return (*model.tokenizer.encode(RECORDINGS[workload.name]), min(model.eos_tokens))
