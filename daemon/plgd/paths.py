"""Where plgd keeps things: one stable place per user, the same from every editor and shell.

The places do not depend on `XDG_RUNTIME_DIR` or `TMPDIR`: those differ between a login shell, an editor started
from a desktop and a service, and two of them would start two daemons.

| what | Linux | macOS | override |
|---|---|---|---|
| configuration | `~/.config/plgd` | `~/.config/plgd` | `PLGD_CONFIG_DIR` |
| models and other files that can be fetched again | `~/.cache/plgd` | `~/Library/Caches/plgd` | `PLGD_CACHE_DIR` |
| log, socket, lock | `~/.local/state/plgd` | `~/Library/Application Support/plgd` | `PLGD_RUNTIME_DIR` |

`PLGD_HOME` puts all three below one folder.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plgd.errors import SocketPathTooLong

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
        """Read the places from the environment; see the module's table."""
        home = Path.home()
        mac = sys.platform == "darwin"
        base = os.environ.get("PLGD_HOME")
        root = Path(base).expanduser() if base else None

        def place(variable: str, below_root: str, default: Path) -> Path:
            chosen = os.environ.get(variable)
            if chosen:
                return Path(chosen).expanduser()
            return root / below_root if root else default

        return cls(
            config_dir=place("PLGD_CONFIG_DIR", "config", home / ".config/plgd"),
            cache_dir=place("PLGD_CACHE_DIR", "cache", home / ("Library/Caches/plgd" if mac else ".cache/plgd")),
            runtime_dir=place(
                "PLGD_RUNTIME_DIR",
                "run",
                home / ("Library/Application Support/plgd" if mac else ".local/state/plgd"),
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
    def socket(self) -> Path:
        """Where the daemon listens."""
        return self.runtime_dir / "plgd.sock"

    @property
    def lock(self) -> Path:
        """Held locked by the daemon for life; its text is the daemon's process id."""
        return self.runtime_dir / "plgd.lock"

    @property
    def log(self) -> Path:
        """The daemon's log."""
        return self.runtime_dir / "plgd.log"

    def check_socket(self) -> Path:
        """Return the socket's path.

        Raises:
            SocketPathTooLong: the operating system could not bind it.
        """
        if len(os.fsencode(self.socket)) > SOCKET_PATH_LIMIT:
            raise SocketPathTooLong.of(str(self.socket), SOCKET_PATH_LIMIT)
        return self.socket


def private_folder(path: Path) -> Path:
    """Create a folder that only its owner may enter (0700), and make an existing one so."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.chmod(0o700)
    return path
