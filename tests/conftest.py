"""Fixtures that every part's tests share: a user's folders of their own, and the built-in model."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from plgd.engine.mlx.gguf import convert_gguf
from plgd.models.pull import pull
from plgd.paths import Paths

__all__ = ("builtin_model_dir", "paths")

# On a busy machine everything is slow: that is no finding about the code.
settings.register_profile("plgd", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("plgd")


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Iterator[Paths]:
    """A user's folders, empty, below a short path (sockets allow about 100 bytes), removed afterwards."""
    root = Path(tempfile.mkdtemp(prefix="plgd-"))
    for variable in ("PLGD_CONFIG_DIR", "PLGD_CACHE_DIR", "PLGD_RUNTIME_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PLGD_HOME", str(root))
    yield Paths.from_environment()
    shutil.rmtree(root)


@pytest.fixture(scope="session")
def builtin_model_dir() -> Path:
    """The built-in model's folder, without the adapter; fetched on first use and kept between test runs.

    It lies in `PLGD_TEST_CACHE`, by default a folder of this user below the system's temporary folder.
    """
    default = Path(tempfile.gettempdir()) / f"plgd-test-cache-{os.getuid()}"
    root = Path(os.environ.get("PLGD_TEST_CACHE") or default)
    cache = Paths(config_dir=root / "config", cache_dir=root / "cache", runtime_dir=root / "run")
    return pull("builtin", cache, convert=convert_gguf)
