"""`python -m training.export RUN OUT`: makes of a run's adapter what plgd ships.

OUT is what mlx-lm calls an adapter's folder: `mlx_lm.load(BASE, adapter_path=OUT)` takes it as it is, and plgd merges
the same file. `README.md` in it is the adapter's model card.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from plgd.bench.edits_results import EditsResult
from plgd.engine.mlx.adapter_file import Adapter, read_adapter
from plgd.errors import PlgdError
from training.adapter import ADAPTER_FILE, write_adapter
from training.card import write_card

__all__ = ("CONFIG_FILE", "MAX_BYTES", "export", "main")

CONFIG_FILE: Final = "adapter_config.json"
# What an adapter may take in the wheel.
MAX_BYTES: Final = 20_000_000


def export(run: Path, out: Path) -> Path:
    """Write an adapter in float16 with mlx-lm's configuration beside it.

    Args:
        run: a run's folder, or an adapter's file in mlx-lm's or peft's naming.
        out: the folder to write to; made if missing.

    Returns:
        The adapter's file.

    Raises:
        DamagedModel, UnsupportedModel: see `read_adapter`.
        ValueError: a number is none in float16, or the file is too large to ship.
    """
    path = run / ADAPTER_FILE if run.is_dir() else run
    adapter = read_adapter(path, name=str(run), framework="np")
    for layer, pair in adapter.pairs.items():
        if not all((np.abs(matrix) <= np.finfo(np.float16).max).all() for matrix in pair):
            raise ValueError(f"{path}: {layer} holds numbers that are none in float16")
    out.mkdir(parents=True, exist_ok=True)
    made = out / ADAPTER_FILE
    write_adapter(made, adapter, np.float16)
    if made.stat().st_size > MAX_BYTES:
        raise ValueError(f"{made} has {made.stat().st_size:,} bytes; {MAX_BYTES:,} are the most")
    (out / CONFIG_FILE).write_text(json.dumps(_config(adapter), indent=2) + "\n", encoding="utf-8")
    return made


def _config(adapter: Adapter[Any]) -> dict[str, Any]:
    """Return what mlx-lm wants to know; it finds layers by the ends of their paths."""
    split = [layer.removeprefix("model.layers.").partition(".") for layer in adapter.pairs]
    return {
        "fine_tune_type": "lora",
        "num_layers": len({number for number, _, _ in split}),
        "lora_parameters": {
            "rank": adapter.rank,
            "scale": adapter.scale,
            "dropout": 0.0,
            "keys": sorted({name for _, _, name in split}),
        },
        "base_sha256": adapter.base_sha256,
    }


def main(words: list[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(prog="python -m training.export", description="Make what plgd ships of a run.")
    parser.add_argument("run", type=Path, metavar="RUN", help="a run's folder, or an adapter's file")
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder to write to")
    parser.add_argument(
        "--scores",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="for the card: what `plgd bench --edits --json` or training.evaluate wrote; may be given several times",
    )
    arguments = parser.parse_args(words)
    try:
        made = export(arguments.run, arguments.out)
        scores = [msgspec.json.decode(path.read_bytes(), type=EditsResult) for path in arguments.scores]
        write_card(arguments.out, scores)
    except (PlgdError, ValueError, OSError) as error:
        sys.stderr.write(f"export: {error}\n")
        return 1
    sys.stdout.write(f"{made}: {made.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
