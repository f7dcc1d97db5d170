"""Each way to end has its exit code, on paper and in the process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.command import plgd
from cli.fake_daemon import FakeDaemon
from cli.results import edit_result
from plgd.errors import BY_CODE, PlgdError, from_wire
from plgd.protocol.edits import EditStatus
from plgd.protocol.methods import EDIT
from plgd_cli.answer import EXIT_CODES
from plgd_cli.output import report

EXPECTED = {
    "proposed": 0,
    "applied": 0,
    "no_change": 5,
    "conflict": 3,
    "truncated": 4,
    "rejected_output": 4,
    "cancelled": 130,
}


def test_every_status_has_an_exit_code() -> None:
    """Each status that an edit can end with has the exit code that the design names."""
    assert EXPECTED == {status.value: code for status, code in EXIT_CODES.items()}
    assert set(EditStatus) == set(EXIT_CODES)


@pytest.mark.parametrize("status", EditStatus)
def test_status_becomes_the_exit_code(status: EditStatus, daemon: FakeDaemon, sum_py: Path) -> None:
    """The process ends with the exit code of the edit's status, and so it does with `--json`."""
    daemon.answers(EDIT, edit_result(status))
    for form in ([], ["--json"]):
        assert EXPECTED[status.value] == plgd("edit", str(sum_py), "-i", "x", *form).returncode


@pytest.mark.parametrize("code", BY_CODE)
def test_every_error_is_said_and_has_its_exit_code(code: int, capsys: pytest.CaptureFixture[str]) -> None:
    """An error is one line on standard error for a person and one line of JSON for a program."""
    error = from_wire(code, "Something is wrong.")
    assert error.exit_code == report(error, as_json=False)
    assert ("", "plgd: Something is wrong.\n") == capsys.readouterr()
    assert error.exit_code == report(error, as_json=True)
    out, err = capsys.readouterr()
    assert ({"error": {"code": code, "message": "Something is wrong."}}, "") == (json.loads(out), err)


def test_error_of_the_daemon_ends_the_process(daemon: FakeDaemon, sum_py: Path) -> None:
    """What the daemon refuses becomes the process's exit code and message, also in JSON."""
    daemon.answers(EDIT, from_wire(-32030, "a.py changed while the model worked."))
    plain = plgd("edit", str(sum_py), "-i", "x")
    assert (3, b"", b"plgd: a.py changed while the model worked.\n") == (plain.returncode, plain.stdout, plain.stderr)
    as_json = plgd("edit", str(sum_py), "-i", "x", "--json")
    assert (3, b"") == (as_json.returncode, as_json.stderr)
    assert {"error": {"code": -32030, "message": "a.py changed while the model worked."}} == json.loads(as_json.stdout)


def test_message_with_broken_characters_is_still_json(capsys: pytest.CaptureFixture[str]) -> None:
    """A message that quotes bytes that are not UTF-8 is still valid JSON."""
    report(PlgdError("caf\udce9"), as_json=True)
    assert r"caf\xe9" == json.loads(capsys.readouterr().out)["error"]["message"]
