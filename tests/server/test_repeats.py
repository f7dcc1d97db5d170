"""Requests with an idempotency key are carried out once."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from plgd.edits.write import replace_file
from plgd.errors import Conflict, FileMissing, KeyReused, WriteFailed
from plgd.paths import Paths, private_folder
from plgd.server.kept_replies import KeptReplies, Promised
from plgd.text.fingerprint import fingerprint
from scripted_model import ScriptedModel
from server.conversation import Wire, serving, wire
from server.files import move, names_in, put, text_of
from server.machine import Gate, GatedModel, Machine

pytestmark = pytest.mark.anyio

REPLACE_FILE = "plgd.edits.apply.replace_file"
SOURCE = "total = 1\n"
RENAMED = "subtotal = 1\n"
REPLY = f"{RENAMED}```\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to edit."""
    path = tmp_path / "sum.py"
    path.write_text(SOURCE)
    return path


def edit_of(path: Path, key: str = "k", **more: object) -> dict[str, object]:
    """Return the parameters of an edit with a key."""
    return {"instruction": "rename", "path": str(path), "mode": "apply", "idempotency_key": key, **more}


async def edit(client: Wire, path: Path, key: str = "k", **more: object) -> dict[str, Any]:
    """Return the answer to an edit with a key."""
    await client.ask("edit", "edit", edit_of(path, key, **more))
    return await client.answer("edit")


def model() -> ScriptedModel:
    """A model that renames."""
    return ScriptedModel(REPLY)


async def test_a_repeated_request_gets_the_first_reply(paths: Paths, source: Path) -> None:
    """The second request under a key gets the first one's result, byte by byte, and the file is not edited again."""
    scripted = model()
    async with serving(paths, Machine(m=scripted)), wire(paths) as client:
        first = await edit(client, source)
        put(source, "mine\n")
        assert first == await edit(client, source)
        assert (1, "mine\n") == (len(scripted.targets), text_of(source))
        assert first["result"]["session"] != (await edit(client, source, "another"))["result"]["session"]


async def test_the_next_daemon_knows_the_reply(paths: Paths, source: Path) -> None:
    """A daemon that was started after the first request gives the first one's reply."""
    async with serving(paths, Machine(m=model())), wire(paths) as client:
        first = await edit(client, source)
    later = Machine(m=model())
    async with serving(paths, later), wire(paths) as client:
        assert first == await edit(client, source)
    assert [] == later.loads


async def test_a_key_belongs_to_one_request(paths: Paths, source: Path) -> None:
    """The same key with other parameters is refused, also while the first request runs and after a restart."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await anyio.to_thread.run_sync(gate.wait_reached)
        assert KeyReused.code == (await edit(client, source, instruction="else"))["error"]["code"]
        gate.open()
        await client.answer(1)
        assert KeyReused.code == (await edit(client, source, mode="propose"))["error"]["code"]
    async with serving(paths, Machine(m=model())), wire(paths) as client:
        assert KeyReused.code == (await edit(client, source, max_tokens=99))["error"]["code"]


async def test_the_order_of_fields_does_not_tell_requests_apart(paths: Paths, source: Path) -> None:
    """A request is the same however its fields are ordered, those named by a token included."""
    async with serving(paths, Machine(m=model())), wire(paths) as client:
        first = await edit(client, source, sampling={"logit_bias": {"7": 1, "11": 2}, "seed": 3})
        assert first == await edit(client, source, sampling={"seed": 3, "logit_bias": {"11": 2, "7": 1}})
        other = await edit(client, source, sampling={"seed": 3, "logit_bias": {"11": 1, "7": 2}})
    assert ("applied", KeyReused.code) == (first["result"]["status"], other["error"]["code"])


async def test_a_repeat_waits_for_the_first_run(paths: Paths, source: Path) -> None:
    """A request whose first run is still going, on whichever connection, gets its reply when it ends."""
    gate = Gate(is_open=False)
    scripted = GatedModel(REPLY, gate)
    async with serving(paths, Machine(m=scripted)), wire(paths) as client, wire(paths) as other:
        await client.ask(1, "edit", edit_of(source))
        await anyio.to_thread.run_sync(gate.wait_reached)
        await other.ask(2, "edit", edit_of(source))
        await other.ask(3, "ping")
        assert {"jsonrpc": "2.0", "id": 3, "result": {}} == await other.read()
        gate.open()
        assert (await client.answer(1))["result"] == (await other.answer(2))["result"]
        assert 1 == len(scripted.targets)


async def test_a_repeat_takes_over_when_the_first_is_cancelled(paths: Paths, source: Path) -> None:
    """A cancelled run leaves no reply: who waited for it carries the request out."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as client, wire(paths) as other:
        await client.ask(1, "edit", edit_of(source))
        await anyio.to_thread.run_sync(gate.wait_reached)
        await other.ask(2, "edit", edit_of(source))
        await client.note("$/cancelRequest", {"id": 1})
        await client.ask(3, "ping")
        await client.answer(3)
        gate.open()
        assert "applied" == (await other.answer(2))["result"]["status"]


