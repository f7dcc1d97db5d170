"""Fixtures of the Neovim plug-in's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nvim.editor import Editor

__all__ = ("editor",)


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    """A Neovim with the plug-in."""
    with Editor.running(tmp_path / "neovim") as running:
        yield running
