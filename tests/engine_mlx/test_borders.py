"""Where a text can be cut: found by trying, and then true of every text."""

from __future__ import annotations

from pathlib import Path

import mlx_lm.utils
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_histories import histories
from families import FAMILIES, superword, train_family
from plgd.documents.tokens import TokenIndex
from plgd.engine.mlx.borders import NO_BORDER
from plgd.engine.mlx.text import MlxTokenizer
from plgd.engine.model import Span
from strategies import texts
from tiny_models import CHATML, write_tokenizer

CONTROLS = ("<|im_start|>", "<|im_end|>")


@pytest.fixture(scope="module", params=FAMILIES)
def tokenizer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> MlxTokenizer:
    """A family's tokenizer as a model's folder has it."""
    trained = train_family(request.param)
    trained.add_special_tokens([*CONTROLS, "</s>"])
    folder = tmp_path_factory.mktemp(request.param)
    write_tokenizer(folder, trained, template=CHATML, eos="</s>")
    return MlxTokenizer(mlx_lm.utils.load_tokenizer(folder), request.param)


def test_families_have_borders(tokenizer: MlxTokenizer) -> None:
    """Every family can be cut before the blank of a word and at the start of a line."""
    assert [4, 5] == [found.start() for found in tokenizer.border.finditer("two\nx y\n")]


@settings(deadline=None, max_examples=60)
@given(history=histories())
def test_the_index_equals_scratch(tokenizer: MlxTokenizer, history: tuple[str, list[str]]) -> None:
    """After any edits the index holds what the tokenizer makes of the whole text."""
    text, later = history
    index = TokenIndex(tokenizer, text)
    for text in later:
        index.update(text)
        assert tokenizer.encode(text) == index.tokens()


@settings(deadline=None, max_examples=40)
@given(history=histories(), data=st.data())
def test_parts_equal_scratch(tokenizer: MlxTokenizer, history: tuple[str, list[str]], data: st.DataObject) -> None:
    """A part with another text behind it has the tokens that it has alone, also where a block ends with it."""
    text = history[0]
    index = TokenIndex(tokenizer, text)
    start = data.draw(st.sampled_from([0, *index._ends]) | st.integers(0, len(text)))
    end = data.draw(st.sampled_from(index._ends or [0]) | st.integers(0, len(text)))
    behind = data.draw(st.sampled_from(("```", "s", "1", "\n", "  ", "\u0301")))
    assert tokenizer.encode(text[start:end] + behind) == index.encode_part(start, max(start, end), behind)


@settings(deadline=None, max_examples=60)
@given(history=histories(), instruction=st.sampled_from(("x", "(", "rename it", "é", "<|im_end|>", " x\n")))
def test_prompts_equal_scratch(tokenizer: MlxTokenizer, history: tuple[str, list[str]], instruction: str) -> None:
    """A prompt made around known tokens is the prompt made from the text."""
    text = history[0]
    index = TokenIndex(tokenizer, text)
    inside = index.inside()
    if inside is None:
        return
    head = "File: x.py\n```python\n"
    user = f"{head}{text}```\n\n{instruction}"
    known = type(inside)(inside.start + len(head), inside.end + len(head), inside.tokens)
    expected = tokenizer.encode_chat("Be brief.", user, "```python\n")
    assert expected == tokenizer.encode_known("Be brief.", user, "```python\n", known)


@settings(deadline=None, max_examples=40)
@given(text=st.text() | texts())
def test_spans_cover_the_text(tokenizer: MlxTokenizer, text: str) -> None:
    """Each token has a span, in order and within the text."""
    spans = tokenizer.spans(text)
    assert len(tokenizer.encode(text)) == len(spans)
    assert list(spans) == sorted(spans, key=lambda span: (span.start, span.end))
    assert all(Span(0, 0).start <= span.start <= span.end <= len(text) for span in spans)


def test_tokens_across_words_leave_no_border(tmp_path: Path) -> None:
    """A vocabulary whose tokens reach across words and lines is never cut, and its index is equal all the same."""
    write_tokenizer(tmp_path, superword(), template=None, eos="!")
    tokenizer = MlxTokenizer(mlx_lm.utils.load_tokenizer(tmp_path), "superword")
    assert NO_BORDER is tokenizer.border
    text = "def f(x = 1):\n    return x = 2\n" * 100
    index = TokenIndex(tokenizer, text)
    index.update(text + "x = 3\ndef")
    assert tokenizer.encode(text + "x = 3\ndef") == index.tokens()
