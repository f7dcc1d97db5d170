"""Asking pip where a wheel is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from plgd.errors import Cancelled, PullFailed
from plgd.models.index import URL_VARIABLE, Location, find_wheel
from plgd.models.steps import Pulling
from tiny import SOURCE, WHEEL
from web import FileServer

QUIET = Pulling("tiny", lambda *_: None, lambda: False)
WHEEL_PATH = f"/files/{SOURCE.wheel.name}"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FileServer]:
    """Run a package index with one wheel, and make it the only one that pip knows."""
    page = f'<!doctype html><a href="../..{WHEEL_PATH}">{SOURCE.wheel.name}</a>'.encode()
    with FileServer({"/simple/tiny-model/": page, WHEEL_PATH: WHEEL}) as running:
        monkeypatch.delenv(URL_VARIABLE, raising=False)
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip"))
        monkeypatch.setenv("PIP_INDEX_URL", f"{running.url}/simple")
        for variable in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_CERT", "PIP_PROXY", "PIP_CONSTRAINT"):
            monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv("PIP_RETRIES", "0")
        yield running


def test_pip_says_where_the_wheel_is(index: FileServer) -> None:
    """The index, mirror or proxy that the user's pip is set to is the one that counts; pip fetches no wheel for it."""
    assert find_wheel(SOURCE.requirement, QUIET) == Location(index.url + WHEEL_PATH)
    fetched = [asked for asked in index.asked if asked.path == WHEEL_PATH and asked.method == "GET"]
    assert all(asked.start > 0 for asked in fetched)


def test_settings_of_pip_count(index: FileServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Certificates and proxy that pip is set to are used for the download too."""
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[global]\nproxy = {index.url}\ncert = /global.pem\n[install]\ncert = /install.pem\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    assert find_wheel(SOURCE.requirement, QUIET) == Location(
        index.url + WHEEL_PATH, cert="/install.pem", proxy=index.url
    )
    monkeypatch.setenv("PIP_CERT", "/environment.pem")
    assert find_wheel(SOURCE.requirement, QUIET).cert == "/environment.pem"


def test_unknown_wheel(index: FileServer) -> None:
    """An index without the wheel is named as the reason, in pip's words."""
    with pytest.raises(PullFailed, match=r"No matching distribution found for other==1\.0"):
        find_wheel("other==1.0", QUIET)
    assert index.asked


def test_no_network(monkeypatch: pytest.MonkeyPatch, index: FileServer) -> None:
    """Without a network the pull says that the index cannot be reached, and why."""
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "1")
    with pytest.raises(PullFailed, match=r"the package index cannot be reached: .*Connection refused"):
        find_wheel(SOURCE.requirement, QUIET)
    assert index.asked == []


def test_url_takes_the_place_of_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """A URL in the environment is taken without asking pip."""
    monkeypatch.setenv(URL_VARIABLE, "https://mirror.example/tiny.whl")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert find_wheel(SOURCE.requirement, QUIET) == Location("https://mirror.example/tiny.whl")


def test_cancel_ends_pip(index: FileServer) -> None:
    """A cancelled pull does not wait for pip."""
    with pytest.raises(Cancelled):
        find_wheel(SOURCE.requirement, Pulling("tiny", lambda *_: None, lambda: True))
    assert not any(asked.path == WHEEL_PATH for asked in index.asked)
