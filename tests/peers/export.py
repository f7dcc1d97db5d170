"""Writes what peers need: the prompts of the reference workloads as tokens, and the model in float32.

python -m peers.export FOLDER [--model NAME]
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import mlx.core as mx
from mlx.utils import tree_flatten

from plgd.bench.compare.prompts import tokenize
from plgd.bench.compare.workloads import WORKLOADS
from plgd.bench.machine import open_machine
from plgd.config import load_config
from plgd.models.catalog import resolve
from plgd.paths import Paths

# What transformers reads from a model folder besides weights and configuration.
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json")


def main() -> None:
    """Export one model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", help="by default the one that edits use")
    arguments = parser.parse_args()
    paths = Paths.from_environment()
    config = load_config(paths.config_file)
    found = resolve(arguments.model, paths, config)
    model = open_machine(arguments.model, (), paths, config).model
    folder: Path = arguments.folder
    (folder / "model").mkdir(parents=True, exist_ok=True)
    weights = {name: weight.astype(mx.float32) for name, weight in tree_flatten(model.network.parameters())}
    mx.save_safetensors(str(folder / "model" / "model.safetensors"), weights, {"format": "pt"})
    stored = json.loads((found.folder / "config.json").read_text(encoding="utf-8"))
    kept = {key: value for key, value in stored.items() if not key.startswith("quantization")}
    (folder / "model" / "config.json").write_text(json.dumps({**kept, "torch_dtype": "float32"}), encoding="utf-8")
    for name in TOKENIZER_FILES:
        if (found.folder / name).is_file():
            shutil.copy(found.folder / name, folder / "model" / name)
    prompts = {
        "model": model.name,
        "eos_tokens": sorted(model.eos_tokens),
        "workloads": {
            name: {"tokens": tokenize(workload, model.tokenizer), "max_tokens": workload.max_tokens}
            for name, workload in WORKLOADS.items()
        },
    }
    (folder / "prompts.json").write_text(json.dumps(prompts), encoding="utf-8")


if __name__ == "__main__":
    main()
