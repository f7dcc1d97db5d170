"""Fixtures of the VS Code extension's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from vscode.project import copy_project, run

__all__ = ("extension", "vsix")


@pytest.fixture(scope="session")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension's folder, a copy, with its packages."""
    return copy_project(tmp_path_factory.mktemp("extension"))


@pytest.fixture(scope="session")
def vsix(extension: Path) -> Path:
    """The extension as people install it."""
    run(extension, "npm", "run", "package")
    (found,) = extension.glob("*.vsix")
    return found
