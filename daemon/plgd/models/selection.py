"""Remembers which model edits use by default: the choice of `plgd model use`."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path
from typing import Final

from plgd.errors import ConfigError
from plgd.paths import Paths

__all__ = ("read_selection", "write_selection")

FILE: Final = "selected-model.toml"


def read_selection(paths: Paths) -> str | None:
    """Return the remembered name; None when nothing was chosen.

    Raises:
        ConfigError: the file cannot be read.
    """
    path = paths.config_dir / FILE
    try:
        name = tomllib.loads(path.read_text(encoding="utf-8")).get("name")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}. Choose a model again with: plgd model use NAME") from error
    if not isinstance(name, str) or not name:
        raise ConfigError(f"{path}: `name` is missing. Choose a model again with: plgd model use NAME")
    return name


def write_selection(paths: Paths, name: str) -> None:
    """Remember a name, in place of any earlier one."""
    paths.config_dir.mkdir(parents=True, exist_ok=True)
    # A JSON string is a TOML string.
    text = f"# Written by `plgd model use`.\nname = {json.dumps(name, ensure_ascii=False)}\n"
    with tempfile.NamedTemporaryFile("w", dir=paths.config_dir, delete=False, encoding="utf-8") as stream:
        stream.write(text)
    Path(stream.name).replace(paths.config_dir / FILE)
