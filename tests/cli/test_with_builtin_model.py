"""The command, the daemon and the built-in model: an edit from the shell to the disk."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.command import PLGD, bounded, plgd

pytestmark = pytest.mark.builtin

SOURCE = """\
def mean(values):
    total = 0
    for value in values:
        total += value
    return total / len(values)
"""
RENAMED = SOURCE.replace("total", "running")
TOTAL = """\
def total(rows):
    result = 0
    for row in rows:
        result += float(row["amount"])
    return result
"""
PAID_TOTAL = """\
def total(rows):
    result = 0
    for row in rows:
        if row["paid"]:
            result += float(row["amount"])
    return result
"""
INSTRUCTION = "Rename the variable total to running."


@pytest.fixture(scope="module")
def warm_daemon(builtin_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A daemon of these tests' own, with the built-in model on the machine."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLGD_HOME", str(home))
        patch.setenv("PLGD_CACHE_DIR", str(builtin_model_dir.parents[1]))
        yield
        plgd("stop", "--now")


@pytest.fixture
def mean_py(warm_daemon: None, tmp_path: Path) -> Path:
    """A small file to edit, with CRLF endings and without a final one."""
    assert warm_daemon is None
    path = tmp_path / "mean.py"
    path.write_bytes(SOURCE.removesuffix("\n").replace("\n", "\r\n").encode())
    return path


def test_edit_is_proposed_then_written(mean_py: Path) -> None:
    """An edit shows its diff first; with `--write` it is in the file, every other byte as it was."""
    before = mean_py.read_bytes()
    proposed = plgd("edit", "mean.py", "-i", INSTRUCTION, cwd=mean_py.parent)
    assert proposed.returncode == 0, proposed.stderr
    assert b"-    total = 0\r\n" in proposed.stdout
    assert b"+    running = 0\r\n" in proposed.stdout
    summary = rb"[0-9]+ tokens in [0-9.]+ s, [0-9]+ drafted and accepted, first token [0-9.]+ s"
    assert re.search(summary + rb"( \(model loaded in [0-9.]+ s\))?\n", proposed.stderr)
    assert before == mean_py.read_bytes()
    written = plgd("edit", "mean.py", "-i", INSTRUCTION, "--write", cwd=mean_py.parent)
    assert written.returncode == 0, written.stderr
    assert before.replace(b"total", b"running") == mean_py.read_bytes()


def test_a_sketch_is_merged(warm_daemon: None, tmp_path: Path) -> None:
    """A sketch of a function changes that function and nothing else."""
    assert warm_daemon is None
    file, sketch = tmp_path / "orders.py", tmp_path / "sketch.py"
    file.write_text(f"import csv\n\n\n{TOTAL}")
    sketch.write_text(PAID_TOTAL)
    done = plgd("edit", str(file), "--sketch", str(sketch), "--write")
    assert (0, f"import csv\n\n\n{PAID_TOTAL}") == (done.returncode, file.read_text()), done.stderr
    assert b"of the sketch" not in done.stderr


@pytest.mark.parametrize("sketch", ["TIMEOUT = 30\n# ... existing code ...\n", f"# ...\n\n\n{PAID_TOTAL}\n# ...\n"])
def test_a_sketch_that_the_model_cannot_merge_loses_nothing(sketch: str, warm_daemon: None, tmp_path: Path) -> None:
    """What a sketch's markers keep is there afterwards, and what the file lacks of the sketch is told."""
    assert warm_daemon is None
    file = tmp_path / "orders.py"
    before = f"TIMEOUT = 10\n\n\n{TOTAL}\n\ndef main():\n    print(total([]))\n"
    file.write_text(before)
    (tmp_path / "sketch.py").write_text(sketch)
    done = plgd("edit", str(file), "--sketch", str(tmp_path / "sketch.py"), "--write")
    after = file.read_text()
    kept = [line for line in before.splitlines() if "TIMEOUT" not in line and "+=" not in line]
    assert [] == [line for line in kept if line not in after.splitlines()], done.stderr
    shown = [line for line in sketch.splitlines() if "..." not in line]
    assert (
        all(line in after.splitlines() for line in shown)
        or b"sketch" in done.stderr
        or (4, before)
        == (
            done.returncode,
            after,
        )
    ), done.stderr


@pytest.mark.usefixtures("warm_daemon")
def test_edit_as_a_filter() -> None:
    """The same edit works from standard input to standard output."""
    done = plgd("edit", "-", "-i", INSTRUCTION, "--name", "mean.py", stdin=SOURCE.encode())
    assert (0, RENAMED.encode()) == (done.returncode, done.stdout), done.stderr


def test_reply_that_is_too_long_is_truncated(mean_py: Path) -> None:
    """A reply that does not end within `--max-tokens` is never applied."""
    before = mean_py.read_bytes()
    done = plgd("edit", str(mean_py), "-i", INSTRUCTION, "--write", "--max-tokens", "3")
    assert (4, before) == (done.returncode, mean_py.read_bytes()), done.stderr


@contextmanager
def writing(path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start an edit on a terminal and go on when the terminal shows that the reply is being written.

    Yields:
        The process and its terminal, to read from.
    """
    path.write_text("\n".join(SOURCE.replace("mean", f"mean_{n}") for n in range(12)), encoding="utf-8")
    master, slave = pty.openpty()
    command = [*PLGD, "edit", str(path), "-i", INSTRUCTION, "--write"]
    with (
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, process_group=0) as process,
        bounded(process),
    ):
        os.close(slave)
        shows(master, b"writing")
        yield process, master
    os.close(master)


def shows(master: int, expected: bytes) -> None:
    """Read from a terminal until it shows something."""
    shown = b""
    while expected not in shown:
        shown += os.read(master, 65536)


def daemon_pid() -> int:
    """Ask which process the daemon is."""
    return int(json.loads(plgd("status", "--json").stdout)["pid"])


def test_interrupted_edit_leaves_all_as_it_was(mean_py: Path) -> None:
    """Ctrl-C while the reply is being written: the file is untouched, the daemon goes on and is free again."""
    with writing(mean_py) as (process, _):
        before, pid = mean_py.read_bytes(), daemon_pid()
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait() == 130
    assert before == mean_py.read_bytes()
    next_edit = plgd("edit", "-", "-i", INSTRUCTION, "--max-tokens", "1", stdin=SOURCE.encode())
    assert (4, pid) == (next_edit.returncode, daemon_pid())


def test_killed_daemon_leaves_the_file_as_it_was(mean_py: Path) -> None:
    """A daemon that is killed in mid-edit costs the edit and nothing else; the next one starts another."""
    with writing(mean_py) as (process, master):
        before = mean_py.read_bytes()
        os.kill(daemon_pid(), signal.SIGKILL)
        shows(master, b"went away before it answered; see `plgd logs`.")
        assert process.wait() == 1
    assert before == mean_py.read_bytes()
    assert plgd("start").returncode == 0
