"""Fixtures that every part's tests share: a user's folders of their own, and the built-in model."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from plgd.engine.mlx.gguf import convert_gguf
from plgd.models.pull import pull
from plgd.paths import Paths

__all__ = ("builtin_model_dir", "paths")

# On a busy machine everything is slow: that is no finding about the code.
settings.register_profile("plgd", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("plgd")


@pytest.fixture
def paths(monkeypatch: pytest.MonkeyPatch) -> Iterator[Paths]:
    """A user's folders, empty, below a short path (sockets allow about 100 bytes), removed afterwards.

    A daemon of its own process that still runs there then, started by need or forgotten, is killed.
    """
    root = Path(tempfile.mkdtemp(prefix="plgd-"))
    for variable in ("PLGD_CONFIG_DIR", "PLGD_CACHE_DIR", "PLGD_RUNTIME_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PLGD_HOME", str(root))
    found = Paths.from_environment()
    yield found
    if found.lock.exists():
        _kill_daemon(found.lock)
    shutil.rmtree(root)


def _kill_daemon(path: Path) -> None:
    with path.open() as lock:
        number = ""
        while not number:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # Held, so the daemon that the file names is alive; by itself the number may be anybody's by now. One
                # that has just begun has not written it yet.
                lock.seek(0)
                number = lock.read()
            else:
                return
        if int(number) != os.getpid():
            os.kill(int(number), signal.SIGKILL)
            fcntl.flock(lock, fcntl.LOCK_EX)  # it is gone, and writes nothing into a folder that is being removed


@pytest.fixture(scope="session")
def builtin_model_dir() -> Path:
    """The built-in model's folder, without the adapter; fetched on first use and kept between test runs.

    It lies in `PLGD_TEST_CACHE`, by default a folder of this user below the system's temporary folder.
    """
    default = Path(tempfile.gettempdir()) / f"plgd-test-cache-{os.getuid()}"
    root = Path(os.environ.get("PLGD_TEST_CACHE") or default)
    cache = Paths(config_dir=root / "config", cache_dir=root / "cache", runtime_dir=root / "run")
    return pull("builtin", cache, convert=convert_gguf)
