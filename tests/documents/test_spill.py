"""Spilled states: what memory lets go of comes back from disk, within a budget, and nothing there can do harm."""

from __future__ import annotations

import errno
import logging
import os
import shutil
from itertools import count
from pathlib import Path

import pytest

from doubles import HistoryTarget, KeptStates
from edits.crashes import Crash, watched_disk
from plgd.documents.spill import Spill, SpillCounts
from plgd.documents.warm import WarmStore
from replies import plain_reply
from session_replies import reference_reply

A, B = "a", "b"
PROMPT = [1, 2, 3, 0, 1, 2, 3, 0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where states go; not there yet."""
    return tmp_path / "cache" / "kv"


def kept(tokens: list[int]) -> KeptStates:
    """Make a state behind some tokens."""
    target = HistoryTarget()
    target.prefill([*tokens, 0])
    made = target.keep(len(tokens))
    assert made is not None
    return made


def files(folder: Path) -> list[Path]:
    """List what is in the folder, used longest ago first."""
    return sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)


def make_store(folder: Path, *, limit_bytes: int = 10_000, model_key: str = "m") -> WarmStore:
    """Make a store with room for one state of eight tokens, which spills the others."""
    seconds = count()
    store = WarmStore(lambda: float(next(seconds)))
    store.resize(1000)
    store.spill_to(Spill(folder, limit_bytes, model_key))
    return store


def use(store: WarmStore, label: str, prompt: list[int]) -> int:
    """Prefill a prompt as an edit does; return how much of it was warm."""
    target = HistoryTarget()
    with store.lend(label, target, prompt) as loan:
        if rest := prompt[loan.n_warm + 1 if loan.n_warm else 0 :]:
            target.prefill(rest)
        assert reference_reply(prompt, 5) == plain_reply(target, 5)
    return loan.n_warm


def test_what_goes_for_others_comes_back(folder: Path) -> None:
    """A state that had to go for another one is warm again with the next edit, and the reply is the cold one."""
    store = make_store(folder)
    assert [0, 0, 7, 7] == [use(store, label, PROMPT) for label in (A, B, A, B)]
    assert 0o700 == folder.stat().st_mode & 0o777


def test_what_was_unused_for_long_comes_back(folder: Path) -> None:
    """A state that left memory because nobody used it is warm again when somebody does."""
    store = make_store(folder)
    use(store, A, PROMPT)
    assert store.expire(100.0)
    assert (0, 7) == (store.counts.n_states, use(store, A, PROMPT))


def test_the_next_daemon_begins_warm(folder: Path) -> None:
    """What is let go at the end is there at the next start, for a change of the text, too."""
    store = make_store(folder)
    use(store, A, PROMPT)
    store.clear()
    store = make_store(folder)
    assert 5 == use(store, A, [*PROMPT[:5], 3, 3])


def test_idle_prefill_goes_on_from_disk(folder: Path) -> None:
    """A prefill that nobody asked for yet goes on where the daemon before left it."""
    store = make_store(folder)
    assert 4 == store.extend(A, HistoryTarget(), PROMPT, 3)
    store.clear()
    store = make_store(folder)
    store.recall(A, HistoryTarget())
    assert 3 == store.reach(A, PROMPT)
    assert 1 == store.extend(A, HistoryTarget(), PROMPT, 3)


def test_states_of_another_model_are_not_used(folder: Path) -> None:
    """With other weights, libraries or kinds of KV everything begins cold, and the first model's states stay."""
    store = make_store(folder)
    use(store, A, PROMPT)
    store.clear()
    store.spill_to(Spill(folder, 10_000, "another"))
    assert 0 == use(store, A, PROMPT)
    store.clear()
    store.spill_to(Spill(folder, 10_000, "m"))
    assert 7 == use(store, A, PROMPT)


def test_a_document_has_one_file(folder: Path) -> None:
    """A newer state takes the place of the older one; the same state is not written twice; a forgotten one goes."""
    spill = Spill(folder, 10_000, "m")
    spill.write("a", kept([1, 2]))
    spill.write("a", kept([1, 2, 3]))
    (written,) = files(folder)
    before = written.stat().st_ino
    os.utime(written, (0, 0))
    spill.write("a", kept([1, 2, 3]))
    assert (before, True) == (written.stat().st_ino, written.stat().st_mtime > 0)
    spill.forget("a")
    assert [] == files(folder)


def test_the_folder_stays_within_its_budget(folder: Path) -> None:
    """The states used longest ago go first; what is larger than the budget is not written."""
    one = kept([1] * 8)
    Spill(folder, 10_000, "m").write("probe", one)
    size = files(folder)[0].stat().st_size
    limit = 3 * size + one.n_bytes
    spill = Spill(folder, limit, "m")
    spill.forget("probe")
    for at, name in enumerate("abcde"):
        spill.write(name, one)
        os.utime(files(folder)[-1], (at, at))
        if name == "d":
            assert spill.read("a", HistoryTarget()) is not None  # and so it is the one that was used last
    found = {name for name in "abcde" if spill.read(name, HistoryTarget()) is not None}
    assert sum(path.stat().st_size for path in files(folder)) <= limit
    assert {"a", "e"} <= found
    assert "b" not in found
    Spill(folder, size, "m")
    assert len(files(folder)) <= 1
    spill.write("large", kept([1] * 10_000))
    assert spill.read("large", HistoryTarget()) is None


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff" * 100])
def test_damaged_files_go(folder: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """A file that was damaged or cut short is removed with a line in the log, and the edit begins cold."""
    store = make_store(folder)
    use(store, A, PROMPT)
    store.clear()
    (path,) = files(folder)
    path.write_bytes(damage)
    assert 0 == use(store, A, PROMPT)
    assert not path.exists()
    assert "holds no usable KV of a" in caplog.text


def test_the_folder_is_counted(folder: Path) -> None:
    """The counts say what is on disk, what came back, what could not be used and what could not be written."""
    spill = Spill(folder, 10_000, "m")
    assert SpillCounts(limit_bytes=10_000) == spill.counts
    spill.write("a", kept([1, 2]))
    spill.write("b", kept([1, 2, 3]))
    spill.write("c", FullDisk([1], [], set(), trims_far=True))
    n_bytes = sum(path.stat().st_size for path in files(folder))
    assert SpillCounts(n_bytes, 10_000, n_states=2, n_unwritten=1) == spill.counts
    assert spill.read("a", HistoryTarget()) is not None
    files(folder)[0].write_bytes(b"{")
    assert spill.read("b", HistoryTarget()) is None
    assert (1, 1, 1) == (spill.counts.n_states, spill.counts.n_hits, spill.counts.n_refused)
    again = Spill(folder, 10_000, "m", spill.counts)
    again.forget("a")
    assert SpillCounts(0, 10_000, n_hits=1, n_refused=1, n_unwritten=1) == again.counts


def test_the_store_tells_of_the_disk(folder: Path) -> None:
    """What happened on disk is in the store's counts, and stays there when the model goes."""
    store = make_store(folder)
    for label in (A, B, A):
        use(store, label, PROMPT)
    assert (2, 1, 10_000) == (store.counts.spill.n_states, store.counts.spill.n_hits, store.counts.spill.limit_bytes)
    store.clear()
    store.spill_to(None)
    assert 1 == store.counts.spill.n_hits


def test_foreign_files_stay(folder: Path) -> None:
    """What plgd did not write stays, however full the folder is; what a daemon left that was killed goes."""
    store = make_store(folder, limit_bytes=1)
    unfinished = folder / f"new-{'0' * 24}-{'1' * 24}.safetensors"
    foreign = [folder / name for name in ("notes.txt", "model.safetensors", "new-thing", "0" * 24)]
    for path in (*foreign, unfinished):
        path.write_bytes(b"x" * 1000)
    link = folder / f"{'0' * 24}-{'1' * 24}.safetensors"
    link.symlink_to(foreign[0])
    store = make_store(folder, limit_bytes=1)
    use(store, A, PROMPT)
    store.forget("a")
    assert {*foreign, link} == set(folder.iterdir())


class FullDisk(KeptStates):
    """A state that the disk has no room for."""

    def save(self, path: Path, model_key: str) -> None:
        path.write_text(model_key)
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_no_error(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """When the disk is full, the log says so, nothing half written stays, and an older state is not lost."""
    spill = Spill(folder, 10_000, "m")
    spill.write("a", kept([1, 2]))
    spill.write("a", FullDisk([1, 2, 3], [], set(), trims_far=True))
    assert "the KV of a was not written" in caplog.text
    found = spill.read("a", HistoryTarget())
    assert found is not None
    assert ([1, 2], 1) == (found.tokens, len(files(folder)))


@pytest.mark.parametrize("fault", ["a file", "open to others"])
def test_an_unusable_folder_is_no_error(folder: Path, fault: str, caplog: pytest.LogCaptureFixture) -> None:
    """Where there is no private folder nothing is written, the log says so, and edits go on without."""
    caplog.set_level(logging.WARNING)
    folder.parent.mkdir()
    if fault == "a file":
        folder.write_text("in the way")
    elif fault == "open to others":
        folder.mkdir()
        folder.chmod(0o755)
    store = make_store(folder)
    assert [0, 0, 0] == [use(store, label, PROMPT) for label in (A, B, A)]
    assert str(folder) in caplog.text or "was not written" in caplog.text
    if fault == "open to others":
        assert [] == files(folder)


@pytest.mark.parametrize("in_the_way", ["nothing", "a file"])
def test_a_folder_that_was_removed_comes_back(folder: Path, in_the_way: str, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever empties the cache under a daemon loses what was in it and no more."""
    spill = Spill(folder, 10_000, "m")
    spill.write("a", kept([1, 2]))
    shutil.rmtree(folder)
    if in_the_way == "a file":
        folder.write_text("in the way")
        spill.write("a", kept([1, 2]))
        assert "the KV of a was not written" in caplog.text
        folder.unlink()
    assert spill.read("a", HistoryTarget()) is None
    spill.write("a", kept([1, 2]))
    assert spill.read("a", HistoryTarget()) is not None


def test_what_is_no_file_is_not_taken_for_a_state(folder: Path) -> None:
    """A link in the place of a document's file is replaced by the file, and what it leads to stays."""
    spill = Spill(folder, 10_000, "m")
    spill.write("a", kept([1, 2]))
    (path,) = files(folder)
    other = folder.parent / "other"
    other.write_text("mine")
    path.unlink()
    path.symlink_to(other)
    spill.write("a", kept([1, 2]))
    assert spill.read("a", HistoryTarget()) is not None
    assert "mine" == other.read_text()


class DyingDaemon(KeptStates):
    """A state in the middle of whose writing the daemon is killed."""

    def save(self, path: Path, model_key: str) -> None:
        super().save(path, model_key)
        os.truncate(path, path.stat().st_size // 2)
        raise Crash


@pytest.mark.parametrize("dies_at", ["in the file", 0, 1, 2, 3])
def test_a_daemon_that_is_killed_leaves_no_harm(
    folder: Path, dies_at: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever a daemon is killed while it writes a state, the next one finds the state before or the new one."""
    spill = Spill(folder, 10_000, "m")
    spill.write("a", kept([1, 2]))
    newer = kept([1, 2, 3])
    with watched_disk(monkeypatch, dies_at=dies_at if isinstance(dies_at, int) else 0) as disk:
        if isinstance(dies_at, str):
            newer = DyingDaemon(newer.tokens, newer.states, newer.points, trims_far=True)
        try:
            spill.write("a", newer)
        except Crash:
            pass
        else:
            assert (3, ["replace", "unlink", "unlink"]) == (dies_at, [name for name, _ in disk.calls])
    again = Spill(folder, 10_000, "m")
    found = again.read("a", HistoryTarget())
    assert found is not None
    assert found.tokens in {"in the file": [[1, 2]], 0: [[1, 2]], 3: [[1, 2, 3]]}.get(dies_at, [[1, 2], [1, 2, 3]])
    assert 0 == again.counts.n_refused
    again.write("a", kept([1, 2, 3, 0]))
    assert 1 == len(files(folder))


def test_a_clock_that_was_set_back_costs_no_state(folder: Path) -> None:
    """Files from the future count as used last; a state that is written among them is there, and the budget holds."""
    one = kept([1] * 8)
    Spill(folder, 10_000, "m").write("a", one)
    size = files(folder)[0].stat().st_size
    spill = Spill(folder, 3 * size, "m")
    for name in "abc":
        spill.write(name, one)
    for path in files(folder):
        os.utime(path, (1 << 33, 1 << 33))
    spill.write("d", one)
    assert spill.read("d", HistoryTarget()) is not None
    assert sum(path.stat().st_size for path in files(folder)) <= 3 * size
