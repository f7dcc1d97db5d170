"""Which folders an agent may reach."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Literal

import pytest
from mcp.server.mcpserver.exceptions import ToolError

from mcp_server.talking import answer, near_agent, refusal, shouting
from plgd.paths import Paths
from plgd_cli.main import main
from plgd_mcp.roots import Roots

pytestmark = pytest.mark.anyio

ASKED = {"instruction": "shout the odd lines", "apply": False}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_clients_roots_count(paths: Paths, root: Path, mode: Literal["auto", "legacy"]) -> None:
    """Without `--root` the client says which folders may be reached, in old and new versions of the protocol."""
    async with shouting(paths), near_agent(paths, client_roots=[root], mode=mode) as client:
        got = answer(await client.call_tool("edit_file", ASKED | {"path": str(root / "list.txt")}))
        said = refusal(await client.call_tool("edit_file", ASKED | {"path": str(root.parent / "secret.txt")}))
    assert "proposed" == got["status"]
    assert "outside the allowed folders" in said


async def test_the_command_line_goes_before_the_client(paths: Paths, root: Path) -> None:
    """A client cannot widen what the command line allows."""
    async with near_agent(paths, root, client_roots=[Path("/")]) as client:
        said = refusal(await client.call_tool("edit_file", ASKED | {"path": str(root.parent / "secret.txt")}))
    assert "outside the allowed folders" in said


async def test_the_working_directory_counts_where_nobody_says(
    paths: Paths, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that has no roots reaches the folder that the server was started in."""
    monkeypatch.chdir(root)
    async with shouting(paths), near_agent(paths) as client:
        assert "proposed" == answer(await client.call_tool("edit_file", ASKED | {"path": "list.txt"}))["status"]
        assert "outside" in refusal(await client.call_tool("edit_file", ASKED | {"path": "../secret.txt"}))


async def test_a_client_without_any_root_reaches_nothing(
    paths: Paths, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client that names no folder of its own is not given the working directory."""
    monkeypatch.chdir(root)
    async with near_agent(paths, client_roots=[]) as client:
        said = refusal(await client.call_tool("edit_file", ASKED | {"path": str(root / "list.txt")}))
    assert "(none)" in said


def test_roots_are_real_folders(root: Path) -> None:
    """A root that is a link allows what it leads to, and a file's name may begin like a root's."""
    link = root.parent / "link-to-root"
    link.symlink_to(root)
    roots = Roots.of([link])
    assert str(root / "list.txt") == roots.find("inner.txt") == roots.find(str(link / "list.txt"))
    assert str(root / "new.txt") == roots.find("new.txt")
    with pytest.raises(ToolError, match="outside"):
        roots.find(f"{root}-2/list.txt")


def test_a_relative_path_needs_a_single_root(root: Path) -> None:
    """With several roots, a relative path could mean several files."""
    with pytest.raises(ToolError, match="2 roots"):
        Roots.of([root, root.parent]).find("list.txt")


def test_roots_by_uri(tmp_path: Path) -> None:
    """Only folders of this machine are roots, and their names may have any character."""
    odd = tmp_path / "a b#c%20ü"
    odd.mkdir()
    uris = [odd.as_uri(), "https://example.org/x", "file://elsewhere/x", "file:///a%00b"]
    assert (Path(os.path.realpath(odd)),) == Roots.of_uris(uris).folders


def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """A link to a file whose name the protocol cannot carry is refused, not garbled."""
    (tmp_path / "link").symlink_to(os.fsdecode(b"\xff.txt"))
    with pytest.raises(ToolError, match="no path"):
        Roots.of([tmp_path]).find("link")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the SDK is missing, the message says how to get it."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert 2 == main(["mcp"])
    assert "extra `mcp`, in the clone of plgd: pip install -e '.[mcp]'" in capsys.readouterr().err
