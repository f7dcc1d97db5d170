"""A daemon with a scripted model that answers over HTTP, and clients for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import openai

from plgd.config import Config, DaemonConfig, EngineConfig, HttpConfig
from plgd.engine.model import Model
from plgd.paths import Paths
from plgd.server.app import Daemon
from scripted_model import ScriptedModel
from server.conversation import serving
from server.machine import PATIENCE_S, Machine, Shelf

__all__ = ("REPLY", "TOKEN", "answering", "bare_client", "base_url", "openai_client")

TOKEN = "0123456789abcdef"
REPLY = "def total(items):\n    return sum(items)\n"


@asynccontextmanager
async def answering(
    paths: Paths,
    model: Model | None = None,
    *,
    http: HttpConfig | None = None,
    engine: EngineConfig | None = None,
    limits: DaemonConfig | None = None,
) -> AsyncIterator[Daemon]:
    """Serve, with the endpoint on a free port, until the block ends."""
    config = Config(
        http=http or HttpConfig(enabled=True, port=0, token=TOKEN),
        engine=engine or EngineConfig(),
        daemon=limits or DaemonConfig(),
    )
    async with serving(paths, Machine(m=model or ScriptedModel(REPLY)), Shelf("m"), config) as daemon:
        yield daemon


def base_url(daemon: Daemon) -> str:
    """Return where clients find the endpoint."""
    assert daemon.http is not None
    return f"http://127.0.0.1:{daemon.http.port}/v1"


def openai_client(daemon: Daemon, token: str = TOKEN) -> openai.AsyncOpenAI:
    """Make OpenAI's client; it never tries twice."""
    return openai.AsyncOpenAI(base_url=base_url(daemon), api_key=token, max_retries=0, timeout=PATIENCE_S)


def bare_client(daemon: Daemon, **headers: str) -> httpx2.AsyncClient:
    """Make a client that sends what it is told to."""
    return httpx2.AsyncClient(
        base_url=base_url(daemon), headers={"authorization": f"Bearer {TOKEN}"} | headers, timeout=PATIENCE_S
    )
