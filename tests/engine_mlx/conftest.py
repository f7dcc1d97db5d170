"""A small model folder and the model loaded from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from plgd.engine.mlx.load import load_model
from plgd.engine.mlx.model import MlxModel
from tiny_models import write_model


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A llama of two layers with random weights, and a tokenizer with a ChatML template."""
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def tiny_model(tiny_folder: Path) -> MlxModel:
    """The same, loaded."""
    return load_model(tiny_folder, name="tiny")
