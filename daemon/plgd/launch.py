"""Starting the daemon: a process of its own session, told which BLAS to use, awaited until it listens."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import anyio

from plgd.blas import find_preload
from plgd.config import load_config
from plgd.errors import DaemonUnreachable, StartFailed
from plgd.paths import Paths, private_folder
from plgd.stream import Stream

__all__ = ("ALREADY_RUNNING_EXIT", "connect_running", "daemon_environment", "launch")

# The exit status of `plgd serve` when another daemon holds the lock (EX_TEMPFAIL of sysexits.h).
ALREADY_RUNNING_EXIT: Final = 75

# mlx for CUDA multiplies float32 with ten bits unless told otherwise. Then passes of one token and of several differ by
# more than the last bits of float32, which replies that are to be the same with and without drafting rest on.
_WHOLE_FLOAT32: Final = {"MLX_ENABLE_TF32": "0"}

# Binding comes before anything heavy, so a start takes a fraction of a second; a loaded machine may need longer.
_START_TIMEOUT_S: Final = 30.0
# Between two looks at a socket that another daemon is about to open, or at a lock that it is about to release.
_RETRY_S: Final = 0.05


async def launch(paths: Paths) -> Stream:
    """Start the daemon unless one listens, and connect to it.

    Several callers may do so at once: one daemon comes up and all of them reach it. A daemon that is about to exit
    is awaited and then replaced.

    Raises:
        ConfigError: the daemon could not use the configuration.
        SocketPathTooLong: the operating system could not bind the socket.
        StartFailed: the daemon exited or did not listen in time; the message has the last line of its log.
    """
    path = paths.check_socket()
    try:
        private_folder(paths.runtime_dir)
    except OSError as error:
        raise StartFailed.because(f"{paths.runtime_dir} cannot be used ({error.strerror})", str(paths.log)) from error
    try:
        with anyio.fail_after(_START_TIMEOUT_S):
            while True:
                try:
                    return Stream.connect(path)
                except OSError:
                    # No daemon, or one that is just coming or going: the lock knows.
                    load_config(paths.config_file)
                    if not await _start(paths):
                        await anyio.sleep(_RETRY_S)
    except TimeoutError as error:
        reason = f"it does not listen on {path} after {_START_TIMEOUT_S:.0f} seconds, and its lock is held"
        raise StartFailed.because(reason, str(paths.log)) from error


def connect_running(paths: Paths) -> Stream:
    """Connect to the daemon that runs.

    Raises:
        DaemonUnreachable: nothing listens on the socket.
        SocketPathTooLong: the operating system could not have bound it.
    """
    path = paths.check_socket()
    try:
        return Stream.connect(path)
    except OSError as error:
        raise DaemonUnreachable.at(str(path)) from error


async def _start(paths: Paths) -> bool:
    """Start a process and wait until it listens; `False` when another daemon holds the lock."""
    ready, tell = os.pipe()
    try:
        try:
            log_size = paths.log.stat().st_size if paths.log.exists() else 0
            process = _spawn(paths, tell)
        except OSError as error:
            raise StartFailed.because(f"{error.filename} cannot be used ({error.strerror})", str(paths.log)) from error
        finally:
            os.close(tell)
        await anyio.wait_readable(ready)
        if os.read(ready, 1):
            return True
    finally:
        os.close(ready)
    code = await anyio.to_thread.run_sync(process.wait)
    if code == ALREADY_RUNNING_EXIT:
        return False
    raise StartFailed.because(_last_words(paths.log, log_size, code), str(paths.log))


def _spawn(paths: Paths, tell: int) -> subprocess.Popen[bytes]:
    with paths.log.open("ab") as log:
        process = subprocess.Popen(
            # -P: a module in the working folder must not shadow one of plgd's. utf8: a path on the wire is the file
            # of these bytes, whatever locale the daemon happens to be started from.
            [sys.executable, "-P", "-X", "utf8", "-m", "plgd", "serve", "--ready-fd", str(tell)],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=(tell,),
            env=daemon_environment(paths),
            cwd="/",
        )
    # Reaps the daemon if this process outlives it, and keeps `process` from being collected before that.
    threading.Thread(target=process.wait, name="plgd-reaper", daemon=True).start()
    return process


def daemon_environment(paths: Paths) -> dict[str, str]:
    """Return the environment in which the model runs at full speed and precision, this user's places made absolute.

    What the user has set for mlx stays.
    """
    places = {
        "PLGD_CONFIG_DIR": str(paths.config_dir.absolute()),
        "PLGD_CACHE_DIR": str(paths.cache_dir.absolute()),
        "PLGD_RUNTIME_DIR": str(paths.runtime_dir.absolute()),
    }
    return _WHOLE_FLOAT32 | find_preload(os.environ, paths.blas_links).environment | places


def _last_words(log: Path, start: int, code: int) -> str:
    with log.open("rb") as file:
        file.seek(start)
        lines = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    ended = f"it was killed by signal {-code}" if code < 0 else f"it exited with status {code}"
    return f"{ended} ({lines[-1].strip() if lines else _why_silent(log)})"


def _why_silent(log: Path) -> str:
    """Say why a daemon that died left no words: most likely those found no room on the disk."""
    try:
        with log.open("ab", buffering=0) as file:
            file.write(b"\n")
    except OSError as error:
        return f"and its log cannot be written: {error.strerror}"
    return "and its log does not say why"