async def test_a_replaced_edit_leaves_no_reply(paths: Paths, source: Path) -> None:
    """An edit whose place a newer one took was not made: its repeat is carried out."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(REPLY, gate))), wire(paths) as client:
        await client.ask(1, "edit", edit_of(source))
        await anyio.to_thread.run_sync(gate.wait_reached)
        await client.ask(2, "edit", {"instruction": "newer", "path": str(source)})
        await client.note_of("edit/progress", id=2)
        gate.open()
        assert "cancelled" == (await client.answer(1))["result"]["status"]
        assert "applied" == (await edit(client, source))["result"]["status"]


async def test_what_was_written_is_answered_and_kept_despite_a_cancel(
    paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancel that comes when the file has its new text is too late: the result says so, and a repeat gets it."""
    gate = Gate(is_open=False)

    def writing(path: Path, data: bytes, expected: str) -> bool:
        replaced = replace_file(path, data, expected)
        gate.pass_through()
        return replaced

    monkeypatch.setattr(REPLACE_FILE, writing)
    async with serving(paths, Machine(m=model())), wire(paths) as client:
        await client.ask("edit", "edit", edit_of(source))
        await anyio.to_thread.run_sync(gate.wait_reached)
        await client.note("$/cancelRequest", {"id": "edit"})
        await client.ask(2, "ping")
        await client.answer(2)
        gate.open()
        first = await client.answer("edit")
        assert "applied" == first["result"]["status"]
        assert first == await edit(client, source)


