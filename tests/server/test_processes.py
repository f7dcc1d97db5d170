"""Real daemon processes: started by need, started twice, killed, replaced, refused."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import msgspec
import pytest

from plgd.client import connect
from plgd.config import Config
from plgd.errors import AlreadyRunning, ConfigError, ConnectionLost, StartFailed, VersionMismatch
from plgd.launch import ALREADY_RUNNING_EXIT
from plgd.paths import SOCKET_PATH_LIMIT, Paths
from plgd.protocol.base import NoParams
from plgd.protocol.daemon import DoctorResult, StatusResult, StopParams
from plgd.protocol.edits import EditMode, EditParams, EditProgress, Stage
from plgd.protocol.methods import DOCTOR, EDIT, STATUS, STOP
from plgd.server.app import Daemon
from plgd.server.instance import single_instance
from plgd.version import __version__
from server.machine import PATIENCE_S, Machine, Shelf

pytestmark = pytest.mark.anyio
TESTS = Path(__file__).parents[1]


@pytest.fixture
def user(paths: Paths) -> Paths:
    """A user whose daemon may be started by need; it is killed after the test."""
    return paths


async def status_of_started(paths: Paths) -> StatusResult:
    """Start the daemon if none runs and ask for its status."""
    async with connect(paths, client="test") as client:
        return await client.call(STATUS, NoParams())


async def stop(paths: Paths) -> None:
    """Stop the daemon and wait until its process lets go of the connection."""
    async with connect(paths, client="test", start=False) as client:
        await client.call(STOP, StopParams())
        with anyio.fail_after(PATIENCE_S):
            await client.wait_closed()


async def killed(pid: int, paths: Paths) -> None:
    """Kill a daemon and wait until its socket is dead."""
    async with connect(paths, client="test", start=False) as client:
        os.kill(pid, signal.SIGKILL)
        with anyio.fail_after(PATIENCE_S):
            await client.wait_closed()


def serve_and_wait(paths: Paths) -> subprocess.CompletedProcess[str]:
    """Run `python -m plgd serve` in the foreground until it ends."""
    places = {
        "PLGD_CONFIG_DIR": str(paths.config_dir),
        "PLGD_CACHE_DIR": str(paths.cache_dir),
        "PLGD_RUNTIME_DIR": str(paths.runtime_dir),
    }
    return subprocess.run(
        [sys.executable, "-m", "plgd", "serve"],
        env=os.environ | places,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


async def test_the_first_client_starts_the_daemon(user: Paths) -> None:
    """The daemon runs in a session of its own, with no terminal, and a second client finds it."""
    status = await status_of_started(user)
    assert (status.state, str(user.socket)) == ("idle", status.socket)
    assert status.pid not in {os.getpid(), os.getsid(0)}
    assert os.getsid(status.pid) == status.pid
    assert status.pid == (await status_of_started(user)).pid
    await stop(user)
    assert not user.socket.exists()


async def test_two_starts_at_once_make_one_daemon(user: Paths) -> None:
    """Clients that start the daemon at the same time all reach the same one."""
    pids: list[int] = []

    async def start() -> None:
        pids.append((await status_of_started(user)).pid)

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(start)
    assert pids == [pids[0]] * 3
    await stop(user)


async def test_what_a_killed_daemon_left_does_not_matter(user: Paths) -> None:
    """Socket and lock of a daemon that was killed are taken over by the next start."""
    first = await status_of_started(user)
    await killed(first.pid, user)
    assert user.socket.exists()
    assert user.lock.read_text() == f"{first.pid}\n"
    second = await status_of_started(user)
    assert first.pid != second.pid
    await stop(user)


async def test_a_daemon_killed_in_the_middle_of_an_edit(user: Paths, tmp_path: Path) -> None:
    """The client hears that the daemon is gone, and the file is untouched."""
    source = tmp_path / "sum.py"
    source.write_text("total = 1\n")
    process = await anyio.open_process(
        [sys.executable, str(TESTS / "server/scripted_daemon.py")],
        env=os.environ | {"PYTHONPATH": str(TESTS)},
        stderr=None,
    )
    async with process:
        assert process.stdout is not None
        assert await process.stdout.receive() == b"ready\n"

        def kill_when_begun(note: msgspec.Struct) -> None:
            if isinstance(note, EditProgress) and note.stage is Stage.PREFILL:
                process.kill()

        async with connect(user, client="test", start=False) as client:
            edit = EditParams(instruction="rename", path=str(source), mode=EditMode.APPLY)
            with pytest.raises(ConnectionLost):
                await client.call(EDIT, edit, kill_when_begun)
        assert await process.wait() == -signal.SIGKILL
    assert await anyio.Path(source).read_text() == "total = 1\n"


async def test_an_older_daemon_is_replaced(user: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client of a newer version lets the daemon finish, starts its own, and is connected to that."""
    monkeypatch.setattr("plgd.server.handlers.__version__", "0.0.1")

    async def old_daemon(task_status: anyio.abc.TaskStatus[None]) -> None:
        with single_instance(user) as instance:
            daemon = Daemon(Config(), user, Machine, lambda: Shelf("m"))
            await daemon.serve(instance, task_status.started)

    async with anyio.create_task_group() as group:
        await group.start(old_daemon)
        status = await status_of_started(user)
    assert (__version__, True) == (status.version, status.pid != os.getpid())
    await stop(user)


