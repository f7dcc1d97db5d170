"""Turns cases into tokens: the prompt that the daemon makes of a request, and the reply that it wants."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
from transformers import PreTrainedTokenizerFast

from plgd.documents.document import Document
from plgd.edits.prompt import Prompt, make_prompt
from plgd.edits.view import view
from plgd.engine.mlx.text import MlxTokenizer
from plgd.engine.model import Tokenizer
from plgd.protocol.edits import LineRange
from plgd.text.lines import split_lines
from training.cases import Case
from training.decisions import Weights, weigh

__all__ = ("Example", "Tokens", "case_prompt", "make_example", "open_tokenizer", "wanted_text")

Tokens = npt.NDArray[np.int32]


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """A case as the model meets it.

    Attributes:
        prompt: up to the first token of the new text.
        reply: the new text, the fence that closes it and the token that ends the turn.
        weights: how much each token of the reply counts.
    """

    prompt: Tokens
    reply: Tokens
    weights: Weights

    @property
    def n_tokens(self) -> int:
        """Length of prompt and reply together."""
        return len(self.prompt) + len(self.reply)


class _Wrapper:
    """What plgd's tokenizer asks of mlx-lm's wrapper, without mlx: training runs where mlx may be missing."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401  # transformers', without annotations
        self._tokenizer = tokenizer
        self.has_chat_template = tokenizer.chat_template is not None
        self.eos_token_ids = {tokenizer.eos_token_id}

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Pass on the rest."""
        return getattr(self._tokenizer, name)


def open_tokenizer(folder: Path) -> MlxTokenizer:
    """Open a model folder's tokenizer as the daemon does.

    Raises:
        UnsupportedModel: not a fast tokenizer, or its chat template cannot be used.
    """
    return MlxTokenizer(_Wrapper(PreTrainedTokenizerFast.from_pretrained(folder)), str(folder))


def make_example(case: Case, tokenizer: MlxTokenizer) -> Example:
    """Make the tokens of a case.

    The reply is tokenized by itself, since its first token follows a prompt whose tokens stand.
    """
    prompt = case_prompt(case, tokenizer)
    reply = [*tokenizer.encode(wanted_text(case) + prompt.fence), min(tokenizer.eos_tokens)]
    source = tokenizer.encode(_source_text(case) + prompt.fence)
    weights = weigh([*source, reply[-1]], reply, lambda token: _ends_line(tokenizer, token))
    return Example(np.array(prompt.tokens, np.int32), np.array(reply, np.int32), weights)


def case_prompt(case: Case, tokenizer: Tokenizer) -> Prompt:
    """Make the prompt that the daemon makes of a case."""
    document = Document.of_text(case.text, PurePosixPath(case.path).name)
    lines = LineRange(first=case.first_line or 1, last=case.last_line or len(document.lines))
    return make_prompt(document, lines, case.instruction, tokenizer)


def wanted_text(case: Case) -> str:
    r"""Return the right answer as the model is to write it: every line ends in `\n`, no byte order mark."""
    return view(split_lines(case.new_text.removeprefix("\ufeff")))


def _source_text(case: Case) -> str:
    """Return what the reply rewrites, as the model is shown it."""
    lines = split_lines(case.text.removeprefix("\ufeff"))
    return view(lines[(case.first_line or 1) - 1 : case.last_line])


@cache
def _ends_line(tokenizer: MlxTokenizer, token: int) -> bool:
    return "\n" in tokenizer.decode([token])
