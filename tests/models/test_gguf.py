"""Converting GGUF files, on small ones with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mlx_lm.models.llama import Model, ModelArgs
from mlx_lm.utils import load_model, load_tokenizer

from plgd.engine.mlx.gguf import _find_quantization, _unpermute, convert_gguf, source_sha256
from plgd.errors import UnsupportedModel

TOKENS = ["<|end|>", "<|start|>", "a", "b", "1", "2", "\u0120", "ab", "\u0120a", "\u010a", "12"]
HEADS, KV_HEADS, WIDTH, HIDDEN, LAYERS = 4, 2, 64, 96, 2


def metadata() -> dict[str, Any]:
    """Return the metadata of a small llama."""
    number = {
        "llama.embedding_length": WIDTH,
        "llama.block_count": LAYERS,
        "llama.feed_forward_length": HIDDEN,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KV_HEADS,
        "llama.context_length": 256,
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 0,
    }
    content: dict[str, Any] = {key: mx.array(value, mx.uint32) for key, value in number.items()}
    content |= {
        "general.architecture": "llama",
        "llama.rope.freq_base": mx.array(10_000.0),
        "llama.attention.layer_norm_rms_epsilon": mx.array(1e-5),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": TOKENS,
        "tokenizer.ggml.token_type": mx.array([3, 3] + [1] * (len(TOKENS) - 2), mx.int32),
        "tokenizer.ggml.merges": ["a b", "\u0120 a", "1 2"],
        "tokenizer.chat_template": "{% for m in messages %}<|start|>{{ m.content }}<|end|>{% endfor %}",
    }
    return content


def network() -> Model:
    """Return a small llama with random weights, the same each time."""
    mx.random.seed(7)
    return Model(
        ModelArgs(
            model_type="llama",
            hidden_size=WIDTH,
            num_hidden_layers=LAYERS,
            intermediate_size=HIDDEN,
            num_attention_heads=HEADS,
            num_key_value_heads=KV_HEADS,
            rms_norm_eps=1e-5,
            vocab_size=len(TOKENS),
            max_position_embeddings=256,
        )
    )


def permute(weight: mx.array, n_heads: int) -> mx.array:
    """Order the rows of q or k as llama.cpp's converter does."""
    return weight.reshape(n_heads, 2, weight.shape[0] // n_heads // 2, -1).swapaxes(1, 2).reshape(weight.shape)


def gguf_tensors(model: Model) -> dict[str, mx.array]:
    """Return a model's weights under ggml's names."""
    tensors = {"token_embd.weight": model.model.embed_tokens.weight, "output_norm.weight": model.model.norm.weight}
    for i, layer in enumerate(model.layers):
        attention, mlp = layer.self_attn, layer.mlp
        tensors |= {
            f"blk.{i}.attn_norm.weight": layer.input_layernorm.weight,
            f"blk.{i}.ffn_norm.weight": layer.post_attention_layernorm.weight,
            f"blk.{i}.attn_q.weight": permute(attention.q_proj.weight, HEADS),
            f"blk.{i}.attn_k.weight": permute(attention.k_proj.weight, KV_HEADS),
            f"blk.{i}.attn_v.weight": attention.v_proj.weight,
            f"blk.{i}.attn_output.weight": attention.o_proj.weight,
            f"blk.{i}.ffn_gate.weight": mlp.gate_proj.weight,
            f"blk.{i}.ffn_up.weight": mlp.up_proj.weight,
            f"blk.{i}.ffn_down.weight": mlp.down_proj.weight,
        }
    return tensors


def write_gguf(path: Path, tensors: dict[str, mx.array], content: dict[str, Any]) -> Path:
    """Write a GGUF file."""
    mx.save_gguf(str(path), tensors, content)
    return path


def test_converted_model_computes_the_same(tmp_path: Path) -> None:
    """mlx-lm loads the folder, and its logits are those of the weights that went into the GGUF."""
    model = network()
    convert_gguf(write_gguf(tmp_path / "m.gguf", gguf_tensors(model), metadata()), tmp_path)
    loaded, config = load_model(tmp_path)
    tokens = mx.array([[1, 2, 7, 3, 8, 10, 4, 0]])
    assert mx.allclose(model(tokens), loaded(tokens), atol=1e-5).item()
    assert config["tie_word_embeddings"] is True
    assert config["max_position_embeddings"] == 256
    assert "quantization" not in config


def test_folder_names_its_source(tmp_path: Path) -> None:
    """The configuration keeps the SHA-256 of the file, and a folder from elsewhere has none."""
    gguf = write_gguf(tmp_path / "m.gguf", gguf_tensors(network()), metadata())
    convert_gguf(gguf, tmp_path)
    known = json.loads((tmp_path / "config.json").read_text())["source"]["sha256"]
    assert source_sha256(tmp_path) == known
    assert len(known) == 64
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    assert source_sha256(tmp_path) is None


def test_tokenizer_is_rebuilt(tmp_path: Path) -> None:
    """Merges, single digits, control tokens and the chat template come out of the metadata."""
    convert_gguf(write_gguf(tmp_path / "m.gguf", gguf_tensors(network()), metadata()), tmp_path)
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer.encode("ab a12\n<|end|>", add_special_tokens=False) == [7, 8, 4, 5, 9, 0]
    assert tokenizer.decode([7, 8, 4, 5, 9]) == "ab a12\n"
    assert tokenizer.eos_token == "<|end|>"
    assert tokenizer.apply_chat_template([{"role": "user", "content": "ab"}], tokenize=False) == "<|start|>ab<|end|>"


def test_head_of_its_own(tmp_path: Path) -> None:
    """A GGUF with an output matrix makes a model whose head is not tied to its embeddings."""
    tensors = gguf_tensors(network()) | {"output.weight": mx.ones((len(TOKENS), WIDTH))}
    convert_gguf(write_gguf(tmp_path / "m.gguf", tensors, metadata()), tmp_path)
    loaded, config = load_model(tmp_path)
    assert config["tie_word_embeddings"] is False
    assert mx.array_equal(loaded.lm_head.weight, tensors["output.weight"]).item()


@given(st.integers(1, 8), st.integers(1, 16), st.integers(1, 4))
def test_rows_come_back(n_heads: int, half: int, columns: int) -> None:
    """Undoing llama.cpp's order of rows gives the original rows, for every number and size of heads."""
    weight = mx.arange(n_heads * half * 2 * columns).reshape(n_heads * half * 2, columns)
    assert mx.array_equal(_unpermute(permute(weight, n_heads), n_heads), weight).item()


@given(st.lists(st.sampled_from([2, 4, 8]), min_size=1, max_size=6))
def test_bits_are_read_from_shapes(bits: list[int]) -> None:
    """Every layer's bits are told exactly, the usual ones once and the others by name."""
    weights: dict[str, mx.array] = {}
    for i, n in enumerate(bits):
        weights[f"l{i}.weight"] = mx.zeros((2, 64 * n // 32), mx.uint32)
        weights[f"l{i}.scales"] = mx.zeros((2, 2))
    found = _find_quantization(weights)
    told = [found.get(f"l{i}", {"bits": found["bits"]})["bits"] for i in range(len(bits))]
    assert told == bits
    assert found["group_size"] == 32


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"general.architecture": "qwen2"}, "its architecture is qwen2"),
        ({"tokenizer.ggml.pre": "llama-bpe"}, "its tokenizer is gpt2/llama-bpe"),
        ({"llama.rope.scaling.type": "yarn"}, "scales its rotary embeddings"),
    ],
)
def test_what_cannot_be_converted_is_named(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    """A GGUF of another kind is refused with the reason, and leaves no model behind."""
    gguf = write_gguf(tmp_path / "m.gguf", gguf_tensors(network()), metadata() | changes)
    with pytest.raises(UnsupportedModel, match=reason):
        convert_gguf(gguf, tmp_path)
    assert not (tmp_path / "config.json").exists()


def test_unknown_tensor_is_named(tmp_path: Path) -> None:
    """A tensor that mlx-lm's llama lacks is never dropped in silence."""
    tensors = gguf_tensors(network()) | {"blk.0.attn_q.bias": mx.zeros((WIDTH,))}
    with pytest.raises(UnsupportedModel, match=r"blk\.0\.attn_q\.bias"):
        convert_gguf(write_gguf(tmp_path / "m.gguf", tensors, metadata()), tmp_path)


def test_not_a_gguf(tmp_path: Path) -> None:
    """Another kind of file is refused."""
    (tmp_path / "m.gguf").write_bytes(b"not a gguf")
    with pytest.raises(UnsupportedModel, match=r"m\.gguf"):
        convert_gguf(tmp_path / "m.gguf", tmp_path)