async def test_a_failed_write_promises_nothing(paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk refused the new text, the repeat is carried out, whatever the file holds by then."""

    def full(path: Path, _data: bytes, _expected: str) -> bool:
        raise WriteFailed.at(str(path), "no space left on device")

    async with serving(paths, Machine(m=model())), wire(paths) as client:
        with monkeypatch.context() as patch:
            patch.setattr(REPLACE_FILE, full)
            assert WriteFailed.code == (await edit(client, source))["error"]["code"]
        put(source, "total = 3\n")
        assert "applied" == (await edit(client, source))["result"]["status"]
    assert RENAMED == text_of(source)


async def test_an_error_is_no_reply(paths: Paths, source: Path) -> None:
    """A request that was refused can be repeated under its key when the cause is gone."""
    async with serving(paths, Machine(m=model())), wire(paths) as client:
        move(source, source.with_suffix(".away"))
        assert FileMissing.code == (await edit(client, source))["error"]["code"]
        move(source.with_suffix(".away"), source)
        assert "applied" == (await edit(client, source))["result"]["status"]


@pytest.mark.parametrize("moment", ["before the rename", "after the rename"])
async def test_a_daemon_that_died_between_write_and_reply(
    moment: str, paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the file has its new text the repeat says so; when it has the old one, the request is carried out."""
    real = replace_file

    def dying(path: Path, data: bytes, expected: str) -> bool:
        if moment == "after the rename":
            real(path, data, expected)
        raise RuntimeError

    monkeypatch.setattr(REPLACE_FILE, dying)
    async with serving(paths, Machine(m=model())), wire(paths) as client:
        assert "error" in await edit(client, source)
    monkeypatch.setattr(REPLACE_FILE, real)
    later = Machine(m=model())
    async with serving(paths, later), wire(paths) as client:
        result = (await edit(client, source))["result"]
        assert ("applied", RENAMED, RENAMED) == (result["status"], result["new_text"], text_of(source))
    assert (["m"] if moment == "before the rename" else []) == later.loads


async def test_a_third_text_after_a_crash_is_a_conflict(
    paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When nobody can say whether the first run wrote the file, the repeat says that, and does nothing."""

    def dying(_path: Path, _data: bytes, _expected: str) -> bool:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(REPLACE_FILE, dying)
        async with serving(paths, Machine(m=model())), wire(paths) as client:
            await edit(client, source)
    put(source, "somebody else's\n")
    async with serving(paths, Machine(m=model())), wire(paths) as client:
        error = (await edit(client, source))["error"]
    assert (Conflict.code, True) == (error["code"], "when the daemon died" in error["message"])
    assert "somebody else's\n" == text_of(source)


async def test_nothing_is_written_that_cannot_be_remembered(
    paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the disk does not take the reply, the file is left as it is and the request may be repeated."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async with serving(paths, Machine(m=model())), wire(paths) as client:
        with monkeypatch.context() as patch:
            patch.setattr(KeptReplies, "keep", full)
            error = (await edit(client, source))["error"]
        assert (WriteFailed.code, True) == (error["code"], "reply cannot be kept" in error["message"])
        assert SOURCE == text_of(source)
        assert "applied" == (await edit(client, source))["result"]["status"]


async def test_replies_are_their_owners_alone(paths: Paths, source: Path) -> None:
    """Kept replies hold the user's text: only the user can read them."""
    async with serving(paths, Machine(m=model())), wire(paths) as client:
        await edit(client, source)
    [kept] = paths.replies_dir.iterdir()
    assert (0o700, 0o600) == (paths.replies_dir.stat().st_mode & 0o777, kept.stat().st_mode & 0o777)


def test_replies_expire_after_an_hour(tmp_path: Path) -> None:
    """A reply that is older than an hour is not given, and its file goes with the next one."""
    now = 1000.0
    replies = KeptReplies(tmp_path / "replies", lambda: now)
    replies.keep("a", "r", b"{}")
    now += 3599
    assert b"{}" == replies.find("a", "r")
    now += 2
    assert replies.find("a", "r") is None
    replies.keep("b", "r", b"{}")
    assert 1 == len(names_in(tmp_path / "replies"))


async def test_a_daemon_removes_what_is_too_old_when_it_starts(paths: Paths) -> None:
    """Old replies do not lie about until the next request with a key."""
    private_folder(paths.runtime_dir)
    replies = KeptReplies(paths.replies_dir, lambda: 1000.0)
    replies.keep("a", "r", b"{}")
    assert 1 == len(names_in(paths.replies_dir))
    async with serving(paths, Machine()), wire(paths):
        assert [] == names_in(paths.replies_dir)


def test_replies_are_bounded(tmp_path: Path) -> None:
    """Of more replies, or of more bytes, than the limits, the oldest are removed; the newest stays, however long."""
    now = 0.0
    replies = KeptReplies(tmp_path, lambda: now, limit=3, bytes_limit=1000)

    def known(*keys: str) -> list[bool]:
        return [replies.find(key, "r") is not None for key in keys]

    for number in range(4):
        now += 1
        replies.keep(str(number), "r", b"{}")
    assert [False, True, True, True] == known("0", "1", "2", "3")
    for key in ("long", "longer"):
        now += 1
        replies.keep(key, "r", json.dumps("x" * 900).encode())
    assert [False, False, True] == known("3", "long", "longer")
    now += 1
    replies.keep("too long", "r", json.dumps("x" * 2000).encode())
    assert [False, True] == known("longer", "too long")


async def test_a_reply_of_another_version_that_cannot_be_read(paths: Paths, source: Path) -> None:
    """A repeat whose kept reply is of a type that this version does not know is refused and not carried out twice."""
    async with serving(paths, Machine(m=model())), wire(paths) as client:
        await edit(client, source)
        put(source, "mine\n")
        [kept] = paths.replies_dir.iterdir()
        kept.write_bytes(kept.read_bytes().replace(b'"status":"applied"', b'"status":"half applied"'))
        refused = (await edit(client, source))["error"]
    assert (KeyReused.by_another_version("k").message, "mine\n") == (refused["message"], text_of(source))


@pytest.mark.parametrize("content", [b"", b"\xff", b'{"request":1}', b"[" * 100_000])
def test_a_damaged_reply_is_no_reply(content: bytes, tmp_path: Path) -> None:
    """What cannot be read is carried out again instead of failing the request for an hour."""
    replies = KeptReplies(tmp_path)
    replies.keep("a", "r", b"{}")
    [kept] = tmp_path.iterdir()
    kept.write_bytes(content)
    assert replies.find("a", "r") is None


def test_a_promise_of_several_files_is_kept_by_all_of_them(tmp_path: Path) -> None:
    """A reply about two files stands when both have their new text; with one of them, nobody can say."""
    files = [tmp_path / "a", tmp_path / "b"]
    promised = [Promised(os.fsencode(each), fingerprint(b"old"), fingerprint(b"new")) for each in files]
    replies = KeptReplies(tmp_path / "replies")
    replies.keep("k", "r", b"{}", promised)
    for each in files:
        each.write_bytes(b"old")
    assert replies.find("k", "r") is None
    files[0].write_bytes(b"new")
    with pytest.raises(Conflict, match=str(files[1])):
        replies.find("k", "r")
    files[1].write_bytes(b"new")
    assert b"{}" == replies.find("k", "r")
