"""The packaged extension in real VS Code, in a browser, against the real language server and a daemon of words."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plgd.paths import Paths
from vscode.project import CACHE, run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
TESTS = Path(__file__).parents[1]

pytestmark = [
    # A browser and an editor take minutes on a busy machine, and their fetching another.
    pytest.mark.skipif(not os.environ.get("PLGD_TEST_VSCODE"), reason="PLGD_TEST_VSCODE is not set"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="the language server's process is found in /proc"),
]


@pytest.fixture
def pipe(paths: Paths, tmp_path: Path) -> Iterator[Path]:
    """A named pipe that the daemon's model takes its replies from."""
    pipe = tmp_path / "replies"
    os.mkfifo(pipe)
    command = [sys.executable, str(TESTS / "vscode" / "dictated_daemon.py"), str(pipe)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == b"ready\n"
        assert paths.socket.exists()
        yield pipe
        daemon.send_signal(signal.SIGKILL)


def test_extension_in_real_vscode(extension: Path, vsix: Path, pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edits are asked for, reviewed change by change, cancelled, applied and undone in VS Code, to the byte."""
    code = run(extension, "node", "e2e/vscode.mjs", str(CACHE)).splitlines()[-1]
    where = {"code": code, "chromium": CHROMIUM, "vsix": str(vsix), "pipe": str(pipe)}
    monkeypatch.setenv("PLGD_E2E", json.dumps(where))
    # `plgd` is looked for on the path.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    run(extension, "npm", "run", "e2e")
