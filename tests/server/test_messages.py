"""What the daemon answers to good and bad messages, on a real socket."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import anyio
import pytest

from plgd.config import Config, DaemonConfig
from plgd.errors import (
    FileUnreadable,
    FrameTooLarge,
    HelloFirst,
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    ParseError,
    QueueFull,
    TooManyConnections,
    VersionMismatch,
)
from plgd.paths import Paths
from plgd.protocol.daemon import PROTOCOL_VERSION
from plgd.protocol.methods import METHODS
from plgd.server.app import Daemon
from plgd.version import __version__
from scripted_model import ScriptedModel
from server.conversation import serving, wire
from server.machine import PATIENCE_S, Machine, Shelf

pytestmark = pytest.mark.anyio
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def test_every_method_of_the_protocol_has_a_handler(paths: Paths) -> None:
    """The dispatcher answers exactly the methods of the table."""
    daemon = Daemon(Config(), paths, Machine, lambda: Shelf("m"))
    assert frozenset(METHODS) == daemon.method_names


async def test_hello_introduces_both_sides(paths: Paths) -> None:
    """The daemon answers `hello` with its protocol, version and process id."""
    async with serving(paths, Machine()), wire(paths, hello=False) as client:
        await client.ask(1, "hello", {"protocol": PROTOCOL_VERSION, "version": __version__, "client": "test"})
        expected = {"protocol": PROTOCOL_VERSION, "version": __version__, "pid": os.getpid()}
        assert expected == (await client.answer(1))["result"]


async def test_a_version_of_any_length_is_answered(paths: Paths) -> None:
    """A version that nobody has is the client's mistake; the daemon goes on."""
    async with serving(paths, Machine()), wire(paths, hello=False) as client:
        await client.ask(1, "hello", {"protocol": PROTOCOL_VERSION, "version": "9" * 5000})
        code, message = await client.error(1)
        assert (InvalidParams.code, True) == (code, "at most 100 characters (field `version`)" in message)
        await client.ask(2, "hello", {"protocol": PROTOCOL_VERSION, "version": __version__})
        assert "result" in await client.answer(2)


async def test_hello_comes_first(paths: Paths) -> None:
    """Any other request is refused until the client has introduced itself; the connection stays usable."""
    async with serving(paths, Machine()), wire(paths, hello=False) as client:
        await client.send(PING)
        assert (await client.error(1))[0] == HelloFirst.code
        await client.ask(2, "hello", {"protocol": PROTOCOL_VERSION, "version": __version__})
        await client.send(PING)
        assert (await client.answer(1))["result"] == {}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc":"2.0","id":1,"meth', ParseError.code),
        (b"\xff\xfe", ParseError.code),
        (b"[" * 100_000, ParseError.code),
        (b"[" + PING + b"]", InvalidRequest.code),
        (b'{"id":1,"method":"ping"}', InvalidRequest.code),
    ],
)
async def test_a_line_that_is_no_message_fails_alone(line: bytes, code: int, paths: Paths) -> None:
    """A broken line is answered without an id, and the next line on the connection is served."""
    async with serving(paths, Machine()), wire(paths) as client:
        await client.send(line, PING)
        assert (await client.error(None))[0] == code
        assert (await client.answer(1))["result"] == {}


async def test_an_unknown_method_names_the_nearest(paths: Paths) -> None:
    """A typing error in a method's name is answered with the right one."""
    async with serving(paths, Machine()), wire(paths) as client:
        await client.ask(1, "model/lst")
        assert (MethodNotFound.code, "There is no method 'model/lst'. Did you mean 'model/list'?") == (
            await client.error(1)
        )


async def test_wrong_types_name_the_field(paths: Paths) -> None:
    """A parameter of a wrong type is refused by name."""
    async with serving(paths, Machine()), wire(paths) as client:
        await client.ask(1, "edit", {"instruction": 5})
        code, message = await client.error(1)
        assert code == InvalidParams.code
        assert "field `instruction`" in message


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("edit", {"instruction": "x", "path": "/a\0.py"}, FileUnreadable.code),
        ("document/warm", {"path": "/a\0.py"}, FileUnreadable.code),
        ("document/open", {"uri": "file://[x/a.py", "text": "x"}, InvalidParams.code),
        ("document/open", {"uri": "/a\0.py", "text": "x"}, InvalidParams.code),
    ],
)
async def test_places_that_cannot_be_are_refused(
    method: str, params: dict[str, object], code: int, paths: Paths
) -> None:
    """A path with a NUL or a broken URI is the client's mistake, not a failure of the daemon."""
    async with serving(paths, Machine()), wire(paths) as client:
        await client.ask(1, method, params)
        assert code == (await client.error(1))[0]


