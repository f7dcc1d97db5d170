"""The `plgd` command as a process of its own, on pipes or on a terminal."""

from __future__ import annotations

import errno
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

__all__ = ("PLGD", "WAIT_S", "Terminal", "bounded", "on_terminal", "plgd", "started")

PLGD: Final = [sys.executable, "-m", "plgd_cli"]
# A bound for what hangs; a busy machine with a real model may take minutes.
WAIT_S: Final = 240.0


def plgd(
    *words: str | bytes, stdin: bytes = b"", cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command with pipes at its three ends."""
    return subprocess.run(
        [*PLGD, *words],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=WAIT_S,
        check=False,
    )


@contextmanager
def bounded(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill a process that outlives the block, and one that hangs, so that whoever reads from it comes to an end."""
    watchdog = threading.Timer(WAIT_S, process.kill)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()
        process.kill()


@contextmanager
def started(*words: str, stdin: int | IO[bytes] = subprocess.DEVNULL) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command in a process group of its own, as a shell does, with pipes to read from."""
    with (
        subprocess.Popen(
            [*PLGD, *words], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0
        ) as process,
        bounded(process),
    ):
        yield process


@dataclass(frozen=True)
class Terminal:
    """What a command left on a terminal.

    Attributes:
        shown: every byte that the terminal got, line ends as the terminal sees them.
        stdout: what went into the pipe, when standard output was one.
    """

    exit_code: int
    shown: str
    stdout: bytes


def on_terminal(
    *words: str,
    typed: str = "",
    stdout_is_pipe: bool = False,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
) -> Terminal:
    """Run the command on a terminal.

    Args:
        words: the command line without the program's name.
        typed: what the user types.
        stdout_is_pipe: standard output goes elsewhere, as in `plgd ... > file`.
        stdin: standard input comes from elsewhere, as in `plgd ... < file`.
        env: changes of the environment.
    """
    master, slave = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "FORCE_COLOR"}}
    with (
        subprocess.Popen(
            [*PLGD, *words],
            stdin=slave if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE if stdout_is_pipe else slave,
            stderr=slave,
            env={**plain, "TERM": "xterm-256color", "COLUMNS": "120", **(env or {})},
            start_new_session=True,
        ) as process,
        bounded(process),
    ):
        os.close(slave)
        os.write(master, typed.encode())
        if process.stdin is not None:
            process.stdin.write(stdin or b"")
            process.stdin.close()
        shown = _read_all(master)
        stdout = process.stdout.read() if process.stdout is not None else b""
        process.wait()
    os.close(master)
    return Terminal(process.returncode, shown.decode(), stdout)


def _read_all(master: int) -> bytes:
    """Read until the last process has let go of the terminal, which Linux reports as an I/O error."""
    parts = []
    try:
        while part := os.read(master, 65536):
            parts.append(part)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
    return b"".join(parts)
