"""The log file."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from plgd.server.logs import log_to_file


def test_the_log_is_for_a_person(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line says when, how grave, where and what; in the foreground it is shown as well."""
    with log_to_file(tmp_path / "log", limit=10_000, take_output=False):
        logging.getLogger("plgd.server.app").info("plgd listens")
        logging.getLogger("plgd.server.app").debug("detail")
        logging.getLogger("elsewhere").info("noise")
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 1
    assert lines[0][23:] == " INFO    plgd.server.app: plgd listens"
    assert capsys.readouterr().err == f"{lines[0]}\n"


def test_the_log_is_bounded(tmp_path: Path) -> None:
    """Past its limit the file is rotated, and one earlier file is kept."""
    with log_to_file(tmp_path / "log", limit=1000, take_output=False):
        for n in range(100):
            logging.getLogger("plgd").info("line %d", n)
    assert {tmp_path / "log", tmp_path / "log.1"} == set(tmp_path.iterdir())
    assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())
    assert (tmp_path / "log").read_text().endswith("line 99\n")


def test_the_last_words_of_native_code_are_in_the_current_file(tmp_path: Path) -> None:
    """What a process writes to its standard error without Python goes to the log, also after a rotation."""
    code = (
        "import logging, os, pathlib, sys\n"
        "from plgd.server.logs import log_to_file\n"
        "with log_to_file(pathlib.Path(sys.argv[1]), limit=1000, take_output=True):\n"
        "    for n in range(50):\n"
        "        logging.getLogger('plgd').info('line %d', n)\n"
        "    os.write(2, b'assertion failed in C++\\n')\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "log")], capture_output=True, check=True)
    assert (b"", b"") == (done.stdout, done.stderr)
    assert (tmp_path / "log").read_text().endswith("assertion failed in C++\n")
    assert (tmp_path / "log.1").exists()
