"""The process that measures, on a small random model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plgd.bench.compare.workloads import WORKLOADS
from plgd.bench.options import ARMS
from plgd.paths import Paths
from tiny_models import LLAMA, write_model

MODEL = {**LLAMA, "max_position_embeddings": 4096}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder."""
    return write_model(tmp_path_factory.mktemp("model"), MODEL)


def bench(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the process."""
    command = [sys.executable, "-m", "plgd", "bench", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_comparison_covers_all_workloads_and_arms(paths: Paths, model: Path, tmp_path: Path) -> None:
    """One command compares every arm on every workload, and in float32 all of them say the same."""
    plot = tmp_path / "out.png"
    done = bench("--model", model, "--repeats", "1", "--max-tokens", "12", "--json", "--plot", plot)
    assert (0, "") == (done.returncode, done.stderr)
    data = json.loads(done.stdout)
    assert list(WORKLOADS) == list(data["workloads"])
    for workload in data["workloads"].values():
        assert list(ARMS) == list(workload["arms"])
        assert all(arm["identical_to_plain"] for arm in workload["arms"].values())
        assert {1} == {len(arm["tokens_per_s"]) for arm in workload["arms"].values()}
    assert plot.stat().st_size
    assert paths.config_dir.exists() is False


def test_a_table_is_whole_in_a_pipe(paths: Paths, model: Path) -> None:  # noqa: ARG001 - a user without settings
    """In a pipe the table keeps its columns, whatever the terminal's width would have been."""
    done = bench("--model", model, "--repeats", "1", "--max-tokens", "8", "--only", "write", "--arms", "off")
    assert "paired" in done.stdout
    assert "…" not in done.stdout


def test_widths_are_measured_at_growing_contexts(paths: Paths, model: Path) -> None:  # noqa: ARG001 - as above
    """--widths gives a table of step costs for the context lengths that the model has (reference A15)."""
    data = json.loads(bench("--widths", "--model", model, "--repeats", "1", "--json").stdout)
    assert [128, 1024] == data["costs"]["contexts"]
    assert 1 == data["costs"]["widths"][0]
    assert len(data["costs"]["widths"]) == len(data["costs"]["costs_ms"][1])
    assert "cpu" == data["environment"]["device"]


def test_a_model_that_is_not_here_is_never_fetched(paths: Paths) -> None:  # noqa: ARG001 - an empty cache
    """Without its model the measurement says how to get it, in one line."""
    done = bench("--only", "write")
    assert (1, "") == (done.returncode, done.stdout)
    assert "plgd model pull builtin" in done.stderr
    assert 1 == len(done.stderr.splitlines())


def test_an_interrupt_while_it_starts_is_one(paths: Paths) -> None:  # noqa: ARG001 - a user without settings
    """Ctrl-C that is held back while modules are imported ends the process in one line, before it measures."""

    def interrupt() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests in the background has it ignored
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        os.kill(os.getpid(), signal.SIGINT)

    command = [sys.executable, "-m", "plgd", "bench", "--host"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=interrupt)
    assert (130, "", "Interrupted.\n") == (done.returncode, done.stdout, done.stderr)


def test_divergences_are_counted(paths: Paths, model: Path) -> None:  # noqa: ARG001 - as above
    """--divergences compares drafted replies of the workloads with plain ones; in float32 they are the same."""
    words = ("--divergences", "--model", model, "--only", "write", "--max-tokens", "24")
    data = json.loads(bench(*words, "--json").stdout)
    assert [3, 3, 7, 7, 31, 31] == [found["n_drafted"] for found in data["counted"]]
    assert {(24, 0)} == {(found["n_tokens"], found["n_divergences"]) for found in data["counted"]}
    assert "per 10,000" in bench(*words).stdout
