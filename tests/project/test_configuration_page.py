"""The configuration page and the code agree."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from plgd.config import Config

PAGE = Path(__file__).parents[2] / "docs/configuration.md"


def test_the_page_lists_every_key_with_its_default() -> None:
    """docs/configuration.md has one row for each key, with the default that holds."""
    rows = re.findall(r"^\| `(\w+)\.(\w+)` \| `(.*?)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    documented = {f"{section}.{key}": default.strip('"') for section, key, default in rows}
    settings = msgspec.to_builtins(Config())
    actual = {
        f"{section}.{key}": msgspec.json.encode(value).decode().strip('"')
        for section, keys in settings.items()
        for key, value in keys.items()
    }
    assert documented == actual
