"""Two writers of one daemon never both find the old text."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plgd.edits import write
from plgd.text.fingerprint import fingerprint
from server.machine import PATIENCE_S, Gate


class WatchedLock:
    """A lock that tells when somebody has to wait for it."""

    def __init__(self) -> None:
        self.waited_for = threading.Event()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if self._lock.locked():
            self.waited_for.set()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def test_of_two_writers_one_is_too_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one writer is between its last look and its rename, another waits, and then finds the first one's text."""
    path = tmp_path / "a.txt"
    path.write_bytes(b"old\n")
    lock, gate = WatchedLock(), Gate(is_open=False)
    looks = write.is_still

    def look(path: Path, expected: str) -> bool:
        is_still = looks(path, expected)
        gate.pass_through()
        return is_still

    monkeypatch.setattr(write, "_SWAPPING", lock)
    monkeypatch.setattr(write, "is_still", look)
    with ThreadPoolExecutor() as threads:
        first = threads.submit(write.replace_file, path, b"first\n", fingerprint(b"old\n"))
        gate.wait_reached()
        second = threads.submit(write.replace_file, path, b"second\n", fingerprint(b"old\n"))
        try:
            assert lock.waited_for.wait(PATIENCE_S)
        finally:
            gate.open()
        assert (True, False) == (first.result(), second.result())
    assert b"first\n" == path.read_bytes()
