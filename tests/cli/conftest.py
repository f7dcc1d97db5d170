"""Fixtures of the command line's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.fake_daemon import FakeDaemon
from cli.results import OLD
from plgd.paths import Paths

__all__ = ("daemon", "sum_py")


@pytest.fixture
def daemon(paths: Paths) -> Iterator[FakeDaemon]:
    """A daemon without a model, where the command will look for one."""
    with FakeDaemon.running(paths) as running:
        yield running


@pytest.fixture
def sum_py(tmp_path: Path) -> Path:
    """A file with everything in it that careless output spoils."""
    path = tmp_path / "sum.py"
    path.write_bytes(OLD.encode())
    return path
