"""The server: one agent on standard input and output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import anyio
from mcp.server import MCPServer

from plgd.paths import Paths
from plgd.version import __version__
from plgd_mcp.roots import Roots
from plgd_mcp.state import State, make_lifespan
from plgd_mcp.tools import add_tools

__all__ = ("make_server", "serve")

_INSTRUCTIONS: Final = (
    "Edits files with a language model on this machine, several times faster than writing them out. "
    "Only an answer with the status `applied` means that the file was written."
)


def make_server(paths: Paths, roots: Roots | None) -> MCPServer[State]:
    """Make a server.

    Args:
        paths: where the daemon is; it is started when none runs.
        roots: the folders that the agent may reach; None leaves them to the client, and without one that names some
            they are the working directory.
    """
    server: MCPServer[State] = MCPServer(
        "plgd",
        instructions=_INSTRUCTIONS,
        version=__version__,
        log_level="WARNING",
        lifespan=make_lifespan(paths, roots),
    )
    add_tools(server)
    return server


def serve(folders: Sequence[str]) -> None:
    """Serve on standard input and output until the input ends.

    Args:
        folders: that the command line names; none leaves them to the client.
    """
    server = make_server(Paths.from_environment(), Roots.of(folders) if folders else None)
    anyio.run(server.run_stdio_async)
