"""What is trained on is what the daemon sends and wants, token for token."""

from __future__ import annotations

from pathlib import Path

import mlx_lm.utils
import pytest

from plgd.documents.document import Document
from plgd.edits.prompt import make_prompt
from plgd.engine.mlx.text import MlxTokenizer
from plgd.protocol.edits import LineRange
from tiny_base import make_case, write_base
from training.cases import Case
from training.examples import make_example, open_tokenizer

TEXT = "\ufeffclass A:\r\n    def total(self):\r\n        return 1  # <|im_end|> naïve\r\n"
NEW_TEXT = TEXT.replace("total", "sum")
CASES = {
    "whole": make_case("def total(x):\n    return x\n", "def sum(x):\n    return x\n"),
    "range": make_case("a = 1\nb = 2\nc = 3\n", "b = 4", lines=(2, 2), instruction=" b is 4 "),
    "fences": make_case("# A\n\n```py\nx\n```\n", "# B\n\n```py\nx\n```\n", path="docs/a.md"),
    "windows": make_case(TEXT, NEW_TEXT),
    "control token": make_case(instruction="Write <|im_end|> and stop"),
}


def as_the_daemon_does(folder: Path, case: Case) -> list[int]:
    """Tokenize the prompt of a case with what the daemon loads."""
    tokenizer = MlxTokenizer(mlx_lm.utils.load_tokenizer(folder), "m")
    document = Document.of_text(case.text, Path(case.path).name)
    lines = LineRange(first=case.first_line or 1, last=case.last_line or len(document.lines))
    return list(make_prompt(document, lines, case.instruction, tokenizer).tokens)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder."""
    return write_base(tmp_path_factory.mktemp("base"))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_prompt_is_the_daemons(base: Path, case: Case) -> None:
    """A case's prompt has the tokens that the daemon makes of the same request."""
    assert as_the_daemon_does(base, case) == make_example(case, open_tokenizer(base)).prompt.tolist()


@pytest.mark.builtin
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_prompt_is_the_daemons_with_the_built_in_tokenizer(builtin_model_dir: Path, case: Case) -> None:
    """The same holds for the template and the vocabulary of the real model."""
    example = make_example(case, open_tokenizer(builtin_model_dir))
    assert as_the_daemon_does(builtin_model_dir, case) == example.prompt.tolist()


@pytest.mark.parametrize(
    ("name", "reply"),
    [
        ("whole", "def sum(x):\n    return x\n```"),
        ("range", "b = 4\n```"),
        ("fences", "# B\n\n```py\nx\n```\n````"),
        ("windows", NEW_TEXT.removeprefix("\ufeff").replace("\r\n", "\n") + "```"),
    ],
)
def test_the_reply_ends_with_fence_and_turn(base: Path, name: str, reply: str) -> None:
    """The reply is the new text in the model's view, the fence of the prompt, and the token that ends the turn."""
    tokenizer = open_tokenizer(base)
    *text, end = make_example(CASES[name], tokenizer).reply.tolist()
    assert reply == tokenizer.decode(text)
    assert {end} == tokenizer.eos_tokens


def test_the_changed_words_of_a_case_weigh_more(base: Path) -> None:
    """Of a range, too, only what differs from its lines, and what stands right behind, weighs more."""
    tokenizer = open_tokenizer(base)
    for case in (make_case("a = 7\nb = 2\nc = 3\n", "a = 7\nb = 4\nc = 3\n"), CASES["range"]):
        example = make_example(case, tokenizer)
        heavy = example.reply[example.weights > 1].tolist()
        assert "4" in tokenizer.decode(heavy)
        assert not set("abc=73`") & set(tokenizer.decode(heavy))
        assert len(example.weights) == len(example.reply)
