"""Fixtures of the language server's tests."""

from __future__ import annotations

import pytest

from plgd.launch import connect_running
from plgd.paths import Paths
from plgd.stream import Stream

__all__ = ("anyio_backend", "only_the_tests_daemon", "user")


@pytest.fixture
def anyio_backend() -> str:
    """The language server and its daemon run on asyncio."""
    return "asyncio"


@pytest.fixture(autouse=True)
def only_the_tests_daemon(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No daemon is started but by the test itself, unless the test has a user who may do so."""
    if "user" in request.fixturenames:
        return

    async def launch(paths: Paths) -> Stream:
        return connect_running(paths)

    monkeypatch.setattr("plgd.client.launch", launch)


@pytest.fixture
def user(paths: Paths) -> Paths:
    """A user whose daemon may be started by need; it is killed after the test."""
    return paths
