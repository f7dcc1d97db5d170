"""Fixtures of the server's tests."""

from __future__ import annotations

import pytest

from scripted_model import ScriptedModel
from server.machine import Machine

__all__ = ("anyio_backend", "machine")


@pytest.fixture
def anyio_backend() -> str:
    """The daemon runs on asyncio."""
    return "asyncio"


@pytest.fixture
def machine() -> Machine:
    """A machine with two models."""
    return Machine(m=ScriptedModel(""), n=ScriptedModel(""))
