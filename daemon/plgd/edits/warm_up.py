"""Makes a text warm before anybody asks for an edit of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Final

from plgd.documents.document import Document
from plgd.documents.warm import WarmStore
from plgd.edits.events import JobProgress
from plgd.edits.head import document_label, prompt_head
from plgd.edits.view import view
from plgd.engine.model import Model
from plgd.errors import TextTooLong
from plgd.protocol.documents import WarmResult
from plgd.protocol.edits import Stage

__all__ = ("may_fit", "warm_steps")

# Characters of an ordinary token, generously: a text with more of them than the context holds needs no tokenizing.
_TOKEN_CHARACTERS: Final = 16


def may_fit(n_characters: int, model: Model) -> bool:
    """Tell, without tokenizing, whether a text might be short enough for a model's context."""
    return n_characters <= _TOKEN_CHARACTERS * model.context_limit


def warm_steps(
    document: Document,
    *,
    received: float,
    model: Model,
    warm: WarmStore,
    slice_tokens: int,
    displaces: bool = True,
    clock: Callable[[], float] = time.monotonic,
) -> Generator[JobProgress, None, WarmResult]:
    """Prefill what every prompt on a text begins with. Closing the generator keeps what is done.

    Args:
        document: the text.
        received: when the request arrived, by `clock`.
        model: in memory, and this thread's.
        warm: where it is kept.
        slice_tokens: tokens per pass of the model.
        displaces: what is kept of other texts may go for it.
        clock: seconds from any start.

    Yields:
        Progress after each slice.

    Raises:
        TextTooLong: the text alone does not fit into the model's context.
        EngineError: the model failed.
    """
    text = view(document.lines)
    label = document_label(document)
    if not may_fit(len(text), model):
        raise TextTooLong.of(document.shown(), len(text) // _TOKEN_CHARACTERS, model.context_limit, about=True)
    index = warm.index(label, text, model.tokenizer)
    head = prompt_head(document, model, index)
    if len(head) >= model.context_limit:
        raise TextTooLong.of(document.shown(), len(head), model.context_limit)
    while warm.is_lent(label):
        yield JobProgress(Stage.PREFILL, 0.0, 0)  # the edit that uses it leaves the text warm
    warm.recall(label, model.target(), displaces=displaces)
    n_cached = warm.reach(label, head)
    n_cold = len(head) - 1 - n_cached
    while n_cold:
        n_cold = warm.extend(label, model.target(), head, slice_tokens, displaces=displaces)
        n_done = len(head) - n_cold
        yield JobProgress(Stage.PREFILL, 100.0 * n_done / len(head), n_done)
        if not warm.reach(label, head):
            break  # the memory for it does not suffice
    index.source()  # so that the next edit finds it ready
    return WarmResult(
        path=str(document.path or ""),
        model=model.name,
        head_tokens=len(head),
        cached_tokens=n_cached,
        warm_tokens=warm.reach(label, head),
        kv_bytes=warm.bytes_of(label),
        total_ms=1000.0 * (clock() - received),
    )
