"""How many tokens a request and its reply are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from plgd.documents.document import Document
from plgd.edits.prompt import make_prompt
from plgd.engine.model import Detokenizer
from plgd.protocol.edits import LineRange
from training.cases import Case

__all__ = ("CHARACTERS_PER_TOKEN", "CountingTokenizer", "n_tokens", "token_counter")

# A careful guess for where no tokenizer is at hand.
CHARACTERS_PER_TOKEN: Final = 3
# The chat template's own tokens, and those that close the reply.
N_TEMPLATE_TOKENS: Final = 24


class CountingTokenizer:
    """A tokenizer that is good for counting alone."""

    def __init__(self, count: Callable[[str], int]) -> None:
        """Take a function that counts the tokens of a text."""
        self._count = count

    def encode(self, text: str) -> list[int]:
        """Return as many tokens as the text has."""
        return [0] * self._count(text)

    def encode_chat(self, system: str, user: str, reply_start: str) -> list[int]:
        """Return as many tokens as the chat has, the template's own included."""
        return [0] * (self._count(system + user + reply_start) + N_TEMPLATE_TOKENS)

    def decode(self, tokens: Sequence[int]) -> str:
        """Counted tokens mean nothing.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError

    def detokenizer(self) -> Detokenizer:
        """Counted tokens mean nothing.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError

    @property
    def control_strings(self) -> frozenset[str]:
        """None."""
        return frozenset()


@cache
def token_counter(path: Path | None) -> CountingTokenizer:
    """Count by a `tokenizer.json`, or by characters without one."""
    if path is None:
        return CountingTokenizer(lambda text: -(-len(text) // CHARACTERS_PER_TOKEN))
    tokenizer = Tokenizer.from_file(str(path))
    return CountingTokenizer(lambda text: len(tokenizer.encode(text, add_special_tokens=False)))


def n_tokens(case: Case, tokenizer: CountingTokenizer) -> int:
    """Return the length of a case's prompt and reply."""
    document = Document.of_text(case.text, case.path.rsplit("/", 1)[-1])
    lines = LineRange(first=case.first_line or 1, last=case.last_line or len(document.lines))
    prompt = make_prompt(document, lines, case.instruction, tokenizer)
    return len(prompt.tokens) + len(tokenizer.encode(case.new_text + prompt.fence))
