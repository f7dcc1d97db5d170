"""`plgd bench --load` as a user runs it: a daemon's process of its own, on a small random model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from plgd.paths import Paths
from tiny_models import LLAMA, write_model

MODEL = {**LLAMA, "max_position_embeddings": 8192}
FEW = ("--quick", "--n-edits", "4", "--clients", "3", "--max-tokens", "12", "--seconds", "1", "--connections", "10")
FEW_CALLS = (*FEW, "--calls", "100", "--requests", "20")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder."""
    return write_model(tmp_path_factory.mktemp("model"), MODEL)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders are made: below a short path, since sockets allow about 100 bytes."""
    with tempfile.TemporaryDirectory(prefix="l-", dir="/tmp") as made:
        monkeypatch.setenv("TMPDIR", made)
        yield Path(made)


def command(*words: str | Path) -> list[str]:
    """The command line of the process that measures."""
    return [sys.executable, "-m", "plgd", "bench", "--load", *map(str, words)]


def test_everything_is_measured_on_a_daemon_that_goes_away(
    paths: Paths, model: Path, folder: Path, tmp_path: Path
) -> None:
    """One command measures every part; replies are those alone, nothing fails, and the daemon leaves no trace."""
    plot = tmp_path / "out.png"
    words = command("--model", model, *FEW_CALLS, "--json", "--plot", plot)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    load = json.loads(done.stdout)["load"]
    assert [1, 3] == [level["n_clients"] for level in load["levels"]]
    samenesses = [level["same"] for level in load["levels"]] + [load["open_loop"]["same"], load["interactive"]["same"]]
    assert all(same["n_identical"] == same["n_compared"] >= 4 for same in samenesses)
    assert all(not level["times"]["failures"] for level in load["levels"])
    assert load["levels"][1]["bound"] > 1
    assert ({}, 3) == (load["interactive"]["failures"], len(load["interactive"]["waits"]))
    assert (100, 0) == (load["calls"]["n_asked"], load["calls"]["n_failed"])
    assert 20 == load["memory"]["n_requests"]
    assert plot.stat().st_size
    assert [] == list(folder.glob("plgd-load-*"))
    assert not paths.socket.exists()


def test_a_measurement_that_is_ended_stops_its_daemon(paths: Paths, model: Path, folder: Path) -> None:  # noqa: ARG001
    """Told to end while it measures, the command ends its daemon and removes the daemon's folders."""
    with subprocess.Popen(
        command("--model", model, *FEW, "--parts", "calls", "--seconds", "600", "--connections", "5", "--calls", "5"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        while not list(folder.glob("plgd-load-*/run/plgd.sock")):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.1)
        pid = int(next(iter(folder.glob("plgd-load-*/run/plgd.lock"))).read_text())
        process.send_signal(signal.SIGTERM)
        assert b"Interrupted.\n" == process.communicate()[1]
    assert 130 == process.returncode
    assert [] == list(folder.glob("plgd-load-*"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
