r"""The prompt is the one that the built-in model was trained on, to the byte."""

from __future__ import annotations

import pytest
from hypothesis import given

from plgd.documents.document import Document
from plgd.edits.prompt import fence_for, make_prompt
from plgd.protocol.edits import LineRange
from scripted_model import ByteTokenizer
from strategies import texts


class TemplateTokenizer(ByteTokenizer):
    """Writes a chat as the built-in model's template does."""

    def encode_chat(self, system: str, user: str, reply_start: str) -> list[int]:
        return self.encode(
            f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n"
            f"<|im_start|>assistant\n{reply_start}"
        )


def _prompt_text(
    text: str,
    instruction: str,
    lines: LineRange | None = None,
    name: str = "app.py",
) -> str:
    document = Document.of_text(text, name)
    lines = lines or LineRange(first=1, last=len(document.lines))
    tokenizer = TemplateTokenizer()
    return tokenizer.decode(make_prompt(document, lines, instruction, tokenizer).tokens)


def test_the_prompt_of_a_whole_file() -> None:
    """A whole file's prompt is exactly what the training recipe wrote."""
    expected = (
        "<|im_start|>system\nYou rewrite text. Reply with the complete new text in one fenced block and nothing else."
        "<|im_end|>\n<|im_start|>user\nFile: app.py\n```python\nx = 1\n```\n\nRename x to y<|im_end|>\n"
        "<|im_start|>assistant\n```python\n"
    )
    assert expected == _prompt_text("x = 1\n", "Rename x to y")


def test_the_prompt_of_a_range() -> None:
    """For a range the model sees the file and then the lines to rewrite, each in a fence."""
    expected = "File: app.py\n```python\na\nb\nc\n```\n```python\nb\n```\n\nUpper case<|im_end|>"
    assert expected in _prompt_text("a\nb\nc\n", "Upper case", LineRange(first=2, last=2))


@pytest.mark.parametrize("text", ["\ufeffa\r\nb\rc", "a\nb\nc", "a\r\nb\r\nc\r\n"])
def test_the_model_sees_one_kind_of_line_ending(text: str) -> None:
    """Carriage returns, a byte order mark and a missing final newline are hidden from the model."""
    assert "```python\na\nb\nc\n```\n\nGo" in _prompt_text(text, "Go")


def test_an_instruction_is_trimmed() -> None:
    """Blanks and newlines around an instruction do not reach the model."""
    assert _prompt_text("a\n", "Go") == _prompt_text("a\n", "\n Go \n")


def test_a_name_with_a_newline_stays_one_line() -> None:
    """A file's name cannot break out of its line."""
    assert "File: a b.py\n```python\n" in _prompt_text("a\n", "Go", name="a\nb.py")


@pytest.mark.parametrize(
    ("text", "instruction", "fence"),
    [
        ("a", "b", "```"),
        ("a `b` ``c``", "d", "```"),
        ("```\ncode\n```", "d", "````"),
        ("a", "put ```` around it", "`````"),
        ("a", "Add a code block with an example", "````"),
    ],
)
def test_the_fence_is_longer_than_what_it_encloses(text: str, instruction: str, fence: str) -> None:
    """No backticks in the text, the instruction or an expected code block can close the fence."""
    assert fence == fence_for(text, instruction)


@given(texts(), texts())
def test_the_fence_is_in_nothing(text: str, instruction: str) -> None:
    """The fence occurs neither in the text nor in the instruction."""
    fence = fence_for(text, instruction)
    assert fence not in text
    assert fence not in instruction
