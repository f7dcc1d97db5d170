"""Daemons that are killed in the middle of edits of several files leave all files old or all new."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path

import msgspec
import pytest

from end_to_end.mortal_daemons import FILES
from plgd.client import connect
from plgd.errors import ConnectionLost
from plgd.paths import Paths
from plgd.protocol.edit_many import EditManyParams
from plgd.protocol.edits import EditMode, EditParams, EditProgress, Stage
from plgd.protocol.methods import EDIT_MANY
from server.files import names_in, put, text_of

pytestmark = pytest.mark.anyio

TESTS = Path(__file__).parents[1]
# Every second call of a transaction of these files, and a few more: then it is killed when all is over. At -1, this
# process kills the daemon when it hears that files are written. Then the other calls. Of three renames in a row, every
# second call meets one of the two moments between them.
MOMENTS = (*range(0, 40, 2), *[-1] * 4, *range(1, 40, 2), *[-1] * 4)
# Daemons to kill: by default half of the moments.
N_KILLED = int(os.environ.get("PLGD_TEST_KILLS", "0")) or len(MOMENTS) // 2
OLD = {name: old for name, (old, _) in FILES.items()}
NEW = {name: new for name, (_, new) in FILES.items()}


@pytest.fixture
def anyio_backend() -> str:
    """The daemon runs on asyncio."""
    return "asyncio"


class Nursery:
    """Starts daemons that die, one after the other, below a folder with three files.

    Attributes:
        pid: the process of the daemon that was started last.
    """

    def __init__(self, folder: Path, process: subprocess.Popen[str]) -> None:
        self.pid = 0
        self._folder = folder
        self._process = process
        self._alive = False

    def start(self, dies_at: int) -> None:
        """Start a daemon; returns when it listens."""
        self.wait_gone()
        assert self._process.stdin is not None
        self._process.stdin.write(f"{dies_at}\n")
        self._process.stdin.flush()
        word, pid = self._read().split()
        assert word == "ready"
        self.pid, self._alive = int(pid), True

    def kill(self) -> None:
        """Kill the daemon."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait_gone(self) -> None:
        """Wait until the daemon is gone, if there is one."""
        if self._alive:
            assert self._read() == "gone"
            self._alive = False

    @property
    def texts(self) -> dict[str, str]:
        """The files' texts."""
        return {name: text_of(self._folder / name) for name in FILES}

    def reset(self) -> None:
        """Give the files their old texts."""
        for name, text in OLD.items():
            put(self._folder / name, text)

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


@pytest.fixture
def nursery(paths: Paths, tmp_path: Path) -> Iterator[Nursery]:
    """Three files, and daemons that die."""
    del paths  # they are in the environment
    process = subprocess.Popen(
        [sys.executable, str(TESTS / "end_to_end/mortal_daemons.py")],
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        nursery = Nursery(tmp_path, process)
        nursery.reset()
        try:
            yield nursery
        finally:
            if nursery.pid:
                nursery.kill()
            process.kill()


async def test_daemons_that_are_killed_at_any_moment(nursery: Nursery, paths: Paths, tmp_path: Path) -> None:
    """When the next daemon answers, all files are old or new, the journal is empty, and nothing lies beside them."""
    moments = list(islice(cycle(MOMENTS), N_KILLED))
    random.Random(20261130).shuffle(moments)  # noqa: S311  # no secrets
    outcomes: Counter[bool] = Counter()
    torn = 0
    for moment in moments:
        nursery.start(moment)
        _check(nursery, paths, tmp_path)
        outcomes[nursery.texts == NEW] += 1
        nursery.reset()
        await _edit_until_it_dies(nursery, paths, tmp_path, kill_when_applied=moment < 0)
        nursery.wait_gone()
        assert all(text in FILES[name] for name, text in nursery.texts.items())
        torn += nursery.texts not in (OLD, NEW)
    nursery.start(-1)
    _check(nursery, paths, tmp_path)
    # Daemons died before, among and after the renames.
    assert min(outcomes[False], outcomes[True], torn) > 0, (outcomes, torn)


def _check(nursery: Nursery, paths: Paths, folder: Path) -> None:
    assert nursery.texts in (OLD, NEW)
    assert names_in(folder) == sorted(FILES)
    assert not paths.journal_dir.exists() or names_in(paths.journal_dir) == []


async def _edit_until_it_dies(nursery: Nursery, paths: Paths, folder: Path, *, kill_when_applied: bool) -> None:
    """Ask for an edit of all files; the daemon dies before it can answer, or is killed right after."""

    def watch(note: msgspec.Struct) -> None:
        if kill_when_applied and isinstance(note, EditProgress) and note.stage is Stage.APPLY:
            nursery.kill()

    edits = [EditParams(instruction="Count up.", path=str(folder / name), mode=EditMode.APPLY) for name in FILES]
    params = EditManyParams(files=tuple(edits), all_or_nothing=True)
    with suppress(ConnectionLost):
        async with connect(paths, client="test", start=False) as client:
            result = await client.call(EDIT_MANY, params, watch)
            assert result.complete
            assert nursery.texts == NEW
    nursery.kill()
