"""What a run made becomes what plgd ships: small, with its card, for plgd and for mlx-lm alike."""

from __future__ import annotations

import json
from pathlib import Path

import mlx.core as mx
import mlx_lm
import msgspec
import numpy as np
import pytest

from plgd.bench.edits_results import EditOutcome, summarize
from plgd.engine.mlx.adapter_file import Adapter, read_adapter
from plgd.engine.mlx.load import load_model
from tiny_base import SHA256, write_base
from training.adapter import ADAPTER_FILE, write_adapter
from training.export import CONFIG_FILE, export, main

LAYERS = {
    f"model.layers.{index}.{name}": shape
    for index in range(2)
    for name, shape in (("self_attn.q_proj", (64, 64)), ("mlp.down_proj", (64, 128)))
}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder with an adapter in float32."""
    generator = np.random.default_rng(1)
    pairs = {
        layer: tuple(generator.normal(size=size).astype(np.float32) for size in ((4, n_inputs), (n_outputs, 4)))
        for layer, (n_outputs, n_inputs) in LAYERS.items()
    }
    folder = tmp_path / "run"
    folder.mkdir()
    write_adapter(folder / ADAPTER_FILE, Adapter(4, 2.0, SHA256, pairs), np.float32)  # type: ignore[arg-type]
    return folder


def test_plgd_and_mlx_lm_load_the_same_model(run: Path, tmp_path: Path) -> None:
    """The exported folder is an ordinary adapter to mlx-lm, and its model says what plgd's merged one says."""
    base, out = write_base(tmp_path / "base"), tmp_path / "out"
    made = export(run, out)
    theirs = mlx_lm.load(str(base), adapter_path=str(out))[0]
    ours = load_model(base, name="m", adapter=made).network
    plain = load_model(base, name="m").network
    tokens = mx.array([[5, 9, 200, 31, 8]])
    assert mx.allclose(theirs(tokens), ours(tokens), atol=2e-3).item()
    assert not mx.allclose(plain(tokens), ours(tokens), atol=0.1).item()


def test_numbers_are_halved(run: Path, tmp_path: Path) -> None:
    """The exported adapter is the run's in float16, with rank, alpha and base."""
    exported = read_adapter(export(run, tmp_path / "out"), name="m", framework="np")
    kept = read_adapter(run / ADAPTER_FILE, name="m", framework="np")
    assert (4, 2.0, SHA256) == (exported.rank, exported.alpha, exported.base_sha256)
    assert kept.pairs.keys() == exported.pairs.keys()
    for layer, pair in kept.pairs.items():
        assert all(
            np.array_equal(matrix.astype(np.float16), half)
            for matrix, half in zip(pair, exported.pairs[layer], strict=True)
        )
    config = json.loads((tmp_path / "out" / CONFIG_FILE).read_text())
    assert SHA256 == config["base_sha256"]
    assert {"rank": 4, "scale": 0.5, "dropout": 0.0, "keys": ["mlp.down_proj", "self_attn.q_proj"]} == config[
        "lora_parameters"
    ]


def test_numbers_too_large_for_float16(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An adapter that float16 cannot hold is not shipped."""
    adapter = read_adapter(run / ADAPTER_FILE, name="m", framework="np")
    adapter.pairs["model.layers.1.mlp.down_proj"][0][0, 0] = 1e6
    write_adapter(run / ADAPTER_FILE, adapter, np.float32)
    assert 1 == main([str(run), str(tmp_path / "out")])
    assert "model.layers.1.mlp.down_proj holds numbers" in capsys.readouterr().err


def test_the_card_has_the_scores(run: Path, tmp_path: Path) -> None:
    """The card shows each suite's shares, by kind and for all."""
    right = EditOutcome(
        name="a",
        kind="rename",
        phrasing="",
        ranged=False,
        n_lines=3,
        status="proposed",
        exact=True,
        ended=True,
        parses=True,
        damage=(),
    )
    wrong = msgspec.structs.replace(right, kind="no_change", exact=False, damage=("x",))
    scores = tmp_path / "scores.json"
    scores.write_bytes(msgspec.json.encode(summarize("gate", [right, wrong, right])))
    assert 0 == main([str(run), str(tmp_path / "out"), "--scores", str(scores)])
    card = (tmp_path / "out" / "README.md").read_text()
    assert "### gate" in card
    assert "| rename | 2 | 100.0 % | 100.0 % | 100.0 % | 0.0 % |" in card
    assert "| all | 3 | 66.7 % | 100.0 % | 100.0 % | 33.3 % |" in card
    assert "0 of 1 texts" in card
    assert "<!--" not in card
