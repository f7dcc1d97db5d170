"""The command stays light in every command that talks to the daemon, at run time and not only on paper."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cli.fake_daemon import FakeDaemon
from cli.models import model_info
from cli.results import edit_result
from plgd.protocol.daemon import DoctorResult
from plgd.protocol.methods import DOCTOR, EDIT, MODEL_LIST, MODEL_PULL
from plgd.protocol.models import ModelListResult

HEAVY = {"mlx", "mlx_lm", "transformers", "tokenizers", "numpy", "plgd.server", "plgd.engine", "plgd.edits"}
SCRIPT = """
import sys
from plgd_cli.main import main
code = main(sys.argv[1:])
print(code, *sys.modules, file=sys.stderr)
"""


@pytest.mark.parametrize(
    "words",
    [
        ["status"],
        ["edit", __file__, "-i", "x", "--diff"],
        ["model", "list"],
        ["model", "pull", "builtin", "--json"],
        ["doctor"],
        ["bench", "--rpc", "--count", "2"],
    ],
    ids=" ".join,
)
def test_no_command_loads_a_model_library(words: list[str], daemon: FakeDaemon) -> None:
    """Carrying out a command loads neither mlx nor the server into the command's process."""
    daemon.answers(EDIT, edit_result())
    daemon.answers(MODEL_LIST, ModelListResult(models=(model_info(),), recommended=""))
    daemon.answers(MODEL_PULL, model_info())
    daemon.answers(DOCTOR, DoctorResult(findings=()))
    command = [sys.executable, "-c", SCRIPT, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    code, *modules = done.stderr.splitlines()[-1].split()
    assert ("0", set()) == (code, HEAVY & set(modules))
