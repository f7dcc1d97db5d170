"""`plgd bench` as people run it, on the built-in model."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from plgd.paths import Paths


@pytest.mark.builtin
def test_arms_agree_on_the_real_model(
    builtin_model_dir: Path,
    paths: Paths,  # noqa: ARG001  # a user without settings
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In float32 the policies give the tokens of mlx-lm's own loop; on Linux they run on OpenBLAS when it is there."""
    monkeypatch.setenv("PLGD_CACHE_DIR", str(builtin_model_dir.parents[1]))
    words = ["bench", "--only", "edit_fn", "--arms", "off,graded", "--max-tokens", "20", "--repeats", "1", "--json"]
    done = subprocess.run([sys.executable, "-m", "plgd_cli", *words], capture_output=True, check=True, text=True)
    data = json.loads(done.stdout)
    arms = data["workloads"]["edit_fn"]["arms"]
    assert {"plain": True, "off": True, "graded": True} == {
        name: arm["identical_to_plain"] for name, arm in arms.items()
    }
    assert 20 == arms["off"]["counters"]["n_rounds"] == arms["plain"]["n_tokens"]
    assert arms["graded"]["counters"]["n_rounds"] < 20
    installed = {str(found.metadata["Name"]).lower() for found in metadata.distributions()}
    if sys.platform == "linux" and "mlx-cpu" in installed and installed & {"ngsolve-openblas", "cmeel-openblas"}:
        assert "openblas" == data["environment"]["blas"]
