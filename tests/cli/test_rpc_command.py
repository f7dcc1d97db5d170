"""`plgd rpc`: one request of the protocol from a shell."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cli.command import plgd
from cli.fake_daemon import FakeDaemon
from cli.results import edit_result
from plgd.errors import FileMissing
from plgd.paths import Paths
from plgd.protocol.edits import EditParams, EditProgress, Stage
from plgd.protocol.methods import EDIT, METHODS
from plgd_cli.main import main

PARAMS = '{"instruction": "größer", "path": "/a.py"}'
PROGRESS = EditProgress(id=0, stage=Stage.DECODE, percent=50.0)


def lines_of(output: bytes) -> list[dict[str, Any]]:
    """Read lines of JSON."""
    return [json.loads(line) for line in output.splitlines()]


@pytest.mark.parametrize("from_stdin", [False, True])
def test_a_request_is_sent_and_its_result_printed(from_stdin: bool, daemon: FakeDaemon) -> None:
    """The parameters go to the daemon as they stand, the result comes as a line of JSON, notifications beside it."""
    daemon.answers(EDIT, edit_result())
    daemon.notifies(EDIT, PROGRESS)
    done = plgd("rpc", "edit", "-" if from_stdin else PARAMS, stdin=PARAMS.encode() if from_stdin else b"")
    assert EditParams(instruction="größer", path="/a.py") == daemon.next_params(EDIT)
    [printed] = lines_of(done.stdout)
    assert (0, edit_result().new_text) == (done.returncode, printed["new_text"])
    [note] = lines_of(done.stderr)
    assert ("edit/progress", 50.0) == (note["method"], note["params"]["percent"])


def test_lines_come_in_order(daemon: FakeDaemon) -> None:
    """With `--lines` a script reads everything from standard output: notifications first, the result last."""
    daemon.answers(EDIT, edit_result())
    daemon.notifies(EDIT, PROGRESS, PROGRESS)
    done = plgd("rpc", "edit", PARAMS, "--lines")
    *notes, last = lines_of(done.stdout)
    assert (["edit/progress"] * 2, b"") == ([note["method"] for note in notes], done.stderr)
    assert edit_result().session == last["result"]["session"]


def test_an_error_is_told_by_its_exit_code(daemon: FakeDaemon) -> None:
    """What the daemon refuses is a sentence on standard error, or with `--lines` an object with its code."""
    daemon.answers(EDIT, FileMissing.at("/a.py"))
    done = plgd("rpc", "edit", PARAMS)
    assert (1, b"", True) == (done.returncode, done.stdout, b"/a.py: no such file" in done.stderr)
    done = plgd("rpc", "edit", PARAMS, "--lines")
    assert [FileMissing.code] == [line["error"]["code"] for line in lines_of(done.stdout)]


def test_parameters_may_be_left_out(daemon: FakeDaemon) -> None:
    """A method without parameters needs no JSON."""
    done = plgd("rpc", "ping")
    assert ("ping", b"{}\n") == (daemon.next_request()[0], done.stdout)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["edti"], "did you mean 'edit'?"),
        (["xyzzy"], f"there are {', '.join(METHODS)}."),
        ([], "name a METHOD"),
        (["ping", "--schema"], "ask no METHOD"),
        (["--openrpc", "--schema"], "print one"),
    ],
)
def test_words_that_make_no_sense(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A method that there is none of, and options that contradict each other, are refused with exit code 2."""
    with pytest.raises(SystemExit) as end:
        main(["rpc", *words])
    assert (2, True) == (end.value.code, said in capsys.readouterr().err)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ('{"instruction": 5}', "edit: Expected `str`, got `int` (field `instruction`)."),
        ("{", "edit: Input data was truncated."),
        ("[" * 100_000, "edit: "),
    ],
)
def test_wrong_parameters_are_refused(params: str, said: str, paths: Paths, capsys: pytest.CaptureFixture[str]) -> None:
    """Parameters that are no JSON, or not the method's, are refused before a daemon is started."""
    assert 2 == main(["rpc", "edit", params])
    assert said in capsys.readouterr().err
    assert not paths.runtime_dir.exists()


@pytest.mark.parametrize("words", [["ping", "--no-start"], ["stop"], ["status"]])
def test_no_daemon_is_started_for_some(words: list[str], paths: Paths) -> None:
    """`--no-start`, and the requests that only make sense to a daemon that runs, start none."""
    assert 1 == main(["rpc", *words])
    assert not paths.lock.exists()


@pytest.mark.parametrize(("option", "key"), [("--schema", "$defs"), ("--openrpc", "methods")])
def test_the_protocol_is_printed(option: str, key: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The protocol's documents are printed without a daemon."""
    assert 0 == main(["rpc", option])
    assert key in json.loads(capfdbinary.readouterr().out)
