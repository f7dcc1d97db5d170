"""What all tools share: the daemon, and the folders that this agent may reach."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from mcp.server import MCPServer
from mcp.server.mcpserver import Context, ListRoots, Resolve
from mcp_types import ClientCapabilities, ListRootsResult, RootsCapability

from plgd.lasting_client import LastingClient, connect_lasting
from plgd.paths import Paths
from plgd_mcp.roots import Roots

__all__ = ("AskedRoots", "Call", "State", "ask_roots", "make_lifespan", "roots_of")


@dataclass(frozen=True, slots=True)
class State:
    """Attributes are the daemon, and the folders that the command line names; None leaves them to the client."""

    daemon: LastingClient
    roots: Roots | None


Call: TypeAlias = Context[State, Any]


def make_lifespan(
    paths: Paths, roots: Roots | None
) -> Callable[[MCPServer[State]], AbstractAsyncContextManager[State]]:
    """Make what holds the connection to the daemon for as long as the server runs; it is made at the first call.

    Args:
        paths: where the daemon is.
        roots: the folders that the command line names.
    """

    @asynccontextmanager
    async def lifespan(_server: MCPServer[State]) -> AsyncIterator[State]:
        async with connect_lasting(paths, client="plgd-mcp") as daemon:
            yield State(daemon, roots)

    return lifespan


async def ask_roots(ctx: Call) -> ListRootsResult | ListRoots | None:
    """Ask the client for its roots where the command line names none and the client has such."""
    request = ctx.request_context
    if request.lifespan_context.roots is not None:
        return None
    has_roots = request.session.check_client_capability(ClientCapabilities(roots=RootsCapability()))
    return ListRoots() if has_roots else None


AskedRoots: TypeAlias = Annotated[ListRootsResult | None, Resolve(ask_roots)]


def roots_of(ctx: Call, asked: ListRootsResult | None) -> Roots:
    """Return the folders that may be reached: the command line's, else the client's, else the working directory."""
    configured = ctx.request_context.lifespan_context.roots
    if configured is not None:
        return configured
    if asked is not None:
        return Roots.of_uris(str(root.uri) for root in asked.roots)
    return Roots.of([Path.cwd()])
