"""An agent: the official MCP client, and `plgd mcp` as its server, against a daemon with a scripted model."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from mcp import Client, StdioServerParameters
from mcp.client.context import ClientRequestContext
from mcp_types import CallToolResult, ListRootsResult, Root, TextContent
from pydantic import FileUrl

from plgd.paths import Paths
from plgd_mcp.roots import Roots
from plgd_mcp.server import make_server
from scripted_model import ScriptedModel
from server.conversation import serving
from server.machine import PATIENCE_S, Machine

__all__ = ("NEW", "SOURCE", "agent", "answer", "near_agent", "refusal", "shouting")

SOURCE = "one\ntwo\nthree\n"
NEW = "ONE\ntwo\nTHREE\n"


@asynccontextmanager
async def agent(paths: Paths, root: Path) -> AsyncIterator[Client]:
    """Start `plgd mcp` in a process of its own, with a folder that may be reached, and connect to it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "plgd_cli", "mcp", "--root", str(root)],
        env={"PLGD_HOME": str(paths.runtime_dir.parent)},
    )
    async with Client(server, read_timeout_seconds=PATIENCE_S) as client:
        yield client


@asynccontextmanager
async def near_agent(
    paths: Paths,
    root: Path | None = None,
    *,
    client_roots: list[Path] | None = None,
    mode: Literal["auto", "legacy"] = "auto",
) -> AsyncIterator[Client]:
    """Connect to a server in this process, which starts faster.

    Args:
        paths: where the daemon is.
        root: what the command line names.
        client_roots: what the client names as its roots; None for a client that has none.
        mode: of the protocol.
    """

    async def list_roots(context: ClientRequestContext) -> ListRootsResult:
        del context
        return ListRootsResult(roots=[Root(uri=FileUrl(folder.as_uri())) for folder in client_roots or ()])

    async with Client(
        make_server(paths, None if root is None else Roots.of([root])),
        mode=mode,
        read_timeout_seconds=PATIENCE_S,
        list_roots_callback=None if client_roots is None else list_roots,
    ) as client:
        yield client


@asynccontextmanager
async def shouting(paths: Paths, model: ScriptedModel | None = None) -> AsyncIterator[None]:
    """Serve a model that shouts the odd lines."""
    async with serving(paths, Machine(m=model or ScriptedModel(f"{NEW}```\n"))):
        yield


def answer(result: CallToolResult) -> dict[str, Any]:
    """Return the structured answer of a tool that succeeded."""
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


def refusal(result: CallToolResult) -> str:
    """Return what a tool that failed says to the agent."""
    assert result.is_error
    content = result.content[0]
    assert isinstance(content, TextContent)
    return content.text
