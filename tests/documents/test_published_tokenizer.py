"""The token index over a tokenizer as it is published: the built-in model's."""

from __future__ import annotations

from pathlib import Path

import mlx_lm.utils
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_histories import histories
from plgd.bench.keystrokes import long_text
from plgd.documents.tokens import TokenIndex
from plgd.engine.mlx.text import MlxTokenizer

pytestmark = pytest.mark.builtin

ODD = "".join(("\ufeffa\r\nb\rc\n", "x" * 999, "\n", "👩‍💻 𝔘𝔫𝔦 Größe\u2028é\n" * 40, "\t \n\n\n  y = [[0] * 9]\n" * 30))


@pytest.fixture(scope="module")
def tokenizer(builtin_model_dir: Path) -> MlxTokenizer:
    """The built-in model's tokenizer."""
    return MlxTokenizer(mlx_lm.utils.load_tokenizer(builtin_model_dir), "builtin")


@settings(deadline=None, max_examples=40)
@given(history=histories(), start=st.sampled_from(("", ODD, long_text(60))))
def test_the_index_equals_scratch(tokenizer: MlxTokenizer, history: tuple[str, list[str]], start: str) -> None:
    """After any edits, behind astral characters, long lines and mixed line ends, the index is the tokenizer's own."""
    first, later = history
    index = TokenIndex(tokenizer, start + first)
    for text in (start + text for text in later):
        index.update(text)
        assert tokenizer.encode(text) == index.tokens()
        known = index.source().tokens
        assert tokenizer.encode(text + "```")[: len(known)] == known


@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_typing_equals_scratch(tokenizer: MlxTokenizer, data: st.DataObject) -> None:
    """Keystrokes anywhere in a long text, one by one, leave the tokens of the text as it is then."""
    text = long_text(200) + ODD
    index = TokenIndex(tokenizer, text)
    place = data.draw(st.integers(0, len(text)))
    for typed in data.draw(st.text("a1 _\n\r\t(é🙂'", min_size=1, max_size=12)):
        text = text[:place] + typed + text[place:]
        place += 1
        index.update(text)
    assert tokenizer.encode(text) == index.tokens()
