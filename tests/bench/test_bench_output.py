"""Where the measurements' process prints its results."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

from plgd.bench import command
from plgd.errors import BenchError

FULL = Path("/dev/full")


def say(_arguments: argparse.Namespace, console: Console) -> None:
    """Print a result."""
    console.file.write("{}")


def miss(_arguments: argparse.Namespace, _console: Console) -> None:
    """Read a file that is not there."""
    Path("/nowhere/at/all").read_text()


def measure(run: object, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run a measurement of this test's own."""
    module = ModuleType("own_measurement")
    module.run = run  # type: ignore[attr-defined]  # a module that says what the test wants
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(command.RUNNERS, "own", module.__name__)
    return command.run_bench(argparse.Namespace(mode="own"))


@pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full here")
def test_a_result_that_cannot_be_printed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk behind `>` is an error in one line, and the process has nothing more to write at its end."""
    with FULL.open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(BenchError, match="The result was not written: No space left on device"):
            measure(say, monkeypatch)
        assert full.closed


def test_a_file_that_is_missing_is_no_failure_of_printing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong with a file is not taken for the output's."""
    with pytest.raises(FileNotFoundError, match="nowhere"):
        measure(miss, monkeypatch)


def test_a_result_that_is_printed_is_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    """A measurement that says its result ends with status 0."""
    assert measure(say, monkeypatch) == 0
