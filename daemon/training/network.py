"""The model in torch: a llama over a flat row of tokens, with the adapter merged into the weights anew at each step.

All that is not attention works on a fixed number of tokens, whatever the batch's rows and columns are, so that it is
compiled once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
import torch.nn.functional as F  # noqa: N812  # as everybody calls it

from training.base import PROJECTIONS, Base
from training.lora import Lora

__all__ = ("Network",)

Tensors = dict[str, torch.Tensor]

_NORMS: Final = ("input_layernorm", "post_attention_layernorm")
# Projections of the same input, which are one product.
_FUSED: Final = {
    "qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "output": ("self_attn.o_proj",),
    "gate_up": ("mlp.gate_proj", "mlp.up_proj"),
    "down": ("mlp.down_proj",),
}


class Network:
    """Computes the loss of a batch.

    Args:
        base: the frozen weights.
        lora: the trained pairs.
        device: where to compute.
        dtype: of matrix products; norms, rotations, the residual and the loss are in float32.
        max_length: the longest row of tokens.
        compiled: whether to compile what is between the attentions.
    """

    def __init__(
        self, base: Base, lora: Lora, *, device: str, dtype: torch.dtype, max_length: int, compiled: bool = False
    ) -> None:
        self._shape, self._lora, self._dtype = base.shape, lora, dtype

        def put(name: str, kind: torch.dtype) -> torch.Tensor:
            return base.weights[f"{name}.weight"].to(device, kind)

        self._embedding = put("model.embed_tokens", dtype)
        self._head = put("lm_head", dtype) if "lm_head.weight" in base.weights else self._embedding
        self._norm = put("model.norm", torch.float32)
        layers = range(base.shape.n_layers)
        # Each projection of all layers: [layers, outputs, inputs].
        self._frozen: Tensors = {
            name: torch.stack([put(f"model.layers.{index}.{name}", dtype) for index in layers]) for name in PROJECTIONS
        }
        self._norms: list[Tensors] = [
            {name: put(f"model.layers.{index}.{name}", torch.float32) for name in _NORMS} for index in layers
        ]
        self._cos, self._sin = _rotations(base.shape.head, base.shape.rope_theta, max_length, device)

        def maybe(function: Callable[..., Any], *, dynamic: bool = False) -> Callable[..., Any]:
            return torch.compile(function, dynamic=dynamic) if compiled else function

        self._before, self._after = maybe(_before_attention), maybe(_after_attention)
        self._loss = maybe(_loss, dynamic=True)

    def loss(
        self,
        tokens: torch.Tensor,
        n_rows: int,
        n_columns: int,
        places: torch.Tensor,
        targets: torch.Tensor,
        weights: torch.Tensor,
    ) -> torch.Tensor:
        """Return the weighted mean of the cross-entropy in nats.

        Args:
            tokens: rows of equal length one behind the other, filled up at the end, [N].
            n_rows: rows of the batch.
            n_columns: tokens of a row; n_rows * n_columns <= N.
            places: where in `tokens` a loss is taken, [M].
            targets: the token after each of them, [M].
            weights: how much each counts, [M].
        """
        hidden = self.hidden(tokens, n_rows, n_columns)
        loss: torch.Tensor = self._loss(hidden[places], self._norm, self._head, targets, weights, self._shape.norm_eps)
        return loss

    def hidden(self, tokens: torch.Tensor, n_rows: int, n_columns: int) -> torch.Tensor:
        """Return what the last layer makes of each token, before the last norm: [N, hidden], float32."""
        shape, n_real = self._shape, n_rows * n_columns
        positions = torch.arange(len(tokens), device=tokens.device) % n_columns
        cos, sin = self._cos[positions, None], self._sin[positions, None]
        # Its gradient is not needed, but makes the first layer like the others to the compiler.
        rest = F.embedding(tokens, self._embedding).float().requires_grad_()
        heads = (shape.n_heads, shape.n_kv_heads, shape.head)
        for layer in self._layers():
            q, k, v = self._before(rest, layer, cos, sin, heads, shape.norm_eps)
            # [N, heads, head] -> [rows, heads, columns, head]
            q, k, v = (x[:n_real].unflatten(0, (n_rows, n_columns)).transpose(1, 2) for x in (q, k, v))
            attended = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            attended = attended.transpose(1, 2).reshape(n_real, -1)
            attended = F.pad(attended, (0, 0, 0, len(tokens) - n_real))
            rest = self._after(rest, attended, layer, shape.norm_eps)
        return rest

    def _layers(self) -> list[Tensors]:
        """Return each layer's norms and its merged weights, [outputs, inputs]; gradients reach the pairs.

        Against products of their own beside the frozen ones, this costs the gradient of a whole matrix and saves the
        six narrow products that each pair needs forward and backward.
        """
        merged = self._lora.merged(self._frozen, self._dtype)
        fused = {name: torch.cat([merged[part] for part in parts], 1) for name, parts in _FUSED.items()}
        by_layer = zip(*(stack.unbind(0) for stack in fused.values()), strict=True)
        return [norms | dict(zip(fused, one, strict=True)) for norms, one in zip(self._norms, by_layer, strict=True)]


def _rotations(width: int, theta: float, length: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosines and sines of the rotary embedding: [length, width], the two halves alike."""
    frequencies = theta ** (-torch.arange(0, width, 2, dtype=torch.float32, device=device) / width)
    angles = torch.arange(length, dtype=torch.float32, device=device)[:, None] * frequencies
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def _before_attention(
    rest: torch.Tensor,
    layer: Tensors,
    cos: torch.Tensor,
    sin: torch.Tensor,
    heads: tuple[int, int, int],
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return queries, keys and values: [N, heads, head]."""
    n_heads, n_kv_heads, width = heads
    x = _normalized(rest, layer["input_layernorm"], eps).to(layer["qkv"].dtype)
    q, k, v = F.linear(x, layer["qkv"]).split([n_heads * width, n_kv_heads * width, n_kv_heads * width], 1)
    q = _rotated(q.unflatten(1, (n_heads, width)), cos, sin)
    k = _rotated(k.unflatten(1, (n_kv_heads, width)), cos, sin)
    return q, k, v.unflatten(1, (n_kv_heads, width))


def _after_attention(rest: torch.Tensor, attended: torch.Tensor, layer: Tensors, eps: float) -> torch.Tensor:
    """Return the residual after the attention's output and the feed-forward part: [N, hidden], float32."""
    rest = rest + F.linear(attended, layer["output"])
    x = _normalized(rest, layer["post_attention_layernorm"], eps).to(attended.dtype)
    gate, up = F.linear(x, layer["gate_up"]).chunk(2, 1)
    return rest + F.linear(F.silu(gate) * up, layer["down"])


def _normalized(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def _rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.float().chunk(2, -1)
    return (x.float() * cos + torch.cat([-second, first], -1) * sin).to(x.dtype)


def _loss(
    hidden: torch.Tensor,
    norm: torch.Tensor,
    head: torch.Tensor,
    targets: torch.Tensor,
    weights: torch.Tensor,
    eps: float,
) -> torch.Tensor:
    logits = F.linear(_normalized(hidden, norm, eps).to(head.dtype), head).float()  # [M, vocabulary]
    return torch.dot(F.cross_entropy(logits, targets, reduction="none"), weights) / weights.sum()
