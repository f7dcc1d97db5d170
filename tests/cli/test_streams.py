"""The command with standard streams that are closed, full or unread."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli.command import PLGD, WAIT_S
from cli.fake_daemon import FakeDaemon
from cli.results import DIFF, edit_result
from plgd.errors import FileMissing
from plgd.protocol.methods import EDIT
from plgd_cli.output import printable


def in_shell(redirection: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command with a redirection in the shell's words."""
    script = f"{shlex.join([*PLGD, *words])} {redirection}"
    return subprocess.run(["/bin/sh", "-c", script], capture_output=True, timeout=WAIT_S, check=False)


@pytest.mark.parametrize(
    ("redirection", "stdout"), [("<&-", DIFF.encode()), (">&-", b""), ("2>&-", DIFF.encode()), ("<&- >&- 2>&-", b"")]
)
def test_closed_streams_are_no_obstacle(redirection: str, stdout: bytes, daemon: FakeDaemon, sum_py: Path) -> None:
    """What is closed is as good as the null device: nothing else gets its place, and the rest works."""
    daemon.answers(EDIT, edit_result())
    done = in_shell(redirection, "edit", str(sum_py), "-i", "x")
    assert (0, stdout) == (done.returncode, done.stdout)
    assert str(sum_py) == daemon.next_params(EDIT).path


def test_error_in_json_that_cannot_be_written(daemon: FakeDaemon, sum_py: Path) -> None:
    """With `--json` and a full disk, result and error alike are given up in one sentence on standard error."""
    expected = b"plgd: Standard output cannot be written: No space left on device.\n"
    daemon.answers(EDIT, edit_result())
    done = in_shell(">/dev/full", "edit", str(sum_py), "-i", "x", "--json")
    assert (1, expected) == (done.returncode, done.stderr)
    daemon.answers(EDIT, FileMissing.at("a.py"))
    done = in_shell(">/dev/full", "edit", str(sum_py), "-i", "x", "--json")
    assert (1, expected) == (done.returncode, done.stderr)


def test_full_standard_error_fails_nothing(daemon: FakeDaemon, sum_py: Path) -> None:
    """An edit that is made stays a success when nobody can be told so."""
    daemon.answers(EDIT, edit_result())
    done = in_shell("2>/dev/full", "edit", str(sum_py), "-i", "x")
    assert (0, DIFF.encode()) == (done.returncode, done.stdout)


def test_names_are_printable_in_every_locale() -> None:
    """A message is made of the file's name without asking the locale, bytes that are no text as escapes."""
    script = "from plgd_cli.output import say; say('caf\\udce9 \\U0001f600')"
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", script],
        env={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
        capture_output=True,
        check=False,
        timeout=WAIT_S,
    )
    assert (0, b"caf\\xe9 \\U0001f600\n") == (done.returncode, done.stderr)
    assert "caf\\xe9 😀" == printable("caf\udce9 😀")


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["plain", "json"])
def test_interrupt_before_the_command_runs(words: list[str]) -> None:
    """Ctrl-C while the command's modules are imported ends with 130, without a traceback."""
    script = (
        "import importlib, os, signal, sys\n"
        "from plgd_cli import main\n"
        "importlib.import_module = lambda name: os.kill(os.getpid(), signal.SIGINT)\n"
        f"sys.exit(main.main(['status', *{words}]))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=WAIT_S)
    said = json.loads(done.stdout)["error"]["message"] if words else done.stderr.decode()
    assert (130, True) == (done.returncode, said.strip().endswith("Interrupted."))
