"""The command and the real daemon, each a process of its own, without a model."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.command import plgd
from plgd.paths import Paths


@pytest.fixture
def stopped_afterwards(paths: Paths) -> Iterator[Paths]:
    """A user whose daemon, should one be started, is stopped in the end."""
    yield paths
    done = plgd("stop", "--now")
    assert done.returncode == 0, done.stderr


def daemon_pid(words: str) -> int:
    """Run a command that prints a daemon's process id and return the last one it prints."""
    return int(re.findall(rb"process ([0-9]+)", plgd(words).stdout)[-1])


def test_a_daemons_life(stopped_afterwards: Paths) -> None:
    """The daemon is started once, found again, replaced by a restart, and gone after a stop."""
    first = daemon_pid("start")
    assert first == daemon_pid("start") == json.loads(plgd("status", "--json").stdout)["pid"]
    second = daemon_pid("restart")
    assert second != first
    assert second == daemon_pid("stop")
    assert plgd("status").returncode == 1
    assert b"listens" in plgd("logs").stdout
    assert stopped_afterwards.log.exists()


def test_commands_start_the_daemon(stopped_afterwards: Paths) -> None:
    """A command that needs the daemon starts it."""
    assert not stopped_afterwards.runtime_dir.exists()
    assert b"builtin" in plgd("model", "list").stdout
    assert plgd("status").returncode == 0


def test_daemon_that_died_is_replaced(stopped_afterwards: Paths) -> None:
    """After a daemon was killed, `plgd status` says that none runs and the next command starts another."""
    killed = daemon_pid("start")
    os.kill(killed, signal.SIGKILL)
    assert stopped_afterwards.socket.exists()
    assert plgd("status").returncode == 1
    assert killed != daemon_pid("start")


@pytest.mark.usefixtures("stopped_afterwards")
def test_bad_input_is_named(tmp_path: Path) -> None:
    """Each kind of text that cannot be edited is refused in its own words, before any model is needed."""
    refused: dict[str, tuple[bytes, int, str]] = {
        "binary": (b"a\0b", 1, "is a binary file (NUL at byte 1)"),
        "latin-1": (b"caf\xe9", 1, "is not UTF-8 (byte 3)"),
        "short": (b"one line\n", 2, "Lines 7:9 are not all in"),
    }
    for name, (content, exit_code, reason) in refused.items():
        path = tmp_path / name
        path.write_bytes(content)
        done = plgd("edit", str(path), "-i", "x", *(["--lines", "7:9"] if name == "short" else []))
        assert (exit_code, True) == (done.returncode, reason in done.stderr.decode()), done.stderr
    folder = plgd("edit", str(tmp_path), "-i", "x")
    assert (1, True) == (folder.returncode, b"is a folder, not a file" in folder.stderr), folder.stderr


@pytest.mark.usefixtures("stopped_afterwards")
def test_nothing_is_downloaded_unasked(sum_py: Path) -> None:
    """Without a model on the machine an edit fails, and says how to fetch one."""
    done = plgd("edit", str(sum_py), "-i", "x")
    assert done.returncode == 1
    assert b"Fetch it" in done.stderr
    assert b"with: plgd model pull builtin" in done.stderr
    misspelt = plgd("edit", str(sum_py), "-i", "x", "--model", "bulitin")
    assert (2, True) == (misspelt.returncode, b"Did you mean 'builtin'?" in misspelt.stderr)


@pytest.mark.usefixtures("stopped_afterwards")
def test_doctor_asks_the_daemon() -> None:
    """`plgd doctor` shows what the daemon found, and fails while no model is here."""
    done = plgd("doctor")
    subjects = {line[9:].split("  ")[0] for line in done.stdout.decode().splitlines()}
    assert {"command", "configuration", "device", "model"} <= subjects
    assert done.returncode == 1
    assert b"plgd model pull builtin" in done.stdout


@pytest.mark.parametrize("variable", ["PLGD_RUNTIME_DIR", "PLGD_HOME"])
def test_socket_path_that_is_too_long_is_said(
    variable: str, paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder whose socket path the system cannot bind is named, with the limit and the way out."""
    monkeypatch.setenv(variable, str(tmp_path / ("deep" * 40)))
    for words in (["start"], ["status"], ["stop"]):
        done = plgd(*words)
        assert (1, True) == (done.returncode, b"Set PLGD_RUNTIME_DIR to a shorter folder." in done.stderr)
    assert not paths.runtime_dir.exists()


def test_broken_configuration_stops_the_start(paths: Paths) -> None:
    """With a configuration that cannot be used the daemon does not start, and the command names the key."""
    paths.config_dir.mkdir()
    paths.config_file.write_text("[daemon]\nqueue_limt = 3\n", encoding="utf-8")
    done = plgd("start")
    assert done.returncode == 2
    assert b"unknown key `daemon.queue_limt`; did you mean `daemon.queue_limit`?" in done.stderr
