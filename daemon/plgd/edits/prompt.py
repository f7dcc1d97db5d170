r"""The prompt: one format, the same that the built-in model is trained on.

The user's turn is `File: NAME`, the file in a fence, a blank line and the instruction. For a range, the lines to
rewrite stand again in a second fence after the file; a sketch of the change stands in a fence after the instruction.
The model's turn is opened with the fence, so that its first token is the first token of the new text.

The model sees every line end in `\n` and no byte order mark; `view.py` puts back what that hid.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from plgd.documents.document import Document
from plgd.documents.tokens import TokenIndex
from plgd.edits.language import language_of
from plgd.edits.view import view
from plgd.engine.model import Tokenizer
from plgd.protocol.edits import LineRange

__all__ = ("Prompt", "fence_for", "make_prompt", "wants_fences")

SYSTEM: Final = "You rewrite text. Reply with the complete new text in one fenced block and nothing else."

# Follows the instruction where there is a sketch, and stands alone where the sketch says it all.
SKETCH_WORDS: Final = (
    "Make the change that the block below shows. It leaves out what stays as it is: a line such as "
    "`... existing code ...` stands for it. Write out all of the text."
)

_BACKTICKS: Final = re.compile(r"`+")
_WANTS_FENCES: Final = re.compile(r"\bcode[ -]?(?:block|snippet|sample|example)s?\b|\bfence[sd]?\b|```", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model is given.

    Attributes:
        tokens: the whole prompt, up to the first token of the new text.
        source: the lines to rewrite as the model sees them; the reply resembles it.
        language: the name after the fence.
        fence: what closes the reply.
    """

    tokens: tuple[int, ...]
    source: str
    language: str
    fence: str


def make_prompt(
    document: Document,
    lines: LineRange,
    instruction: str,
    tokenizer: Tokenizer,
    *,
    index: TokenIndex | None = None,
    sketch: str = "",
) -> Prompt:
    """Make the prompt of an edit.

    Args:
        document: the text.
        lines: what is to be rewritten; all lines for a whole file.
        instruction: the user's words; blanks around them are dropped.
        tokenizer: the model's.
        index: of the whole text as the model sees it, so that it is not tokenized again.
        sketch: of the new lines, as the model sees it; may say all there is to say.
    """
    source = view(document.lines[lines.first - 1 : lines.last])
    whole = view(document.lines)
    instruction = instruction.strip()
    fence, language = fence_for(whole + sketch, instruction), language_of(document.name)
    opening = f"{fence}{language}\n"
    shown = re.sub(r"\s", " ", document.name)  # a file's name may hold newlines
    head = f"File: {shown}\n{opening}"
    if sketch:
        instruction = f"{instruction}\n{SKETCH_WORDS}\n{opening}{sketch}{fence}".lstrip()
    user = head + whole + _behind_whole(whole, source, instruction, opening, fence)
    if index is not None and index.text == whole:
        tokens = index.encode_chat(SYSTEM, user, opening, len(head))
    else:
        tokens = tokenizer.encode_chat(SYSTEM, user, opening)
    return Prompt(tuple(tokens), source, language, fence)


def fence_for(text: str, instruction: str) -> str:
    """Return a fence longer than any run of backticks in the text and the instruction.

    It has one backtick more when the instruction asks for a fenced block: the ordinary three will be in the reply.
    """
    longest = max((len(run) for run in _BACKTICKS.findall(text + "\n" + instruction)), default=0)
    return "`" * (max(longest, 3 if wants_fences(instruction) else 2) + 1)


def wants_fences(instruction: str) -> bool:
    """Tell whether the instruction asks for a fenced block in the new text."""
    return _WANTS_FENCES.search(instruction) is not None


def _behind_whole(whole: str, source: str, instruction: str, opening: str, fence: str) -> str:
    again = f"{opening}{source}{fence}\n" if source != whole else ""
    return f"{fence}\n{again}\n{instruction}"
