"""`plgd start|stop|restart|status|logs` against a daemon, and without one."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from cli.command import plgd, started
from cli.fake_daemon import FakeDaemon, status_result
from plgd.errors import PlgdError, VersionMismatch
from plgd.paths import Paths, private_folder
from plgd.protocol.daemon import (
    PROTOCOL_VERSION,
    DocumentInfo,
    HelloResult,
    JobInfo,
    SharingInfo,
    StatusResult,
    StopParams,
    StopResult,
    WarmInfo,
)
from plgd.protocol.edits import Stage
from plgd.protocol.methods import HELLO, STATUS, STOP
from plgd.version import __version__


def test_status_is_a_table(daemon: FakeDaemon) -> None:
    """`plgd status` says what the daemon does, one fact per line."""
    jobs = (JobInfo(session="e1", name="sum.py", stage=Stage.DECODE, percent=37.4),)
    documents = (DocumentInfo(name="sum.py", version=2, n_bytes=5100),)
    daemon.answers(STATUS, status_result(state="busy", jobs=jobs, documents=documents))
    done = plgd("status")
    assert (
        "state      busy\n"
        "model      builtin\n"
        "device     cpu, 540 MB of arrays\n"
        "memory     812 MB\n"
        "edits      1,203 answered\n"
        "job        sum.py, decode 37 %\n"
        "documents  1 seen\n"
        f"process    4711, plgd {__version__}, up 1 h 2 min\n"
        "socket     /run/plgd.sock\n"
    ) == done.stdout.decode()
    assert (0, b"") == (done.returncode, done.stderr)


def test_status_counts_completions_where_there_are_any(daemon: FakeDaemon) -> None:
    """Chat completions are told apart from edits, and left out where the endpoint was not used."""
    daemon.answers(STATUS, status_result(n_completions=7))
    assert "completions  7 answered" in plgd("status").stdout.decode().splitlines()


def test_status_tells_what_is_warm(daemon: FakeDaemon) -> None:
    """`plgd status` shows open and warm documents, the memory of what is kept, and how many edits it served."""
    documents = (
        DocumentInfo(name="/a.py", version=2, n_bytes=5100, warm_tokens=1200, kv_bytes=40_000_000, is_open=True),
        DocumentInfo(name="/b.py", version=1, n_bytes=5100),
    )
    warm = WarmInfo(
        kv_bytes=40_000_000,
        kv_limit_bytes=2_000_000_000,
        prompts=4,
        warm_prompts=3,
        prompt_tokens=1000,
        cached_tokens=725,
    )
    sharing = SharingInfo(joint_turns=12, joint_rows=30, joint_passes=11, most_rows=4, turns_because="a reason")
    daemon.answers(STATUS, status_result(documents=documents, warm=warm, sharing=sharing))
    lines = plgd("status").stdout.decode().splitlines()
    assert "documents  2 seen, 1 open, 1 warm (1,200 tokens)" in lines
    assert "sharing    12 rounds of 2.5 edits on average (11 passes); edits take turns: a reason" in lines
    assert "warm       40 MB of 2.0 GB; 3 of 4 prompts began warm (72 % of their tokens)" in lines


def test_status_tells_what_is_on_disk(daemon: FakeDaemon) -> None:
    """Where kept states go to disk, `plgd status` shows their space, and what became of them where there is any."""
    daemon.answers(STATUS, status_result(warm=WarmInfo(spill_limit_bytes=2_000_000_000)))
    assert "on disk  0 bytes of 2.0 GB, 0 kept" in plgd("status").stdout.decode().splitlines()
    warm = WarmInfo(
        spill_bytes=57_000_000,
        spill_limit_bytes=2_000_000_000,
        spill_states=3,
        spill_hits=2,
        spill_refused=1,
        spill_unwritten=4,
    )
    daemon.answers(STATUS, status_result(warm=warm))
    expected = "on disk  57 MB of 2.0 GB, 3 kept, 2 came back, 1 unusable, 4 not written"
    assert expected in plgd("status").stdout.decode().splitlines()


def test_loading_shows_its_percent(daemon: FakeDaemon) -> None:
    """While the model loads, the status says how far it is."""
    daemon.answers(STATUS, status_result(state="loading", loading_percent=37.2))
    assert plgd("status").stdout.startswith(b"state    loading 37 %\n")


def test_status_as_json(daemon: FakeDaemon) -> None:
    """`plgd status --json` prints what the daemon said."""
    assert status_result() == msgspec.json.decode(plgd("status", "--json").stdout, type=StatusResult)
    daemon.next_params(STATUS)


def test_status_never_starts_a_daemon(paths: Paths) -> None:
    """Without a daemon, `plgd status` says so and how to start one, ends with 1, and starts none."""
    done = plgd("status")
    expected = f"plgd: No plgd daemon answers on {paths.socket}. Start it with: plgd start\n"
    assert (1, b"", expected.encode()) == (done.returncode, done.stdout, done.stderr)
    assert not paths.runtime_dir.exists()


def test_start_finds_the_daemon_that_runs(daemon: FakeDaemon) -> None:
    """`plgd start` with a daemon running is a success that says so."""
    done = plgd("start")
    expected = f"plgd {__version__} is running already (process 4711).\n"
    assert (0, expected.encode()) == (done.returncode, done.stdout)
    daemon.next_params(STATUS)


def test_start_waits_for_a_daemon_that_is_stopping(daemon: FakeDaemon) -> None:
    """`plgd start` lets a daemon that is about to exit do so and starts another."""
    daemon.answers(STATUS, status_result(state="stopping"))

    def stopped() -> StopResult:
        daemon.answers(STATUS, status_result(pid=4712))
        return StopResult(pid=4711)

    daemon.answers(STOP, stopped)
    done = plgd("start")
    assert (0, f"plgd {__version__} is running (process 4712).\n") == (done.returncode, done.stdout.decode())
    assert b"process 4711" in done.stderr


def test_restart_of_another_build(daemon: FakeDaemon) -> None:
    """A daemon that makes room as soon as it is greeted needs no `stop` to be restarted."""
    build = HelloResult(protocol=PROTOCOL_VERSION, version=__version__, pid=4711)
    greetings: Iterator[msgspec.Struct | PlgdError] = iter([VersionMismatch.between(__version__, __version__), build])
    daemon.answers(HELLO, lambda: next(greetings))
    done = plgd("restart")
    assert (0, f"plgd {__version__} is running already (process 4711).\n") == (done.returncode, done.stdout.decode())


@pytest.fixture
def mistake(paths: Paths) -> str:
    """What is said of the mistake that the configuration has."""
    paths.config_dir.mkdir()
    paths.config_file.write_text("[engine]\npolicy = 'fast'\n", encoding="utf-8")
    return (
        f"plgd: {paths.config_file}: Invalid enum value 'fast' (key `engine.policy`); "
        "there are cost, graded, gated, ds4, off\n"
    )


def test_restart_with_a_wrong_configuration_leaves_the_daemon_alone(daemon: FakeDaemon, mistake: str) -> None:
    """`plgd restart` refuses a configuration with a mistake, and says that the daemon that works goes on."""
    done = plgd("restart")
    expected = f"{mistake}The daemon that runs was left as it is.\n"
    assert (2, expected) == (done.returncode, done.stderr.decode())
    daemon.next_params(STATUS)
    assert daemon.asked.empty()


def test_restart_with_a_wrong_configuration_and_no_daemon(mistake: str) -> None:
    """Where no daemon runs, `plgd restart` speaks of none."""
    done = plgd("restart")
    assert (2, mistake) == (done.returncode, done.stderr.decode())


def test_start_beside_a_daemon_warns_of_a_wrong_configuration(daemon: FakeDaemon, mistake: str) -> None:
    """`plgd start` with a daemon running says what the next one would stumble over, and succeeds."""
    done = plgd("start")
    warning = "The daemon goes on with the configuration that it started with; the next one will not start.\n"
    assert (0, f"{mistake}{warning}") == (done.returncode, done.stderr.decode())
    assert b"is running already" in done.stdout
    daemon.next_params(STATUS)


@pytest.mark.parametrize(("words", "drain"), [([], True), (["--now"], False)], ids=["drain", "now"])
def test_stop_lets_edits_finish_unless_told(words: list[str], drain: bool, daemon: FakeDaemon) -> None:
    """`plgd stop` finishes running edits; `plgd stop --now` cancels them."""
    daemon.answers(STOP, StopResult(pid=4711))
    done = plgd("stop", *words)
    assert StopParams(drain=drain) == daemon.next_params(STOP)
    assert (0, b"plgd stopped (process 4711).\n") == (done.returncode, done.stdout)


def test_stop_without_a_daemon_is_fine(paths: Paths) -> None:
    """`plgd stop` without a daemon says so and succeeds."""
    done = plgd("stop")
    assert (0, b"plgd is not running.\n", b"") == (done.returncode, done.stdout, done.stderr)
    assert not paths.runtime_dir.exists()


@pytest.fixture
def log(paths: Paths) -> Path:
    """A log of 60 lines, the last of them not yet ended, one of them not UTF-8."""
    private_folder(paths.runtime_dir)
    paths.log.write_bytes(b"".join(b"line %d\n" % n for n in range(1, 59)) + b"caf\xe9\nhalf")
    return paths.log


def test_logs_prints_the_end(log: Path) -> None:
    """`plgd logs` prints the last 50 lines as they are in the file, `-n` another number of them."""
    assert log.read_bytes().splitlines(keepends=True)[-50:] == plgd("logs").stdout.splitlines(keepends=True)
    assert b"caf\xe9\nhalf" == plgd("logs", "-n", "2").stdout
    assert log.read_bytes() == plgd("logs", "-n", "1000").stdout


def test_missing_log_is_said(paths: Paths) -> None:
    """Without a log, `plgd logs` says where it will be."""
    done = plgd("logs", "-f")
    expected = f"plgd: There is no log yet at {paths.log}; the daemon writes it when it starts.\n"
    assert (1, expected.encode()) == (done.returncode, done.stderr)


def read_line(process: subprocess.Popen[bytes]) -> bytes:
    """Read one line of the command's output."""
    assert process.stdout is not None
    return process.stdout.readline()


