"""Loads a model folder, and says what is wrong with one that cannot be loaded."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import mlx.core as mx
import mlx.nn as nn
import mlx_lm.utils
from mlx.utils import tree_flatten

from plgd.engine.mlx.adapter import merge_adapter
from plgd.engine.mlx.device import keep_graphs_small, machine_memory, on_cpu, on_cuda
from plgd.engine.mlx.model import MlxModel
from plgd.engine.mlx.precision import float32_bytes, to_float32
from plgd.engine.mlx.shapes import CUDA_SHAPES
from plgd.engine.mlx.text import MlxTokenizer
from plgd.errors import DamagedModel, UnsupportedModel

__all__ = ("load_model",)

# What architectures call the longest sequence they were made for.
LIMIT_KEYS: Final = (
    "max_position_embeddings",
    "max_seq_len",
    "max_sequence_length",
    "model_max_length",
    "seq_length",
    "n_positions",
    "n_ctx",
)
# Architectures that mlx-lm builds but does not compute rightly.
BROKEN: Final = {
    "phi3small": "mlx-lm's attention for it adds the causal mask as numbers, so tokens see those behind them"
}
# How mlx words weights that are missing, unknown or of another shape.
MISFIT_SIGNS: Final = ("parameters not in model", "Missing", "shape")
MISFIT_WIDTH: Final = 200
# For a configuration that says nothing.
USUAL_LIMIT: Final = 8192
# Beyond this share of the machine's memory the weights stay as stored: slow beats swapping.
MEMORY_SHARE: Final = 0.7


def load_model(
    folder: Path,
    *,
    name: str,
    adapter: Path | None = None,
    context_limit: int = 0,
    kv_bits: int = 0,
    on_progress: Callable[[float], None] = lambda _: None,
) -> MlxModel:
    """Load a model folder as mlx-lm writes and reads it: any architecture, any quantization.

    On a CPU the weights become float32 as long as memory allows; on a GPU they stay as stored.

    Args:
        folder: with `config.json`, `*.safetensors` and the tokenizer's files.
        name: the name it was asked for by, for messages.
        adapter: a LoRA adapter to merge into the weights.
        context_limit: tokens of prompt and reply together; 0 takes the model's own limit, which is never exceeded.
        kv_bits: bits of a quantized key or value, 8 or 4; 0 keeps them as they are.
        on_progress: gets percent, 0 to 100.

    Raises:
        DamagedModel: files are missing, cut short or do not fit together.
        UnsupportedModel: the architecture, format or tokenizer is not one that can be run, or its keys and values
            cannot be quantized.
    """
    on_progress(0.0)
    if on_cuda():
        keep_graphs_small()
    config = _read_config(folder, name)
    _check_weights(folder, name)
    network = _build(folder, name)
    if adapter is not None:
        merge_adapter(network, adapter, name=name, folder=folder)
    for share in _bring_in(network, name):
        on_progress(99.0 * share)
    tokenizer = _load_tokenizer(folder, config, name)
    limit = _find_limit(config)
    model = MlxModel(
        network,
        tokenizer,
        name=name,
        eos_tokens=tokenizer.eos_tokens,
        context_limit=min(limit, context_limit) if context_limit else limit,
        kv_bits=kv_bits,
        shapes=CUDA_SHAPES if on_cuda() else None,
    )
    on_progress(100.0)
    return model


def _read_config(folder: Path, name: str) -> dict[str, Any]:
    path = folder / "config.json"
    if not path.is_file():
        raise DamagedModel.of(name, f"{folder} has no config.json")
    try:
        config = mlx_lm.utils.load_config(folder)
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DamagedModel.of(name, f"config.json cannot be read ({error})") from error
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise DamagedModel.of(name, "config.json does not name a model_type")
    if config["model_type"] in BROKEN:
        raise UnsupportedModel.of(name, BROKEN[config["model_type"]])
    return config


def _check_weights(folder: Path, name: str) -> None:
    """See that every weight file is there and whole, as far as its header tells."""
    index = folder / "model.safetensors.index.json"
    try:
        wanted = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()) if index.is_file() else set()
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise DamagedModel.of(name, f"{index.name} cannot be read ({error})") from error
    found = {path.name for path in folder.glob("model*.safetensors")}
    if not found:
        raise DamagedModel.of(name, f"{folder} has no model*.safetensors")
    if missing := sorted(wanted - found):
        more = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
        raise DamagedModel.of(name, f"{missing[0]}{more} missing")
    for file in sorted(found):
        path = folder / file
        with path.open("rb") as stream:
            header_bytes = int.from_bytes(stream.read(8), "little")
            try:
                header = json.loads(stream.read(header_bytes)) if header_bytes < path.stat().st_size else None
            except ValueError:
                header = None
        if not isinstance(header, dict):
            raise DamagedModel.of(name, f"{file} is not a safetensors file")
        ends = [entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"]
        if 8 + header_bytes + max(ends, default=0) != path.stat().st_size:
            raise DamagedModel.of(name, f"{file} is cut short")


def _build(folder: Path, name: str) -> nn.Module:
    """Let mlx-lm build the architecture around the weights, without reading them yet."""
    try:
        network, _ = mlx_lm.utils.load_model(folder, lazy=True)
    except (ValueError, KeyError, TypeError, AttributeError, NotImplementedError, ImportError) as error:
        # mlx-lm raises these for architectures and formats it lacks, and for weights that do not fit.
        text = str(error) or type(error).__name__
        if any(sign in text for sign in MISFIT_SIGNS):
            first = textwrap.shorten(text, MISFIT_WIDTH, placeholder=" ...")  # mlx names every weight
            raise DamagedModel.of(name, f"its weights do not fit its config.json ({first})") from error
        raise UnsupportedModel.of(name, f"mlx-lm says: {text}") from error
    except (RuntimeError, OSError) as error:
        raise DamagedModel.of(name, str(error)) from error
    except SystemExit as error:
        # mlx-lm's olmo prints a hint and leaves the interpreter; the daemon must not.
        raise UnsupportedModel.of(name, "mlx-lm needs another package for its architecture") from error
    return network


def _bring_in(network: nn.Module, name: str) -> Iterator[float]:
    """Read the weights into memory; yields the share that is there, 0 to 1."""
    try:
        if on_cpu() and float32_bytes(network) <= MEMORY_SHARE * machine_memory():
            yield from to_float32(network)
            return
        weights = tree_flatten(network.parameters())
        total = sum(weight.nbytes for _, weight in weights) or 1
        done = 0
        for _, weight in weights:
            mx.eval(weight)
            done += weight.nbytes
            yield done / total
    except RuntimeError as error:
        raise DamagedModel.of(name, f"its weights cannot be read ({error})") from error


def _load_tokenizer(folder: Path, config: dict[str, Any], name: str) -> MlxTokenizer:
    if not (folder / "tokenizer.json").is_file():
        raise DamagedModel.of(name, f"{folder} has no tokenizer.json")
    try:
        wrapper = mlx_lm.utils.load_tokenizer(folder, eos_token_ids=config.get("eos_token_id"))
    except Exception as error:  # the tokenizers library raises bare Exception for a bad file
        raise DamagedModel.of(name, f"its tokenizer cannot be read ({error})") from error
    return MlxTokenizer(wrapper, name)


def _find_limit(config: dict[str, Any]) -> int:
    """Return the longest sequence that the configuration promises."""
    nested = config.get("text_config")
    for place in (config, nested if isinstance(nested, dict) else {}):
        for key in LIMIT_KEYS:
            limit = place.get(key)
            if isinstance(limit, int) and limit > 0:
                return limit
    return USUAL_LIMIT
