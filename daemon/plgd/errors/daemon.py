"""Why the daemon cannot be reached or started, or takes no more work."""

from __future__ import annotations

from plgd.errors.base import PlgdError

__all__ = (
    "AlreadyRunning",
    "ClientBusy",
    "ConnectionLost",
    "DaemonError",
    "DaemonUnreachable",
    "QueueFull",
    "ShuttingDown",
    "SocketPathTooLong",
    "StartFailed",
    "TooManyConnections",
    "VersionMismatch",
)


class DaemonError(PlgdError):
    """The daemon cannot be reached or started."""

    code = -32060


class DaemonUnreachable(DaemonError):
    """No daemon listens on the socket."""

    code = -32061

    @classmethod
    def at(cls, socket: str) -> DaemonUnreachable:
        return cls(f"No plgd daemon answers on {socket}. Start it with: plgd start")

    @classmethod
    def silent(cls, socket: str, pid: int | None) -> DaemonUnreachable:
        remedy = f"`kill -CONT {pid}` wakes it if it was stopped, `kill -9 {pid}` ends it" if pid else "End its process"
        return cls(f"The plgd daemon (process {pid or 'unknown'}) listens on {socket} but does not answer. {remedy}.")


class StartFailed(DaemonError):
    """The daemon was started but did not come up."""

    code = -32062

    @classmethod
    def because(cls, reason: str, log: str) -> StartFailed:
        return cls(f"The daemon did not start: {reason}. Its log is {log}; `plgd doctor` checks the installation.")

    @classmethod
    def in_foreign_folder(cls, folder: str) -> StartFailed:
        return cls(
            f"The daemon does not start in {folder}, which belongs to another user. Set PLGD_RUNTIME_DIR to a folder "
            "that is not there yet."
        )

    @classmethod
    def in_open_folder(cls, folder: str, mode: int) -> StartFailed:
        return cls(
            f"The daemon does not start in {folder}, which other users may enter (mode {mode:04o}). If it is plgd's "
            f"alone: chmod 700 {folder}. Else set PLGD_RUNTIME_DIR to a folder that is not there yet."
        )


class AlreadyRunning(DaemonError):
    """Another daemon of this user holds the lock."""

    code = -32063

    @classmethod
    def as_pid(cls, pid: int | None) -> AlreadyRunning:
        return cls(f"A plgd daemon is already running (process {pid or 'unknown'}).")


class SocketPathTooLong(DaemonError):
    """The operating system limits the length of a socket's path."""

    code = -32064

    @classmethod
    def of(cls, path: str, limit: int) -> SocketPathTooLong:
        return cls(
            f"The socket path {path} has {len(path.encode())} bytes, this system allows {limit}. "
            "Set PLGD_RUNTIME_DIR to a shorter folder."
        )


class VersionMismatch(DaemonError):
    """The daemon speaks another protocol than the client."""

    code = -32065

    @classmethod
    def between(cls, client: str, daemon: str) -> VersionMismatch:
        if client == daemon:
            return cls(f"The daemon is another build of plgd {daemon}. Restart it with: plgd restart")
        return cls(
            f"The daemon is plgd {daemon}, this is plgd {client}. Update the older of the two, or stop the daemon with "
            "its own `plgd stop`."
        )


class ConnectionLost(DaemonError):
    """The daemon went away before it answered."""

    code = -32066

    def __init__(self, message: str = "The daemon went away before it answered; see `plgd logs`.") -> None:
        super().__init__(message)


class QueueFull(PlgdError):
    """As many requests wait as the daemon takes.

    Attributes:
        retry_after_s: when a place may be free, from what requests took so far; 0 when nothing is known.
    """

    code = -32080
    retry_after_s = 0.0

    @classmethod
    def of(cls, limit: int) -> QueueFull:
        return cls(f"{limit} requests are already waiting; try again in a moment.")


class ClientBusy(QueueFull):
    """As many requests of one client wait as the daemon takes from it."""

    code = -32083

    @classmethod
    def of(cls, limit: int) -> ClientBusy:
        return cls(f"{limit} requests of this client are already waiting; try again when one of them is answered.")


class ShuttingDown(PlgdError):
    """The daemon finishes what it has and takes nothing new."""

    code = -32081

    def __init__(self, message: str = "The daemon is shutting down; run the command again.") -> None:
        super().__init__(message)


class TooManyConnections(PlgdError):
    """As many clients are connected as the daemon takes."""

    code = -32082

    @classmethod
    def of(cls, limit: int) -> TooManyConnections:
        return cls(f"{limit} clients are already connected; close one and try again.")