async def test_notifications_get_no_answer(paths: Paths) -> None:
    """Unknown, wrong and useless notifications are ignored."""
    async with serving(paths, Machine()), wire(paths) as client:
        await client.note("nothing", {})
        await client.note("ping", {})
        await client.note("$/cancelRequest", {"id": 99})
        await client.note("$/cancelRequest", {"number": 99})
        await client.send(PING)
        assert await client.read() == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_an_oversized_message_ends_the_connection_only(paths: Paths) -> None:
    """A message past the limit is answered with an error and a closed connection; other clients go on."""
    config = Config(daemon=DaemonConfig(frame_limit=4096))
    async with serving(paths, Machine(), config=config), wire(paths) as client, wire(paths) as other:
        await client.send(b"x" * 5000)
        assert (FrameTooLarge.code, FrameTooLarge.of(4096).message) == await client.error(None)
        assert await client.closed()
        await other.send(PING)
        assert (await other.answer(1))["result"] == {}


async def test_requests_are_told_apart_by_their_ids(paths: Paths) -> None:
    """Many requests may be sent at once, with ids of both kinds, and each gets its answer."""
    async with serving(paths, Machine()), wire(paths) as client:
        ids = [*range(50), *(f"s{n}" for n in range(50))]
        for request_id in ids:
            await client.ask(request_id, "ping")
        assert {str(request_id) for request_id in ids} == {str((await client.read())["id"]) for _ in ids}


async def test_an_id_that_is_in_use_is_refused(paths: Paths) -> None:
    """Two requests under one id could not be told apart."""
    machine = Machine()
    shelf = Shelf("m")
    shelf.pull_gate.shut()
    async with serving(paths, machine, shelf), wire(paths) as client:
        await client.ask(7, "model/pull", {"name": "x"})
        await client.ask(7, "ping")
        code, message = await client.error(7)
        assert code == InvalidRequest.code
        assert "7" in message


async def test_one_client_cannot_pile_up_requests(paths: Paths) -> None:
    """The requests under way on one connection are bounded, and the error says so."""
    shelf = Shelf("m")
    shelf.pull_gate.shut()
    async with serving(paths, Machine(), shelf), wire(paths) as client:
        for request_id in range(256):
            await client.ask(request_id, "model/pull", {"name": "x"})
        await client.ask("one more", "model/list")
        assert (await client.error("one more"))[0] == QueueFull.code
        await client.ask("answered at once", "ping")
        assert (await client.answer("answered at once"))["result"] == {}


async def test_clients_are_bounded(paths: Paths) -> None:
    """One client too many hears why it is turned away; when another leaves there is room."""
    config = Config(daemon=DaemonConfig(connection_limit=1))
    async with serving(paths, Machine(), config=config):
        async with wire(paths) as first:
            async with wire(paths, hello=False) as second:
                assert (await second.error(None))[0] == TooManyConnections.code
                assert await second.closed()
            first.stream.socket.shutdown(socket.SHUT_WR)
            assert await first.closed()
        async with wire(paths) as third:
            await third.send(PING)
            assert (await third.answer(1))["result"] == {}


