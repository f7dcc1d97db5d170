"""Looks at a model folder: is it whole, and what is in it. Reads headers only, never weights."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from plgd.errors import DamagedModel, UnsupportedModel

__all__ = ("FolderFacts", "check_folder")

TOKENIZERS: Final = ("tokenizer.json", "tokenizer.model", "tiktoken.model", "vocab.json")
INDEX: Final = "model.safetensors.index.json"
# The longest header that the safetensors format allows.
HEADER_LIMIT: Final = 100_000_000


@dataclass(frozen=True, slots=True)
class FolderFacts:
    """What a whole model folder says about itself.

    Attributes:
        n_bytes: of all its files.
        context_limit: tokens; 0 when it does not say.
        can_chat: it has a chat template.
    """

    n_bytes: int
    context_limit: int
    can_chat: bool


def check_folder(folder: Path, name: str) -> FolderFacts:
    """Check that a folder is a whole mlx-lm model.

    Args:
        folder: with `config.json`, `model*.safetensors` and a tokenizer.
        name: the model's name, for messages.

    Raises:
        UnsupportedModel: something else is in the folder.
        DamagedModel: a file is missing, cut short or unreadable.
    """
    config = _read_json(folder / "config.json", name)
    weights = sorted(folder.glob("model*.safetensors"))
    if not weights:
        raise UnsupportedModel.of(name, f"{folder} holds no model*.safetensors, and only those can be loaded")
    if not any((folder / file).exists() for file in TOKENIZERS):
        raise UnsupportedModel.of(name, f"{folder} holds no tokenizer")
    index = folder / INDEX
    if index.exists():
        for part in sorted(_weight_files(_read_json(index, name), name)):
            if not (folder / part).exists():
                raise DamagedModel.of(name, f"{part} is missing")
    for file in weights:
        _check_safetensors(file, name)
    return FolderFacts(
        n_bytes=sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()),
        context_limit=_context_limit(config),
        can_chat=_can_chat(folder, name),
    )


def _read_json(path: Path, name: str) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UnsupportedModel.of(name, f"{path.parent} holds no {path.name}; it is no model folder") from error
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedModel.of(name, f"{path.name} cannot be read ({error})") from error
    if not isinstance(content, dict):
        raise DamagedModel.of(name, f"{path.name} is not a JSON object")
    return content


def _weight_files(index: dict[str, Any], name: str) -> set[str]:
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not all(isinstance(file, str) for file in weight_map.values()):
        raise DamagedModel.of(name, f"{INDEX} does not map weights to files")
    return set(weight_map.values())


def _check_safetensors(path: Path, name: str) -> None:
    """Compare a file's size with what its header promises: 8 bytes of length, the header, the tensors."""
    try:
        with path.open("rb") as stream:
            (length,) = struct.unpack("<Q", stream.read(8))
            header = json.loads(stream.read(length) if length <= HEADER_LIMIT else b"")
        ends = [entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"]
    except (OSError, struct.error, ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise DamagedModel.of(name, f"{path.name} is no safetensors file") from error
    expected, found = 8 + length + max(ends, default=0), path.stat().st_size
    if found != expected:
        raise DamagedModel.of(name, f"{path.name} has {found:,} bytes instead of {expected:,}")


def _context_limit(config: dict[str, Any]) -> int:
    text = config.get("text_config")
    for part in (config, text if isinstance(text, dict) else {}):
        limit = part.get("max_position_embeddings")
        if isinstance(limit, int):
            return limit
    return 0


def _can_chat(folder: Path, name: str) -> bool:
    if (folder / "chat_template.jinja").exists() or (folder / "chat_template.json").exists():
        return True
    settings = folder / "tokenizer_config.json"
    return settings.exists() and bool(_read_json(settings, name).get("chat_template"))
