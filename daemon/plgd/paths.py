"""Where plgd keeps things: one stable place per user, the same from every editor and shell.

The places do not depend on `XDG_RUNTIME_DIR` or `TMPDIR`: those differ between a login shell, an editor started
from a desktop and a service, and two of them would start two daemons.

| what | Linux | macOS | override |
|---|---|---|---|
| configuration | `~/.config/plgd` | `~/.config/plgd` | `PLGD_CONFIG_DIR` |
| models and other files that can be fetched again | `~/.cache/plgd` | `~/Library/Caches/plgd` | `PLGD_CACHE_DIR` |
| log, socket, lock | `~/.local/state/plgd` | `~/Library/Application Support/plgd` | `PLGD_RUNTIME_DIR` |

`PLGD_HOME` puts all three below one folder. A relative folder starts at the one that the command runs in.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plgd.errors import ConfigError, SocketPathTooLong, StartFailed

__all__ = ("SOCKET_PATH_LIMIT", "Paths", "private_folder")

# sizeof(sockaddr_un.sun_path) - 1: 103 bytes on macOS and the BSDs, 107 on Linux.
SOCKET_PATH_LIMIT: Final = 107 if sys.platform == "linux" else 103


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of one user and the files in them. Nothing is created by asking."""

    config_dir: Path
    cache_dir: Path
    runtime_dir: Path

    @classmethod
    def from_environment(cls) -> Paths:
        """Read the places from the environment; see the module's table.

        Raises:
            ConfigError: a variable names the home of a user that there is none of, or there is no home.
        """
        mac = sys.platform == "darwin"
        root = _chosen("PLGD_HOME")

        def place(variable: str, below_root: str, below_home: str) -> Path:
            return _chosen(variable) or (root / below_root if root else _home() / below_home)

        return cls(
            config_dir=place("PLGD_CONFIG_DIR", "config", ".config/plgd"),
            cache_dir=place("PLGD_CACHE_DIR", "cache", "Library/Caches/plgd" if mac else ".cache/plgd"),
            runtime_dir=place(
                "PLGD_RUNTIME_DIR", "run", "Library/Application Support/plgd" if mac else ".local/state/plgd"
            ),
        )

    @property
    def config_file(self) -> Path:
        """The user's settings."""
        return self.config_dir / "config.toml"

    @property
    def models_dir(self) -> Path:
        """One folder per pulled model."""
        return self.cache_dir / "models"

    @property
    def blas_links(self) -> Path:
        """Links to libraries that a pre-loaded BLAS needs."""
        return self.cache_dir / "blas"

    @property
    def step_costs_dir(self) -> Path:
        """What rounds cost on this machine, one file per model and device."""
        return self.cache_dir / "step-costs"

    @property
    def spill_dir(self) -> Path:
        """The KV of documents, for the next edit of them; only where the configuration wants it."""
        return self.cache_dir / "kv"

    @property
    def replies_dir(self) -> Path:
        """Replies of the last hour, for requests that are repeated; the daemon's alone."""
        return self.runtime_dir / "replies"

    @property
    def socket(self) -> Path:
        """Where the daemon listens."""
        return self.runtime_dir / "plgd.sock"

    @property
    def lock(self) -> Path:
        """Held locked by the daemon for life; its text is the daemon's process id."""
        return self.runtime_dir / "plgd.lock"

    @property
    def journal_dir(self) -> Path:
        """Edits of several files at once that are being written."""
        return self.runtime_dir / "journal"

    @property
    def log(self) -> Path:
        """The daemon's log."""
        return self.runtime_dir / "plgd.log"

    @property
    def http_token(self) -> Path:
        """What clients of the HTTP endpoint have to show, where the configuration does not say it."""
        return self.runtime_dir / "http-token"

    def read_pid(self) -> int | None:
        """Return the process id of the daemon that runs, or of one that was killed; `None` when there is none."""
        try:
            text = self.lock.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            return None  # it is only wanted for messages
        return int(text) if text.isdecimal() else None

    def check_socket(self) -> Path:
        """Return the socket's path.

        Raises:
            SocketPathTooLong: the operating system could not bind it.
        """
        if len(os.fsencode(self.socket)) > SOCKET_PATH_LIMIT:
            raise SocketPathTooLong.of(str(self.socket), SOCKET_PATH_LIMIT)
        return self.socket


def private_folder(path: Path) -> Path:
    """Create a folder that only its owner may enter (0700). One that is there is checked and left as it is.

    Raises:
        StartFailed: it belongs to somebody else, or others may enter it.
        OSError: it cannot be created.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.geteuid():
        raise StartFailed.in_foreign_folder(str(path))
    if mode & 0o077:
        raise StartFailed.in_open_folder(str(path), mode)
    return path


def _chosen(variable: str) -> Path | None:
    value = os.environ.get(variable)
    if not value:
        return None
    try:
        return Path(value).expanduser().absolute()
    except (RuntimeError, OSError) as error:
        raise ConfigError(f"{variable} is {value!r}, which leads to no folder ({error}). Set it to another.") from error


def _home() -> Path:
    try:
        return Path.home().absolute()
    except (RuntimeError, OSError) as error:
        raise ConfigError("Your home folder is not known. Set HOME, or PLGD_HOME for plgd alone.") from error