async def test_another_user_is_turned_away(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """A peer with another user id gets no answer, whatever the file permissions say."""
    monkeypatch.setattr("plgd.server.app.peer_uid", lambda _socket: os.getuid() + 1)
    async with serving(paths, Machine()), wire(paths, hello=False) as client:
        assert await client.closed()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
async def test_a_process_of_another_user_is_turned_away(paths: Paths) -> None:
    """Were the folder and the socket opened to everybody, the daemon would still talk to its own user alone."""
    async with serving(paths, Machine()):
        for folder in (paths.runtime_dir.parent, paths.runtime_dir):
            open_up(folder, 0o755)
        open_up(paths.socket, 0o666)
        code = (
            "import os, socket, sys\n"
            "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "client = socket.socket(socket.AF_UNIX)\n"
            "client.connect(sys.argv[1])\n"
            "print(client.recv(100))\n"
        )
        with anyio.fail_after(PATIENCE_S):
            done = await anyio.run_process([sys.executable, "-S", "-c", code, str(paths.socket)])
        assert b"b''" == done.stdout.strip()


def open_up(path: Path, mode: int) -> None:
    """Change who may use a file."""
    path.chmod(mode)


async def test_a_newer_protocol_is_refused(paths: Paths) -> None:
    """A client of another protocol but no newer version learns both versions, and the daemon stays."""
    async with serving(paths, Machine()), wire(paths, hello=False) as client:
        await client.ask(1, "hello", {"protocol": PROTOCOL_VERSION + 1, "version": "0.0.9"})
        error = (await client.answer(1))["error"]
        assert error["code"] == VersionMismatch.code
        assert {"daemon_version": __version__} == error["data"]
        await client.send(PING)
        assert (await client.error(1))[0] == HelloFirst.code
        await client.ask(2, "hello", {"protocol": PROTOCOL_VERSION, "version": __version__})
        assert "result" in await client.answer(2)


async def test_a_daemon_of_the_same_version_but_another_protocol_makes_room(paths: Paths) -> None:
    """Two builds of one version may differ: the client's takes over; no version is named twice."""
    async with serving(paths, Machine()), wire(paths, hello=False) as client:
        await client.ask(1, "hello", {"protocol": PROTOCOL_VERSION + 1, "version": __version__})
        error = (await client.answer(1))["error"]
        assert (VersionMismatch.code, True) == (error["code"], error["data"]["stopping"])
        assert error["message"].startswith(f"The daemon is another build of plgd {__version__}.")


@pytest.mark.parametrize("version", ["999.0", "0.1.1", "0.1.0.1"])
async def test_an_older_daemon_makes_room(version: str, paths: Paths) -> None:
    """A daemon that is older than its client says that it stops, finishes and is gone."""
    async with serving(paths, Machine()), wire(paths, hello=False) as client:
        await client.ask(1, "hello", {"protocol": PROTOCOL_VERSION, "version": version})
        error = (await client.answer(1))["error"]
        assert (VersionMismatch.code, True) == (error["code"], error["data"]["stopping"])
        assert await client.closed()
        assert not paths.socket.exists()


@pytest.mark.parametrize("version", ["0.0.1", "0.1.0.dev3", "0.1.0+local", "nonsense"])
async def test_an_older_client_is_served(version: str, paths: Paths) -> None:
    """A client of the same protocol that is not newer is served, so that two installations do not fight."""
    async with serving(paths, Machine()), wire(paths, hello=False) as client:
        await client.ask(1, "hello", {"protocol": PROTOCOL_VERSION, "version": version})
        assert "result" in await client.answer(1)


async def test_a_failure_of_the_daemon_is_an_error_of_the_request(paths: Paths) -> None:
    """An unexpected exception is answered and logged, and the connection goes on."""
    shelf = Shelf("m")

    def broken(_name: str) -> None:
        raise ZeroDivisionError

    shelf.info = broken  # type: ignore[method-assign,assignment]
    async with serving(paths, Machine(), shelf), wire(paths) as client:
        await client.ask(1, "model/info", {"name": "m"})
        assert (-32000, "The daemon failed in model/info (ZeroDivisionError); `plgd logs` has the details.") == (
            await client.error(1)
        )
        await client.send(PING)
        assert (await client.answer(1))["result"] == {}


async def test_a_path_that_utf8_cannot_carry_is_escaped(paths: Paths, tmp_path: Path) -> None:
    """A file whose name is not UTF-8 can be edited through a link, and does not break the status."""
    real = tmp_path / os.fsdecode(b"caf\xe9.py")
    real.write_text("total = 1\n")
    (tmp_path / "link.py").symlink_to(real)
    machine = Machine(m=ScriptedModel("subtotal = 1\n```\n"))
    async with serving(paths, machine), wire(paths) as client:
        await client.ask(1, "edit", {"instruction": "x", "path": str(tmp_path / "link.py"), "mode": "apply"})
        result = (await client.answer(1))["result"]
        assert ("applied", f"{tmp_path}/caf\\udce9.py") == (result["status"], result["path"])
        await client.ask(2, "status")
        assert f"{tmp_path}/caf\\udce9.py" == (await client.answer(2))["result"]["documents"][0]["name"]
    assert real.read_text() == "subtotal = 1\n"
