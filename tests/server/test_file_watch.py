"""Files that no editor holds are read again when they change on disk, however they are saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from plgd.config import Config, WarmConfig
from plgd.paths import Paths
from scripted_model import ScriptedModel
from server.conversation import Wire, serving, wire
from server.machine import PATIENCE_S, Machine
from server.test_documents import result

pytestmark = pytest.mark.anyio

EAGER = Config(warm=WarmConfig(quiet_s=0.0))
TEXT = "x = 1\n" * 50


@pytest.fixture
def machine() -> Machine:
    """A machine with a model that prefills what it is given."""
    return Machine(m=ScriptedModel(""))


async def warm_tokens(client: Wire, path: Path, is_reached: Callable[[int], bool]) -> None:
    """Wait until the daemon says of a file that so many tokens are warm."""
    with anyio.fail_after(PATIENCE_S):
        while True:
            (document,) = (await result(client, "status"))["documents"]
            assert document["name"].endswith(path.name)
            if is_reached(document["warm_tokens"]):
                return


def save_in_place(path: Path, text: str) -> None:
    """Write the file itself."""
    path.write_text(text)


def save_by_renaming(path: Path, text: str) -> None:
    """Write a new file and rename it over the old one, as most editors do."""
    other = path.with_suffix(".tmp")
    other.write_text(text)
    other.replace(path)


def save_with_backup(path: Path, text: str) -> None:
    """Rename the old file away and write a new one."""
    path.rename(path.with_suffix(".bak"))
    path.write_text(text)


def save_read_only(path: Path, text: str) -> None:
    """Change the file and then its permissions."""
    path.write_text(text)
    path.chmod(0o400)


@pytest.mark.parametrize("save", [save_in_place, save_by_renaming, save_with_backup, save_read_only])
async def test_a_saved_file_becomes_warm_again(
    paths: Paths, machine: Machine, tmp_path: Path, save: Callable[[Path, str], None]
) -> None:
    """After a file that was made warm is saved by another program, its new text is warm without being asked for."""
    path = tmp_path / "a.py"
    path.write_text(TEXT)
    async with serving(paths, machine, config=EAGER), wire(paths) as client:
        made = await result(client, "document/warm", path=str(path))
        save(path, TEXT * 2)
        await warm_tokens(client, path, lambda n: n >= made["warm_tokens"] + len(TEXT))
        again = await result(client, "document/warm", path=str(path))
        assert again["head_tokens"] - 1 == again["cached_tokens"]


@pytest.mark.parametrize("leave", [Path.unlink, lambda path: path.rename(path.with_name("b.py"))])
async def test_a_file_that_is_gone_is_forgotten(
    paths: Paths, machine: Machine, tmp_path: Path, leave: Callable[[Path], object]
) -> None:
    """What is kept of a file goes when the file does, deleted or moved; when it is back, it is read again."""
    path = tmp_path / "a.py"
    path.write_text(TEXT)
    async with serving(paths, machine, config=EAGER), wire(paths) as client:
        await result(client, "document/warm", path=str(path))
        leave(path)
        await warm_tokens(client, path, lambda n: n == 0)
        path.write_text(TEXT)
        await warm_tokens(client, path, lambda n: n > len(TEXT))


async def test_an_editors_copy_is_not_disturbed(paths: Paths, machine: Machine, tmp_path: Path) -> None:
    """While an editor holds a file, what happens on disk makes nothing warm; the editor's text is."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    async with serving(paths, machine, config=EAGER), wire(paths) as client:
        await result(client, "document/warm", path=str(path))
        await result(client, "document/open", uri=path.as_uri(), text=TEXT)
        path.write_text(TEXT * 3)
        await warm_tokens(client, path, lambda n: n > len(TEXT))
        made = await result(client, "document/warm", path=str(path))
        assert len(TEXT) < made["cached_tokens"] < 2 * len(TEXT)
