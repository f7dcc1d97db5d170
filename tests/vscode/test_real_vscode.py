"""The packaged extension in real VS Code, in a browser, against the real language server and a daemon of words."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from vscode.project import CACHE, run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = [
    # A browser and an editor take minutes on a busy machine, and their fetching another.
    pytest.mark.skipif(not os.environ.get("PLGD_TEST_VSCODE"), reason="PLGD_TEST_VSCODE is not set"),
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="the language server's process is found in /proc"),
]


def test_extension_in_real_vscode(extension: Path, vsix: Path, pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edits are asked for, reviewed change by change, cancelled, applied and undone in VS Code, to the byte."""
    code = run(extension, "node", "e2e/vscode.mjs", str(CACHE)).splitlines()[-1]
    where = {"code": code, "chromium": CHROMIUM, "vsix": str(vsix), "pipe": str(pipe)}
    monkeypatch.setenv("PLGD_E2E", json.dumps(where))
    run(extension, "npm", "run", "e2e")
