"""Converts a GGUF file of the llama family into an ordinary mlx-lm model folder, without requantizing.

mlx reads Q4_0, Q4_1 and Q8_0 straight into its own packed form (groups of 32), so the numbers on disk stay the
published ones. See the GGUF specification of ggml for the names of tensors and metadata.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final, cast

import mlx.core as mx

from plgd.engine.mlx.gguf_tokenizer import write_tokenizer
from plgd.errors import UnsupportedModel

__all__ = ("convert_gguf", "source_sha256")

GROUP_SIZE: Final = 32
WORD_BITS: Final = 32  # mlx packs weights into uint32

# ggml's names of tensors -> those of mlx-lm's llama; {n} is the layer.
TENSORS: Final = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
}
LAYER_TENSORS: Final = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
NAME: Final = re.compile(r"(?:blk\.(?P<layer>\d+)\.)?(?P<tensor>\w+)\.(?P<part>weight|scales|biases)")


def convert_gguf(gguf: Path, folder: Path) -> None:
    """Write `model.safetensors`, `config.json` and the tokenizer's files.

    Args:
        gguf: a llama-family file in Q4_0, Q4_1, Q8_0 or floats.
        folder: an existing folder; files of these names in it are replaced.

    Raises:
        UnsupportedModel: another architecture, tensor, tokenizer or quantization.
    """
    try:
        loaded = mx.load(str(gguf), return_metadata=True)
    except RuntimeError as error:  # mlx has one error type for "not GGUF" and for quantizations it cannot read
        raise UnsupportedModel.of(gguf.name, str(error)) from error
    tensors, metadata = cast("tuple[dict[str, mx.array], dict[str, Any]]", loaded)
    architecture = metadata.get("general.architecture")
    if architecture != "llama":
        raise UnsupportedModel.of(gguf.name, f"its architecture is {architecture}, only llama is converted from GGUF")
    if metadata.get("llama.rope.scaling.type", "none") != "none":
        raise UnsupportedModel.of(gguf.name, "it scales its rotary embeddings")

    weights = _convert_weights(gguf.name, tensors, *_n_heads(metadata))
    write_tokenizer(gguf.name, metadata, folder)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, metadata={"format": "mlx"})
    config = _make_config(metadata, weights) | {"source": {"format": "gguf", "sha256": _sha256(gguf)}}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def source_sha256(folder: Path) -> str | None:
    """Return the SHA-256 of the GGUF file that a model folder was converted from; None for any other folder."""
    source = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("source", {})
    return source.get("sha256") if isinstance(source, dict) else None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hyper(metadata: dict[str, Any], key: str) -> int | float:
    number: int | float = metadata[f"llama.{key}"].item()
    return number


def _n_heads(metadata: dict[str, Any]) -> tuple[int, int]:
    """Return the heads of q, and of k and v."""
    n_heads = int(_hyper(metadata, "attention.head_count"))
    grouped = metadata.get("llama.attention.head_count_kv")
    return n_heads, n_heads if grouped is None else int(grouped.item())


def _convert_weights(name: str, tensors: dict[str, mx.array], n_heads: int, n_kv_heads: int) -> dict[str, mx.array]:
    weights: dict[str, mx.array] = {}
    for key, tensor in sorted(tensors.items()):
        match = NAME.fullmatch(key)
        layer, kind = (match["layer"], match["tensor"]) if match else (None, key)
        known = TENSORS if layer is None else LAYER_TENSORS
        if match is None or kind not in known:
            raise UnsupportedModel.of(name, f"it holds a tensor {key}, which mlx-lm's llama does not have")
        prefix = "" if layer is None else f"model.layers.{layer}."
        heads = {"attn_q": n_heads, "attn_k": n_kv_heads}.get(kind)
        ordered = tensor if heads is None else _unpermute(tensor, heads)
        weights[f"{prefix}{known[kind]}.{match['part']}"] = _narrow(ordered)
    return weights


def _unpermute(tensor: mx.array, n_heads: int) -> mx.array:
    """Undo ggml's order of the rows of q and k: [heads * d, columns].

    llama.cpp interleaves the two halves of a head, because its rotary embedding pairs neighbouring rows; mlx-lm's
    pairs row i with row i + d/2. Packed weights, scales and biases have one row per output, so all three follow.
    """
    rows, columns = tensor.shape
    half = rows // n_heads // 2
    return tensor.reshape(n_heads, half, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _narrow(tensor: mx.array) -> mx.array:
    """Store float32 as float16 where nothing is lost, so that one float type runs through the model."""
    if tensor.dtype != mx.float32:
        return tensor
    narrow = tensor.astype(mx.float16)
    return narrow if mx.array_equal(narrow.astype(mx.float32), tensor).item() else tensor


def _make_config(metadata: dict[str, Any], weights: dict[str, mx.array]) -> dict[str, Any]:
    n_heads, n_kv_heads = _n_heads(metadata)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": _hyper(metadata, "embedding_length"),
        "num_hidden_layers": _hyper(metadata, "block_count"),
        "intermediate_size": _hyper(metadata, "feed_forward_length"),
        "num_attention_heads": n_heads,
        "num_key_value_heads": n_kv_heads,
        "rms_norm_eps": _hyper(metadata, "attention.layer_norm_rms_epsilon"),
        "rope_theta": _hyper(metadata, "rope.freq_base"),
        "max_position_embeddings": _hyper(metadata, "context_length"),
        "vocab_size": len(metadata["tokenizer.ggml.tokens"]),
        "tie_word_embeddings": "lm_head.weight" not in weights,
        "bos_token_id": metadata["tokenizer.ggml.bos_token_id"].item(),
        "eos_token_id": metadata["tokenizer.ggml.eos_token_id"].item(),
    }
    quantization = _find_quantization(weights)
    return config | ({"quantization": quantization} if quantization else {})


def _find_quantization(weights: dict[str, mx.array]) -> dict[str, Any]:
    """Derive the bits of every quantized layer from its shapes: one entry for most, one for each that differs."""
    bits: dict[str, int] = {}
    for key, scales in weights.items():
        layer, part = key.rsplit(".", 1)
        if part == "scales":
            packed_columns = weights[f"{layer}.weight"].shape[-1]
            bits[layer] = packed_columns * WORD_BITS // (scales.shape[-1] * GROUP_SIZE)
    if not bits:
        return {}
    counts = list(bits.values())
    usual = max(set(counts), key=counts.count)
    others = {layer: {"group_size": GROUP_SIZE, "bits": n} for layer, n in bits.items() if n != usual}
    return {"group_size": GROUP_SIZE, "bits": usual} | others
