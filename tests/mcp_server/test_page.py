"""The page about MCP and the server agree, and the server stays light."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.talking import near_agent
from plgd.paths import Paths

PAGE = (Path(__file__).parents[2] / "docs/agents/mcp.md").read_text(encoding="utf-8")
HEAVY = {
    "mlx",
    "mlx_lm",
    "transformers",
    "tokenizers",
    "numpy",
    "plgd.server",
    "plgd.engine",
    "plgd.edits",
    "plgd.http",
}


@pytest.mark.anyio
async def test_the_page_names_every_tool(paths: Paths, root: Path) -> None:
    """The table of the page has a row for each tool."""
    async with near_agent(paths, root) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
    assert tools == set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))


def test_the_server_loads_no_model_library() -> None:
    """An agent's server is a process beside the daemon: it loads neither a model library nor the daemon's own parts."""
    code = "import plgd_mcp.server, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set() == HEAVY & set(done.stdout.split())
