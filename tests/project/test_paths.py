"""Where plgd keeps things."""

from __future__ import annotations

from pathlib import Path

import pytest

from plgd.errors import ConfigError
from plgd.paths import Paths

PLACES = ("PLGD_HOME", "PLGD_CONFIG_DIR", "PLGD_CACHE_DIR", "PLGD_RUNTIME_DIR")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin without any of the variables."""
    for variable in PLACES:
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("variable", ["PLGD_HOME", "PLGD_RUNTIME_DIR"])
def test_relative_folders_are_made_absolute(variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A relative folder is the one that the command sees; the daemon, in another folder, gets the same."""
    monkeypatch.setenv(variable, "here")
    monkeypatch.chdir(tmp_path)
    assert Paths.from_environment().runtime_dir.is_relative_to(tmp_path / "here")


@pytest.mark.parametrize("variable", PLACES)
def test_home_of_nobody_is_refused(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of a user that there is none of is refused with the variable's name."""
    monkeypatch.setenv(variable, "~nobody-of-this-name/plgd")
    with pytest.raises(ConfigError, match=rf"{variable} is '~nobody-of-this-name/plgd'"):
        Paths.from_environment()


def test_no_home_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home is told what to set; with `PLGD_HOME`, no home is needed."""

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ConfigError, match="Set HOME, or PLGD_HOME"):
        Paths.from_environment()
    monkeypatch.setenv("PLGD_HOME", "/somewhere")
    assert Path("/somewhere/run") == Paths.from_environment().runtime_dir