async def test_a_daemon_is_replaced_only_once(user: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client whose own daemon turns out to be older, too, gives up instead of starting daemons for ever."""
    first = await status_of_started(user)
    monkeypatch.setattr("plgd.client.__version__", "999.0")
    with pytest.raises(VersionMismatch, match=r"this is plgd 999\.0"):
        await status_of_started(user)
    assert f"{first.pid}\n" != await anyio.Path(user.lock).read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_daemon_in_order(number: signal.Signals, user: Paths) -> None:
    """On SIGTERM and SIGINT the socket is removed and the log says that it stopped."""
    status = await status_of_started(user)
    async with connect(user, client="test", start=False) as client:
        os.kill(status.pid, number)
        with anyio.fail_after(PATIENCE_S):
            await client.wait_closed()
    assert not user.socket.exists()
    assert "stopping" in await anyio.Path(user.log).read_text()


async def test_a_start_that_fails_shows_the_last_line_of_the_log(user: Paths) -> None:
    """What kept the daemon from starting is what the client reports."""
    (user.socket / "folder").mkdir(mode=0o700, parents=True)
    user.runtime_dir.chmod(0o700)
    with pytest.raises(StartFailed, match=r"exited with status 1 \(.*plgd\.sock"):
        await status_of_started(user)


async def test_a_start_that_fails_without_a_word_says_that_its_log_has_no_room(user: Paths) -> None:
    """Where nothing can be written, as on a full disk, the log has no last line; the client finds out why."""
    user.runtime_dir.mkdir(mode=0o700, parents=True)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # the daemon inherits it
    try:
        with pytest.raises(StartFailed, match=r"status 1 \(and its log cannot be written: File too large\)"):
            await status_of_started(user)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_mistake_in_the_configuration_starts_no_daemon(user: Paths) -> None:
    """A client reports the mistake as it is, without a process that could only fail."""
    user.config_dir.mkdir(parents=True)
    user.config_file.write_text("[engine]\nmax_daft = 3\n")
    with pytest.raises(ConfigError, match=r"config\.toml: unknown key `engine.max_daft`; did you mean.*max_draft"):
        await status_of_started(user)
    assert not user.log.exists()


async def test_a_log_that_cannot_be_written_is_said(user: Paths) -> None:
    """Where the log would be is a folder: the start fails in words."""
    user.log.mkdir(parents=True)
    user.runtime_dir.chmod(0o700)
    with pytest.raises(StartFailed, match=r"plgd\.log cannot be used \(Is a directory\)"):
        await status_of_started(user)


async def test_an_interpreter_that_cannot_be_run_is_said(user: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python that was moved or may not be executed is named."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(StartFailed, match=r"/nowhere/python cannot be used \(No such file or directory\)"):
        await status_of_started(user)


def test_serving_twice_is_refused(user: Paths) -> None:
    """A second `serve` says who runs, with an exit status of its own."""
    pid = anyio.run(status_of_started, user).pid
    done = serve_and_wait(user)
    assert (ALREADY_RUNNING_EXIT, f"{AlreadyRunning.as_pid(pid)}\n") == (done.returncode, done.stderr)
    anyio.run(stop, user)


def test_a_socket_path_that_is_too_long_is_said(user: Paths) -> None:
    """`serve` in a folder that is too deep names the limit and exits."""
    deep = user.runtime_dir / ("x" * SOCKET_PATH_LIMIT)
    done = serve_and_wait(Paths(user.config_dir, user.cache_dir, deep))
    assert done.returncode == 1
    assert f"this system allows {SOCKET_PATH_LIMIT}" in done.stderr


def test_a_wrong_configuration_is_said(user: Paths) -> None:
    """`serve` with an unknown key names the nearest one and exits as for wrong usage."""
    user.config_dir.mkdir(parents=True)
    user.config_file.write_text("[deamon]\n")
    done = serve_and_wait(user)
    assert done.returncode == ConfigError.exit_code
    assert "did you mean `daemon`" in done.stderr


async def test_the_log_holds_neither_texts_nor_instructions(user: Paths, tmp_path: Path) -> None:
    """What a user writes is not logged, also when it fails."""
    source = tmp_path / "sum.py"
    source.write_text("secret_total = 1\n")
    async with connect(user, client="test") as client:
        with pytest.raises(Exception, match="not on this machine"):
            await client.call(EDIT, EditParams(instruction="reveal the secret_word", path=str(source)))
    await stop(user)
    log = await anyio.Path(user.log).read_text()
    assert "listens" in log
    assert "secret" not in log


async def test_the_doctor_examines_the_real_machine(user: Paths) -> None:
    """The daemon reports its Python, packages, device, BLAS, folders, memory, and that no model is pulled."""
    async with connect(user, client="test") as client:
        found: DoctorResult = await client.call(DOCTOR, NoParams())
    subjects = {finding.subject: finding for finding in found.findings}
    assert {"Python", "packages", "mlx build", "device", "memory", "runtime folder", "model"} <= subjects.keys()
    assert "plgd model pull" in subjects["model"].fact
    assert all(finding.advice for finding in found.findings if finding.level != "ok")
    if "OpenBLAS" in subjects and subjects["OpenBLAS"].level == "ok":
        assert subjects["BLAS in use"].fact == "openblas"
    await stop(user)
