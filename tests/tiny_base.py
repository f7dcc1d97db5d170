"""A small base model as a pull leaves one: packed in 4 bits, with a record of its source; and cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tiny_models import LLAMA, byte_level_tokenizer, write_model
from training.cases import Case

__all__ = ("SHA256", "make_case", "write_base", "write_cases")

SHA256 = "ab" * 32


def write_base(folder: Path) -> Path:
    """Write a model folder."""
    size = byte_level_tokenizer().get_vocab_size()
    write_model(folder, {**LLAMA, "rope_theta": 10_000.0, "vocab_size": size}, bits=4)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"source": {"format": "gguf", "sha256": SHA256}}))
    return folder


def make_case(
    text: str = "total = 1\n",
    new_text: str = "sum = 1\n",
    *,
    lines: tuple[int, int] | None = None,
    path: str = "shop/a.py",
    instruction: str = "Rename total to sum",
    kind: str = "rename-variable",
    phrasing: str = "seen",
) -> Case:
    """Make a case."""
    return msgspec.convert(
        {
            "kind": kind,
            "package": "shop",
            "path": path,
            "language": "python",
            "text": text,
            "first_line": lines and lines[0],
            "last_line": lines and lines[1],
            "instruction": instruction,
            "new_text": new_text,
            "phrasing": phrasing,
        },
        Case,
    )


def write_cases(folder: Path, cases: Sequence[Case], *, n_shards: int = 2) -> Path:
    """Write cases as the generator does: JSON lines in shards."""
    folder.mkdir(parents=True, exist_ok=True)
    for shard in range(n_shards):
        lines = [msgspec.json.encode(case) + b"\n" for case in cases[shard::n_shards]]
        (folder / f"cases-{shard:05d}.jsonl").write_bytes(b"".join(lines))
    return folder
