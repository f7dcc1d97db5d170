"""The page about Emacs, carried out by a real Emacs.

`PLGD_TEST_EMACS` names the program where it is not on the path.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import anyio
import pytest

from lsp.editor import PATIENCE_S
from lsp.talking import Talker, talking_daemon
from plgd.paths import Paths

pytestmark = pytest.mark.anyio

PAGE: Final = Path(__file__).parents[2] / "docs/editors/emacs.md"
SCRIPT: Final = Path(__file__).with_name("eglot.el")
EMACS: Final = os.environ.get("PLGD_TEST_EMACS") or shutil.which("emacs")


def has_eglot() -> bool:
    """Say whether there is an Emacs here that has eglot."""
    if EMACS is None:
        return False
    return subprocess.run([EMACS, "--batch", "-l", "eglot"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(EMACS is None, reason="there is no Emacs on the path, nor in PLGD_TEST_EMACS")
async def test_an_edit_that_takes_longer_than_eglots_time_out_lands(paths: Paths, tmp_path: Path) -> None:
    """The page's code asks at once, the edit comes after the time-out of requests, and one undo restores the text."""
    if not has_eglot():
        pytest.skip("this Emacs has no eglot")
    (snippet,) = re.findall(r"```elisp\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    init, file = tmp_path / "init.el", tmp_path / "six.txt"
    init.write_text(snippet, encoding="utf-8")
    old, new = "a\n# plgd: sort\nb \U0001f600\nc", "a\n# plgd: sort\nB \U0001f600\nc"
    file.write_text(old, encoding="utf-8")
    talker = Talker()
    talker.reply = new
    talker.gate.shut()
    async with talking_daemon(paths, talker):
        command = [str(EMACS), "--batch", "-l", str(init), "-l", str(SCRIPT), str(file), sys.executable]
        async with await anyio.open_process(command, stdout=subprocess.DEVNULL) as emacs:
            assert emacs.stderr is not None
            said = b""
            with anyio.fail_after(PATIENCE_S):
                while b"SAID asked\n" not in said:
                    said += await emacs.stderr.receive()
                talker.gate.open()
                async for part in emacs.stderr:
                    said += part
                assert 0 == await emacs.wait(), said.decode()
    _, after, undone, actions = re.findall(r"^SAID (.*)$", said.decode(), re.MULTILINE)
    assert (new, old) == (json.loads(after), json.loads(undone))
    assert "plgd: Fix typos (whole file)" in actions
