"""A daemon of the measurement's own, beside the user's: his models and settings, folders that go away with it."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
import msgspec

from plgd.client import connect
from plgd.config import Config, DaemonConfig, HttpConfig
from plgd.errors import PlgdError
from plgd.launch import launch
from plgd.paths import Paths
from plgd.protocol.daemon import StopParams
from plgd.protocol.methods import STOP

__all__ = ("BENCH_CLIENT", "own_daemon", "settings_text")

BENCH_CLIENT: Final = "plgd-bench"
# Sections that decide how replies come about; the others are the defaults, so that runs can be compared.
_KEPT_SECTIONS: Final = ("model", "engine", "sampling", "edit", "warm")
# If this process is killed, nobody stops the daemon.
_ORPHANED_S: Final = 600.0
# A daemon that is told to stop ends between two steps; one that does not is killed.
_STOP_S: Final = 30.0
_LOOK_S: Final = 0.05


@asynccontextmanager
async def own_daemon(paths: Paths, config: Config) -> AsyncIterator[Paths]:
    """Start a daemon and stop it at the end of the block.

    Args:
        paths: the user's folders: models and step costs are taken from there.
        config: settings; those of limits, idling and HTTP are the defaults, but for how many edits share the model.

    Yields:
        The folders of the daemon.

    Raises:
        StartFailed: the daemon did not come up.
        OSError: there is no room for its folders.
    """
    root = Path(tempfile.mkdtemp(prefix="plgd-load-"))
    own = Paths(config_dir=root / "config", cache_dir=root / "cache", runtime_dir=root / "run")
    try:
        own.config_dir.mkdir()
        own.cache_dir.mkdir()
        own.config_file.write_text(settings_text(config), encoding="utf-8")
        for folder in (paths.models_dir, paths.step_costs_dir, paths.blas_links):
            folder.mkdir(parents=True, exist_ok=True)
            (own.cache_dir / folder.name).symlink_to(folder.absolute())
        with anyio.CancelScope(shield=True):  # half started, nobody would stop it
            (await launch(own)).close()
        pid = own.read_pid()
        try:
            yield own
        finally:
            with anyio.CancelScope(shield=True):
                await _stop(own, pid)
    finally:
        shutil.rmtree(root)


def settings_text(config: Config) -> str:
    """Write the settings that decide how replies come about as a configuration file."""
    limits = Config(
        **{name: getattr(config, name) for name in _KEPT_SECTIONS},
        daemon=DaemonConfig(running_limit=config.daemon.running_limit, exit_after_s=_ORPHANED_S),
        http=HttpConfig(),
    )
    lines = []
    for section, values in msgspec.to_builtins(limits).items():
        if section != "editor":
            # A JSON value of these types is one of TOML, too.
            pairs = (f"{key} = {msgspec.json.encode(value).decode()}" for key, value in values.items())
            lines += [f"[{section}]", *pairs]
    return "\n".join(lines) + "\n"


async def _stop(own: Paths, pid: int | None) -> None:
    with suppress(PlgdError):  # one that died has said why to whoever asked it last
        async with connect(own, client=BENCH_CLIENT, start=False) as client:
            with anyio.move_on_after(_STOP_S):
                await client.call(STOP, StopParams(drain=False))
    if pid is None:
        return
    with anyio.move_on_after(_STOP_S):
        while _lives(pid):  # noqa: ASYNC110  # nobody tells of the end of another process
            await anyio.sleep(_LOOK_S)
        return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
