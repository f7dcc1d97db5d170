"""Every kind of cache: drafts leave no trace in it. The whole walk is `tests/model_walk.py`; here are its landmarks."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

import mlx.core as mx
import pytest

from model_walk import read_table, walk
from tiny_configs import model_types

# One of each mixture of caches that mlx-lm has.
LANDMARKS = (
    "baichuan_m1",  # convolution and window, and convolution and rows, in one layer
    "deepseek_v32",  # two row caches in one layer
    "deepseek_v41",  # a cache of the model's own
    "gemma3_text",  # windows and rows
    "iquestloopcoder",  # more caches than layers
    "lfm2",  # convolutions and rows
    "llama",  # rows
    "llama4",  # chunks and rows
    "longcat_flash_ngram",  # the last tokens themselves
    "mamba2",  # recurrent states only
    "nemotron-nas",  # layers without a cache
    "plamo3",  # windows that one-token passes see otherwise
    "recurrent_gemma",  # recurrent states and windows
)


@pytest.fixture(autouse=True)
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


@pytest.mark.parametrize("model_type", LANDMARKS)
def test_drafts_leave_no_trace(model_type: str) -> None:
    """Wrong, right and mixed drafts change nothing, whatever the caches; the page of models says so (reference A12)."""
    finding = walk(model_type)
    assert "yes" == finding.parity
    assert finding.quantized in {"yes", "not possible", "nothing to quantize"}
    assert finding.joint.startswith(("yes", "takes turns"))
    made_with, rows = read_table()
    if made_with == version("mlx-lm"):
        assert rows[model_type] == finding.row()


def test_the_table_has_every_model_type() -> None:
    """The page of models has a row for every model type of the mlx-lm that it names, and no other."""
    made_with, rows = read_table()
    if made_with != version("mlx-lm"):
        pytest.skip(f"the table was made with mlx-lm {made_with}")
    assert set(model_types()) == set(rows)


def test_plain_only_is_rare() -> None:
    """Of all model types that could be run none differs, and one runs plain, in part of its context."""
    _, rows = read_table()
    assert [name for name, row in rows.items() if "differs" in row] == []
    assert ["plamo3"] == [name for name, row in rows.items() if "plain only" in row]
