"""One daemon per user: a lock held for life decides, and whoever holds it owns the socket."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from plgd.errors import AlreadyRunning, StartFailed
from plgd.paths import Paths, private_folder

__all__ = ("Instance", "peer_uid", "single_instance")

# Pending connections that the kernel holds while the event loop is busy.
_BACKLOG: Final = 1024


class Instance:
    """The right to be this user's daemon, with the listening socket.

    Attributes:
        listener: bound and listening, non-blocking.
    """

    def __init__(self, path: Path) -> None:
        # A socket file found here belonged to a daemon that died: a living one would hold the lock.
        path.unlink(missing_ok=True)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.listener.setblocking(False)
            self.listener.bind(os.fspath(path))
            path.chmod(0o600)
            self._identity = _identity(path)
            self.listener.listen(_BACKLOG)
        except BaseException:
            self.listener.close()
            raise
        self._path = path

    @property
    def owns_socket(self) -> bool:
        """Whether clients that look for the daemon find this one."""
        return _identity(self._path) == self._identity

    def remove_socket(self) -> None:
        """Remove the socket's file, so that no new client finds this daemon; a file of another daemon stays."""
        if self.owns_socket:
            self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the socket's file and stop listening."""
        self.remove_socket()
        self.listener.close()


@contextmanager
def single_instance(paths: Paths) -> Iterator[Instance]:
    """Become this user's daemon until the block ends.

    The lock's file stays when the block ends: if it were removed, two daemons could each hold a lock of that name.

    Raises:
        AlreadyRunning: another daemon holds the lock.
        SocketPathTooLong: the operating system could not bind the socket.
        StartFailed: the runtime folder cannot be used, or something else has the socket's name.
    """
    path = paths.check_socket()
    try:
        private_folder(paths.runtime_dir)
        lock = os.open(paths.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StartFailed.because(f"{paths.runtime_dir} cannot be used ({error.strerror})", str(paths.log)) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyRunning.as_pid(paths.read_pid()) from error
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        try:
            instance = Instance(path)
        except OSError as error:
            reason = f"{path} cannot be made a socket ({error.strerror}); remove what stands there"
            raise StartFailed.because(reason, str(paths.log)) from error
        try:
            yield instance
        finally:
            instance.close()
            os.ftruncate(lock, 0)
    finally:
        os.close(lock)


def peer_uid(connection: socket.socket) -> int:
    """Return the user at the other end of a Unix socket, as the kernel vouches for it."""
    if sys.platform == "darwin":
        # <sys/ucred.h>: struct xucred {u_int version; uid_t uid; short ngroups; gid_t groups[16];} 76 bytes;
        # LOCAL_PEERCRED is 1 at level SOL_LOCAL, which is 0.
        credentials = connection.getsockopt(0, 1, 76)
        _, uid = struct.unpack_from("=II", credentials)
    else:
        # <sys/socket.h>: struct ucred {pid_t pid; uid_t uid; gid_t gid;}
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("=iII"))
        _, uid, _ = struct.unpack("=iII", credentials)
    return int(uid)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.lstat()
    except OSError:
        return None  # nobody finds it there, for whatever reason
    return found.st_dev, found.st_ino
