"""The model that edits use by default, remembered between runs."""

from __future__ import annotations

import pytest

from plgd.errors import ConfigError
from plgd.models.selection import FILE, read_selection, write_selection
from plgd.paths import Paths


def test_a_choice_is_remembered(paths: Paths) -> None:
    """The name that was chosen last is read again, whatever is in it."""
    assert read_selection(paths) is None
    for name in ("builtin", 'my "own" \\ model'):
        write_selection(paths, name)
        assert name == read_selection(paths)


@pytest.mark.parametrize("content", ["name = ", "name = 3", "name = ''", "other = 'x'", "name = " + "[" * 100_000])
def test_a_damaged_choice_comes_with_a_remedy(content: str, paths: Paths) -> None:
    """A file that somebody has spoilt, however deeply, is told together with what puts it right."""
    paths.config_dir.mkdir(parents=True, exist_ok=True)
    (paths.config_dir / FILE).write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match="plgd model use NAME"):
        read_selection(paths)