def test_logs_follows_through_a_rotation(log: Path) -> None:
    """`plgd logs -f` prints new lines as they come, goes on in the next file, and Ctrl-C ends it with 0."""
    with started("logs", "-f", "-n", "1") as process:
        with log.open("ab") as stream:
            stream.write(b" and half\n")
        assert b"half and half\n" == read_line(process)
        with log.open("ab") as stream:
            stream.write(b"the last of the old file\n")
        log.rename(log.with_suffix(".log.1"))
        log.write_bytes(b"a new file\n")
        assert b"the last of the old file\n" == read_line(process)
        assert b"a new file\n" == read_line(process)
        log.write_bytes(b"short\n")
        assert b"short\n" == read_line(process)
        os.killpg(process.pid, signal.SIGINT)
        assert (0, b"") == (process.wait(), process.communicate()[1])


def test_logs_ends_when_nobody_reads(log: Path) -> None:
    """`plgd logs -f | head -1` ends by itself with the next line of the log."""
    with started("logs", "-f", "-n", "1") as process:
        assert process.stdout is not None
        assert b"half" == process.stdout.read(4)
        process.stdout.close()
        with log.open("ab") as stream:
            stream.write(b"more\n")
        assert 141 == process.wait()
        assert process.stderr is not None
        assert b"" == process.stderr.read()
