"""The extension with the real vscode-languageclient, against the real language server; the model is dictated."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from vscode.project import run


@pytest.mark.skipif(sys.platform != "linux", reason="the language server's process is found in /proc")
def test_the_real_client_edits(extension: Path, pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Edits are asked for, reviewed, cancelled and applied to the byte, and a killed language server is survived."""
    monkeypatch.setenv("PLGD_E2E", json.dumps({"pipe": str(pipe)}))
    said = run(extension, "npm", "run", "client")
    (n_passed,) = re.findall(r"^(?:#|ℹ) pass (\d+)$", said, re.MULTILINE)
    assert 6 == int(n_passed)
