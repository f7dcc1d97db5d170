"""`plgd doctor`: findings of the command and of the daemon."""

from __future__ import annotations

import re

import msgspec
import pytest

from cli.command import plgd
from cli.fake_daemon import FakeDaemon
from plgd.errors import StartFailed
from plgd.paths import Paths
from plgd.protocol.daemon import DoctorResult, Finding
from plgd.protocol.methods import DOCTOR, HELLO

FINE = Finding(level="ok", subject="device", fact="cpu, 2 cores")
SLOW = Finding(level="slow", subject="BLAS", fact="reference BLAS", advice="install plgd[cpu]")
MISSING = Finding(level="missing", subject="model", fact="no model is pulled", advice="plgd model pull builtin")


@pytest.mark.parametrize(("finding", "exit_code"), [(FINE, 0), (SLOW, 0), (MISSING, 1)], ids=["ok", "slow", "missing"])
def test_only_what_is_missing_fails(finding: Finding, exit_code: int, daemon: FakeDaemon) -> None:
    """`plgd doctor` ends with 1 when something is missing, and with 0 when things work, fast or slow."""
    daemon.answers(DOCTOR, DoctorResult(findings=(finding,)))
    assert exit_code == plgd("doctor").returncode


def test_advice_stands_below_the_fact(daemon: FakeDaemon) -> None:
    """Each finding is a line, what to do about it the next one."""
    daemon.answers(DOCTOR, DoctorResult(findings=(FINE, SLOW)))
    lines = plgd("doctor").stdout.decode().splitlines()
    assert [
        "ok    device         cpu, 2 cores",
        "slow  BLAS           reference BLAS",
        "                     -> install plgd[cpu]",
    ] == lines[-3:]
    assert ["command", "configuration"] == [line.split()[1] for line in lines[:-3]]


def test_doctor_as_json(daemon: FakeDaemon) -> None:
    """`plgd doctor --json` prints all findings."""
    daemon.answers(DOCTOR, DoctorResult(findings=(FINE,)))
    found = msgspec.json.decode(plgd("doctor", "--json").stdout, type=DoctorResult).findings
    assert ["command", "configuration", "device"] == [finding.subject for finding in found]
    assert FINE == found[-1]


def test_broken_configuration_is_a_finding(daemon: FakeDaemon, paths: Paths) -> None:
    """A configuration that cannot be used is named, with the key, and fails the check."""
    daemon.answers(DOCTOR, DoctorResult(findings=()))
    paths.config_dir.mkdir()
    paths.config_file.write_text("[engine]\npolcy = 'off'\n", encoding="utf-8")
    done = plgd("doctor")
    assert done.returncode == 1
    assert f"{paths.config_file}: unknown key `engine.polcy`; did you mean `engine.policy`?" in done.stdout.decode()


def test_broken_configuration_is_found_once(paths: Paths) -> None:
    """Where the configuration keeps the daemon from starting, that is one finding, beside what needs no daemon."""
    paths.config_dir.mkdir()
    paths.config_file.write_text("[deamon]\n", encoding="utf-8")
    done = plgd("doctor")
    shown = done.stdout.decode()
    assert (1, 1, 1) == (done.returncode, shown.count("did you mean `daemon`"), shown.count("missing "))
    assert "packages" in shown


def test_daemon_that_cannot_be_asked_is_a_finding(daemon: FakeDaemon) -> None:
    """When the daemon cannot be asked, what can be checked without it is still shown."""
    daemon.answers(HELLO, StartFailed.because("it exited", "/log"))
    done = plgd("doctor")
    assert done.returncode == 1
    subjects = [line[9:].split("  ")[0] for line in done.stdout.decode().splitlines() if line.strip()]
    assert {"command", "configuration", "Python", "packages", "runtime folder"} < set(subjects)
    assert re.search(rb"missing  daemon +The daemon did not start: it exited\.", done.stdout)
