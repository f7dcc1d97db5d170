"""Fixtures that every part's tests share: a user's folders of their own, and the built-in model."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plgd.paths import Paths

__all__ = ("paths",)


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Iterator[Paths]:
    """A user's folders, empty, below a short path (sockets allow about 100 bytes), removed afterwards."""
    root = Path(tempfile.mkdtemp(prefix="plgd-"))
    for variable in ("PLGD_CONFIG_DIR", "PLGD_CACHE_DIR", "PLGD_RUNTIME_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PLGD_HOME", str(root))
    yield Paths.from_environment()
    shutil.rmtree(root)
