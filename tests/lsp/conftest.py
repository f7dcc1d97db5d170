"""Fixtures of the language server's tests."""

from __future__ import annotations

import pytest

__all__ = ("anyio_backend",)


@pytest.fixture
def anyio_backend() -> str:
    """The language server and its daemon run on asyncio."""
    return "asyncio"
