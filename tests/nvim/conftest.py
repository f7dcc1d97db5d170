"""Fixtures of the Neovim plug-in's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nvim.editor import Editor
from nvim.talking import ListeningTalker, daemon
from plgd.paths import Paths

__all__ = ("bare", "editor", "talker")


@pytest.fixture
def bare(paths: Paths, tmp_path: Path) -> Iterator[Editor]:
    """A Neovim with the plug-in, which nothing is set for, of a user whose daemon is the test's."""
    del paths  # what Neovim starts finds them in the environment
    with Editor.running(tmp_path / "neovim") as running:
        yield running


@pytest.fixture
def talker(paths: Paths) -> Iterator[ListeningTalker]:
    """A model of words, in the daemon of this user."""
    talker = ListeningTalker()
    with daemon(paths, talker):
        yield talker


@pytest.fixture
def editor(bare: Editor, tmp_path: Path) -> Editor:
    """A Neovim whose plug-in knows the language server, in an empty folder."""
    bare.set_up(cmd=bare.server)
    folder = tmp_path / "work"
    folder.mkdir()
    bare.command(f"cd {folder}")
    return bare
