"""What the recipe needs: it runs on a machine with a GPU where mlx may be missing."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

COMMANDS = ("generate", "export", "suite", "train", "evaluate")
NEED_TORCH = ("train", "evaluate")


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_need_no_mlx(command: str) -> None:
    """Every command of the recipe starts without mlx and mlx-lm."""
    if command in NEED_TORCH and importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    code = f"import sys; sys.modules['mlx'] = sys.modules['mlx_lm'] = None; import training.{command}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
