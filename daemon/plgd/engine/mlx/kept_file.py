"""Files of kept caches: safetensors with a header that says what they are, checked before anything of it is used.

A file names no code: the types of caches in it are compared with those that the model makes, and nothing else.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import mlx.core as mx
from safetensors import SafetensorError, safe_open

__all__ = ("FiledState", "read_state", "write_state")

FORMAT: Final = "plgd kept state 1"


@dataclass(frozen=True, slots=True)
class FiledState:
    """What a file holds of kept caches.

    Attributes:
        tokens: what the caches have seen.
        caches: the type and the attributes of every cache that holds state itself.
        points: the restore points: how many tokens they have seen, and the attributes of caches by their place.
    """

    tokens: list[int]
    caches: list[tuple[str, dict[str, Any]]]
    points: list[tuple[int, dict[int, Any]]]


def write_state(state: FiledState, path: Path, model_key: str) -> None:
    """Write a file.

    Args:
        state: what to write.
        path: ends in `.safetensors`; overwritten.
        model_key: of the model.

    Raises:
        OSError: the file could not be written.
        ValueError: a cache holds something that is neither an array nor plain data.
    """
    arrays: dict[str, mx.array] = {}
    layout = _encode([state.tokens, state.caches, state.points], arrays)
    facts = {"format": FORMAT, "model": model_key, "state": json.dumps(layout)}
    try:
        mx.save_safetensors(str(path), arrays, {**facts, "checksum": _checksum(facts, arrays)})
    except RuntimeError as error:
        raise OSError(str(error)) from error


def read_state(path: Path, model_key: str) -> FiledState:
    """Read a file.

    Args:
        path: of the file.
        model_key: of the model that wants it.

    Raises:
        OSError: the file could not be read.
        ValueError: it is damaged, of another model or of another version.
    """
    try:
        with safe_open(path, framework="mlx") as file:
            facts: dict[str, str] = file.metadata() or {}
            if (facts.get("format"), facts.get("model")) != (FORMAT, model_key):
                raise ValueError("it is of another model or version")
            names = file.keys()
            arrays: dict[str, mx.array] = {name: file.get_tensor(name) for name in names}
    except SafetensorError as error:
        raise ValueError(str(error)) from error
    if facts.pop("checksum", None) != _checksum(facts, arrays):
        raise ValueError("its checksum is wrong")
    return FiledState(*_decode(json.loads(facts["state"]), arrays))


def _checksum(facts: dict[str, str], arrays: dict[str, mx.array]) -> str:
    found = hashlib.sha256(repr(sorted(facts.items())).encode())
    for name, array in sorted(arrays.items()):
        found.update(f"{name} {array.shape} {array.dtype}".encode())
        if array.size:
            bits = array.flatten().view(mx.uint8)
            found.update(memoryview(bits))  # type: ignore[arg-type]  # mlx does not annotate that it is a buffer
    return found.hexdigest()


def _encode(value: object, arrays: dict[str, mx.array]) -> object:
    """Turn caches' attributes into JSON; arrays go to `arrays` and leave their names."""
    if isinstance(value, mx.array):
        name, is_bfloat16 = f"array {len(arrays)}", value.dtype == mx.bfloat16
        # Not every reader of safetensors knows bfloat16; the bits are the same in any type of that size.
        arrays[name] = value.view(mx.uint16) if is_bfloat16 else value
        return {"array": name, "bfloat16": is_bfloat16}
    if isinstance(value, dict):
        return {"dict": [[key, _encode(item, arrays)] for key, item in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, arrays) for item in value]}
    if isinstance(value, list):
        return [_encode(item, arrays) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{type(value).__name__} cannot be written")


def _decode(value: Any, arrays: dict[str, mx.array]) -> Any:  # noqa: ANN401  # whatever a cache's attributes are
    match value:
        case {"array": name, "bfloat16": is_bfloat16}:
            return arrays[name].view(mx.bfloat16) if is_bfloat16 else arrays[name]
        case {"dict": items}:
            return {key: _decode(item, arrays) for key, item in items}
        case {"tuple": items}:
            return tuple(_decode(item, arrays) for item in items)
        case [*items]:
            return [_decode(item, arrays) for item in items]
        case _:
            return value
