"""The base model's weights as torch tensors, dequantized from a model folder in mlx's packed form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import load_file

__all__ = ("PROJECTIONS", "Base", "Shape", "load_base")

WORD_BITS: Final = 32

# What an adapter changes in each layer, by its path below the layer.
PROJECTIONS: Final = (
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
)


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a llama."""

    n_layers: int
    n_heads: int
    n_kv_heads: int
    hidden: int
    intermediate: int
    vocabulary: int
    norm_eps: float
    rope_theta: float

    @property
    def head(self) -> int:
        """The width of one head."""
        return self.hidden // self.n_heads

    def projection(self, name: str) -> tuple[int, int]:
        """Return the outputs and inputs of a projection."""
        attention, kv = self.n_heads * self.head, self.n_kv_heads * self.head
        return {
            "self_attn.q_proj": (attention, self.hidden),
            "self_attn.k_proj": (kv, self.hidden),
            "self_attn.v_proj": (kv, self.hidden),
            "self_attn.o_proj": (self.hidden, attention),
            "mlp.gate_proj": (self.intermediate, self.hidden),
            "mlp.up_proj": (self.intermediate, self.hidden),
            "mlp.down_proj": (self.hidden, self.intermediate),
        }[name]


@dataclass(frozen=True, slots=True)
class Base:
    """A base model in memory.

    Attributes:
        shape: its sizes.
        weights: in float32 by the names that mlx-lm and transformers share, such as
            `model.layers.0.mlp.up_proj.weight`; [outputs, inputs].
        sha256: of the file that the folder was converted from.
        config: the folder's `config.json`.
    """

    shape: Shape
    weights: dict[str, torch.Tensor]
    sha256: str
    config: dict[str, Any]


def load_base(folder: Path) -> Base:
    """Read a folder that `plgd model pull builtin` made.

    Raises:
        ValueError: the folder holds another architecture, or does not say what it was converted from.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "llama" or "sha256" not in config.get("source", {}):
        raise ValueError(f"{folder} is no llama that plgd converted; make it with: plgd model pull builtin")
    shape = Shape(
        n_layers=config["num_hidden_layers"],
        n_heads=config["num_attention_heads"],
        n_kv_heads=config["num_key_value_heads"],
        hidden=config["hidden_size"],
        intermediate=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        norm_eps=config["rms_norm_eps"],
        rope_theta=config["rope_theta"],
    )
    stored = load_file(folder / "model.safetensors")
    names = [name for name in stored if name.endswith(".weight")]
    weights = {name: _dequantize(stored, name.removesuffix(".weight")) for name in names}
    return Base(shape, weights, config["source"]["sha256"], config)


def _dequantize(stored: dict[str, torch.Tensor], layer: str) -> torch.Tensor:
    """Return a layer's weight in float32: [outputs, inputs].

    mlx packs the numbers of a row into 32-bit words, the first into the lowest bits; a group of them shares a scale and
    a bias.
    """
    packed = stored[f"{layer}.weight"]
    if f"{layer}.scales" not in stored:
        return packed.float()
    scales, biases = (stored[f"{layer}.{part}"].float()[..., None] for part in ("scales", "biases"))
    n_outputs, n_groups = scales.shape[:2]
    words = packed.view(torch.int32)
    # A group has 32 numbers in every GGUF type that plgd converts.
    bits = words.shape[1] * WORD_BITS // (n_groups * 32)
    shifts = torch.arange(0, WORD_BITS, bits, dtype=torch.int32)
    numbers = (words[..., None] >> shifts) & (2**bits - 1)
    return (numbers.reshape(n_outputs, n_groups, 32) * scales + biases).reshape(n_outputs, -1)
