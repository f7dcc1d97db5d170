"""One daemon per user."""

from __future__ import annotations

import os
import socket
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from plgd.errors import AlreadyRunning, SocketPathTooLong, StartFailed
from plgd.paths import SOCKET_PATH_LIMIT, Paths
from plgd.server.instance import peer_uid, single_instance


def test_the_folder_and_the_socket_are_private(paths: Paths) -> None:
    """Nobody else may enter the runtime folder."""
    with single_instance(paths):
        assert stat.S_IMODE(paths.runtime_dir.stat().st_mode) == 0o700
        assert stat.S_IMODE(paths.socket.stat().st_mode) == 0o600


def test_a_folder_that_others_may_enter_is_refused_and_left_alone(paths: Paths) -> None:
    """A folder that was there before plgd may serve other purposes: its mode is not changed, and the user is told."""
    paths.runtime_dir.mkdir(parents=True)
    paths.runtime_dir.chmod(0o755)
    with pytest.raises(StartFailed, match=rf"mode 0755.*chmod 700 {paths.runtime_dir}"), single_instance(paths):
        pass
    assert stat.S_IMODE(paths.runtime_dir.stat().st_mode) == 0o755


def test_a_folder_of_another_user_is_refused(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever owns the folder could put another socket into the daemon's place."""
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(StartFailed, match="belongs to another user"), single_instance(paths):
        pass


def test_a_second_daemon_is_refused_and_told_who_runs(paths: Paths) -> None:
    """The lock decides, and the first daemon's socket is left alone."""
    with single_instance(paths) as first:
        with pytest.raises(AlreadyRunning, match=f"process {os.getpid()}"), single_instance(paths):
            pass
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(paths.socket))
            first.listener.accept()[0].close()


def test_the_place_is_free_when_the_daemon_has_ended(paths: Paths) -> None:
    """Afterwards the socket is gone, the lock's file stays for the next daemon and names nobody."""
    for _ in range(2):
        with single_instance(paths):
            assert f"{os.getpid()}\n" == paths.lock.read_text()
        assert not paths.socket.exists()
        assert paths.lock.read_text() == ""


def test_what_a_dead_daemon_left_is_taken_over(paths: Paths) -> None:
    """A socket and a lock file without a living daemon are no obstacle."""
    paths.runtime_dir.mkdir(mode=0o700, parents=True)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(paths.socket))
    paths.lock.write_text("999999\n")
    with single_instance(paths), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(paths.socket))
        assert f"{os.getpid()}\n" == paths.lock.read_text()


def test_another_daemons_socket_is_not_removed(paths: Paths) -> None:
    """If somebody cleared the folder and another daemon listens there now, the old one's end leaves it alone."""
    with single_instance(paths):
        paths.socket.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(paths.socket))
    assert paths.socket.exists()


def test_a_path_that_is_too_long_is_refused(paths: Paths) -> None:
    """The error says the limit and what to do, and nothing was created."""
    deep = replace(paths, runtime_dir=paths.runtime_dir / ("x" * SOCKET_PATH_LIMIT))
    with pytest.raises(SocketPathTooLong, match=f"allows {SOCKET_PATH_LIMIT}.*PLGD_RUNTIME_DIR"), single_instance(deep):
        pass
    assert not deep.runtime_dir.exists()


def test_the_longest_allowed_path_works(paths: Paths) -> None:
    """The limit is the operating system's, to the byte."""
    length = SOCKET_PATH_LIMIT - len(os.fsencode(paths.runtime_dir)) - len("/" + "/plgd.sock")
    longest = replace(paths, runtime_dir=paths.runtime_dir / ("x" * length))
    assert len(os.fsencode(longest.socket)) == SOCKET_PATH_LIMIT
    with single_instance(longest):
        assert longest.socket.exists()


def test_a_folder_that_cannot_be_made_is_an_error(paths: Paths) -> None:
    """Where the runtime folder would be stands a file."""
    paths.runtime_dir.parent.mkdir(exist_ok=True)
    paths.runtime_dir.write_text("")
    with pytest.raises(StartFailed, match="cannot be used"), single_instance(paths):
        pass


def test_a_folder_in_the_sockets_place_is_said(paths: Paths) -> None:
    """What is no socket is left alone, and the error says what to remove."""
    paths.socket.mkdir(mode=0o700, parents=True)
    paths.runtime_dir.chmod(0o700)
    with (
        pytest.raises(StartFailed, match=r"plgd\.sock cannot be made a socket \(.*remove what"),
        single_instance(paths),
    ):
        pass
    assert paths.socket.is_dir()


def test_the_kernel_names_the_peer(tmp_path: Path) -> None:
    """The user at the other end is the one who connected."""
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        client.connect(str(tmp_path / "s"))
        accepted, _ = listener.accept()
        with accepted:
            assert os.geteuid() == peer_uid(accepted)
