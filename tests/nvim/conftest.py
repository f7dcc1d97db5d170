"""Fixtures of the Neovim plug-in's tests."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nvim.editor import Editor
from nvim.talking import ListeningTalker, daemon
from plgd.paths import Paths

__all__ = ("bare", "desk", "editor", "own_editor", "talker")


@dataclass(frozen=True)
class Desk:
    """A Neovim whose plug-in knows the language server, and the model of words behind it."""

    editor: Editor
    talker: ListeningTalker


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One Neovim, language server and daemon for the tests of a module: each start takes a second."""
    # Sockets allow about 100 bytes.
    root = Path(tempfile.mkdtemp(prefix="plgd-"))
    talker = ListeningTalker()
    with pytest.MonkeyPatch.context() as patch:
        for variable in ("PLGD_CONFIG_DIR", "PLGD_CACHE_DIR", "PLGD_RUNTIME_DIR"):
            patch.delenv(variable, raising=False)
        patch.setenv("PLGD_HOME", str(root))
        home = tmp_path_factory.mktemp("desk") / "neovim"
        with daemon(Paths.from_environment(), talker), Editor.running(home) as editor:
            yield Desk(editor, talker)
    shutil.rmtree(root)


@pytest.fixture
def talker(desk: Desk) -> Iterator[ListeningTalker]:
    """The model of words; it has heard nothing yet and answers at once."""
    desk.talker.tokenizer.heard.clear()
    yield desk.talker
    desk.talker.gate.open()


@pytest.fixture
def editor(desk: Desk, tmp_path: Path) -> Editor:
    """The module's Neovim, with nothing open, in an empty folder."""
    desk.editor.start_afresh(tmp_path)
    return desk.editor


@pytest.fixture
def bare(paths: Paths, tmp_path: Path) -> Iterator[Editor]:
    """A Neovim of its own, with the plug-in, which nothing is set for."""
    del paths  # what Neovim starts finds them in the environment
    with Editor.running(tmp_path / "neovim") as running:
        yield running


@pytest.fixture
def own_editor(bare: Editor, tmp_path: Path) -> Editor:
    """A Neovim of its own, whose plug-in knows the language server, of a user whose daemon is the test's."""
    folder = tmp_path / "work"
    folder.mkdir()
    bare.start_afresh(folder)
    return bare
