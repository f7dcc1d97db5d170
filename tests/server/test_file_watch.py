"""Files that no editor holds are read again when they change on disk, however they are saved."""

from __future__ import annotations

import shutil
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


def become_a_folder(path: Path) -> None:
    """Put a folder in the file's place."""
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("leave", [Path.unlink, lambda path: path.rename(path.with_name("b.py")), become_a_folder])
async def test_a_file_that_is_gone_is_forgotten(
    paths: Paths, machine: Machine, tmp_path: Path, leave: Callable[[Path], object]
) -> None:
    """What is kept of a file goes when the file does, deleted, moved or replaced; when it is back, it is read again."""
    path = tmp_path / "a.py"
    path.write_text(TEXT)
    async with serving(paths, machine, config=EAGER), wire(paths) as client:
        await result(client, "document/warm", path=str(path))
        leave(path)
        await warm_tokens(client, path, lambda n: n == 0)
        if path.is_dir():
            path.rmdir()
        path.write_text(TEXT)
        await warm_tokens(client, path, lambda n: n > len(TEXT))


@pytest.mark.parametrize("leave", [shutil.rmtree, lambda folder: folder.rename(folder.with_name("other"))])
async def test_a_folder_that_is_gone_is_forgotten(
    paths: Paths, machine: Machine, tmp_path: Path, leave: Callable[[Path], object]
) -> None:
    """What is kept of a file goes with its folder, deleted or moved; after an edit of a new one it is watched again."""
    path = tmp_path / "src" / "a.py"
    path.parent.mkdir()
    path.write_text(TEXT)
    async with serving(paths, machine, config=EAGER), wire(paths) as client:
        await result(client, "document/warm", path=str(path))
        leave(path.parent)
        await warm_tokens(client, path, lambda n: n == 0)
        path.parent.mkdir()
        path.write_text(TEXT)
        await result(client, "document/warm", path=str(path))
        path.write_text(TEXT * 2)
        await warm_tokens(client, path, lambda n: n > 2 * len(TEXT))


@pytest.mark.parametrize("is_above", [False, True])
async def test_a_folder_that_is_replaced_is_watched(
    paths: Paths, machine: Machine, tmp_path: Path, is_above: bool
) -> None:
    """When another folder takes the place of one, as a checkout does, its files become warm, and are watched.

    Of one further above nothing is heard; that is found out by the next edit.
    """
    path = tmp_path / "top" / "src" / "a.py"
    other = tmp_path / "new" / "src" / "a.py"
    for each, text in ((path, TEXT), (other, TEXT * 2)):
        each.parent.mkdir(parents=True)
        each.write_text(text)
    async with serving(paths, machine, config=EAGER), wire(paths) as client:
        await result(client, "document/warm", path=str(path))
        of = path.parent.parent if is_above else path.parent
        of.rename(tmp_path / "old")
        (tmp_path / "new" if is_above else other.parent).rename(of)
        if is_above:
            await result(client, "document/warm", path=str(path))
        await warm_tokens(client, path, lambda n: n > 2 * len(TEXT))
        path.write_text(TEXT * 3)
        await warm_tokens(client, path, lambda n: n > 3 * len(TEXT))


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
