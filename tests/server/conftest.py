"""Fixtures of the server's tests."""

from __future__ import annotations

import pytest

__all__ = ("anyio_backend",)


@pytest.fixture
def anyio_backend() -> str:
    """The daemon runs on asyncio."""
    return "asyncio"
