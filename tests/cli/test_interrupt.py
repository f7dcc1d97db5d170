"""Ctrl-C: the signal that a terminal sends to the whole process group."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from cli.command import started
from cli.fake_daemon import WAIT_S, FakeDaemon
from cli.results import OLD
from plgd.paths import Paths
from plgd.protocol.daemon import PingResult
from plgd.protocol.methods import EDIT, MODEL_PULL, PING, Method
from plgd_cli.main import main


def interrupt(process: subprocess.Popen[bytes], daemon: FakeDaemon, method: Method) -> tuple[int, bytes, bytes]:  # type: ignore[type-arg]  # any
    """Press Ctrl-C once the daemon has the request; return exit code, output and errors."""
    daemon.next_params(method)
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=WAIT_S)
    return process.returncode, stdout, stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "Interrupted; sum.py is unchanged."),
        (["--write"], "Interrupted; the edit is cancelled unless it was just being written."),
    ],
    ids=["review", "write"],
)
def test_edit_is_cancelled_in_the_daemon(
    words: list[str], expected: str, daemon: FakeDaemon, sum_py: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C in mid-edit cancels the request, ends with 130 and leaves the file and the daemon alone."""
    monkeypatch.chdir(sum_py.parent)
    daemon.answers(EDIT, None)
    with started("edit", "sum.py", "-i", "x", *words) as process:
        ended = interrupt(process, daemon, EDIT)
    assert (130, b"", f"plgd: {expected}\n".encode()) == ended
    assert daemon.cancelled.get(timeout=WAIT_S)
    assert OLD.encode() == sum_py.read_bytes()


def test_interrupted_edit_is_json_for_a_program(daemon: FakeDaemon, sum_py: Path) -> None:
    """With `--json` an interrupted edit is an error in JSON."""
    daemon.answers(EDIT, None)
    with started("edit", str(sum_py), "-i", "x", "--json") as process:
        exit_code, stdout, stderr = interrupt(process, daemon, EDIT)
    assert (130, -32800, b"") == (exit_code, json.loads(stdout)["error"]["code"], stderr)


def test_interrupted_filter_prints_nothing(daemon: FakeDaemon, sum_py: Path) -> None:
    """With `-`, Ctrl-C ends the filter without output: the whole pipeline is being interrupted."""
    daemon.answers(EDIT, None)
    with sum_py.open("rb") as stdin, started("edit", "-", "-i", "x", stdin=stdin) as process:
        ended = interrupt(process, daemon, EDIT)
    assert (130, b"", b"plgd: Interrupted; nothing was changed.\n") == ended


def test_interrupted_pull_can_go_on(daemon: FakeDaemon) -> None:
    """Ctrl-C in mid-pull cancels it and says that the next pull resumes."""
    daemon.answers(MODEL_PULL, None)
    with started("model", "pull", "builtin") as process:
        ended = interrupt(process, daemon, MODEL_PULL)
    expected = b"plgd: Interrupted; what arrived is kept. `plgd model pull builtin` goes on where it stopped.\n"
    assert (130, b"", expected) == ended
    assert daemon.cancelled.get(timeout=WAIT_S)


def test_other_commands_end_as_well(daemon: FakeDaemon) -> None:
    """Ctrl-C ends any other command with 130 and without a traceback."""
    daemon.answers(PING, None)
    with started("bench", "--rpc") as process:
        ended = interrupt(process, daemon, PING)
    assert (130, b"", b"plgd: Interrupted.\n") == ended
    daemon.answers(PING, PingResult())


def test_the_process_that_measures_starts_with_ctrl_c_held_back(
    paths: Paths,  # noqa: ARG001 - a user without settings
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`plgd bench` becomes another process, which takes the signal once it can answer it."""
    held: list[set[int]] = []

    def become(*_: object) -> None:
        held.append(signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT}))

    monkeypatch.setattr(os, "execve", become)
    main(["bench", "--host"])
    assert [{signal.SIGINT}] == held
