"""Fixtures of the endpoint's tests: a daemon with a scripted model that answers over HTTP, and OpenAI's own client."""

from __future__ import annotations

import pytest

__all__ = ("anyio_backend",)


@pytest.fixture
def anyio_backend() -> str:
    """The daemon runs on asyncio."""
    return "asyncio"
