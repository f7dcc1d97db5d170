"""Fixtures of the VS Code extension's tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plgd.paths import Paths
from vscode.project import copy_project, run

__all__ = ("extension", "pipe", "vsix")

TESTS = Path(__file__).parents[1]


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


@pytest.fixture
def pipe(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A named pipe that the daemon's model takes its replies from; `plgd` is on the path."""
    pipe = tmp_path / "replies"
    os.mkfifo(pipe)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    command = [sys.executable, str(TESTS / "vscode" / "dictated_daemon.py"), str(pipe)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == b"ready\n"
        assert paths.socket.exists()
        yield pipe
        daemon.send_signal(signal.SIGKILL)
