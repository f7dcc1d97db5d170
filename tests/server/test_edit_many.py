"""Edits of several files on the socket: one after the other, or all or none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread

from edits.crashes import Crash, watched_disk
from edits.running import RepliesModel
from plgd.edits.journal import Journal
from plgd.edits.transaction import Replacement, replace_files
from plgd.errors import Cancelled, Conflict, FileMissing, TextTooLong, UnknownModel
from plgd.paths import Paths
from server.conversation import Wire, serving, wire
from server.files import names_in, put, text_of
from server.machine import Gate, Machine

pytestmark = pytest.mark.anyio

NAMES = ["a.py", "b.py", "c.py"]
GOOD = [f"{name[0]} = 2\n```\n" for name in NAMES]
OLD = [f"{name[0]} = 1\n" for name in NAMES]
NEW = [f"{name[0]} = 2\n" for name in NAMES]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Three files to edit."""
    found = [tmp_path / name for name in NAMES]
    for path, text in zip(found, OLD, strict=True):
        path.write_text(text)
    return found


def many(files: list[Path], **more: object) -> dict[str, object]:
    """Return the parameters of a request that edits all files."""
    return {"files": [{"instruction": "Count up.", "path": str(path), "mode": "apply"} for path in files], **more}


async def edit(client: Wire, files: list[Path], **more: object) -> dict[str, Any]:
    """Return the answer to such a request."""
    await client.ask("many", "edit/many", many(files, **more))
    return await client.answer("many")


def statuses(answer: dict[str, Any]) -> list[object]:
    """Return the files' statuses, or the codes of their errors."""
    return [
        each["result"]["status"] if each["result"] is not None else each["error"]["code"]
        for each in answer["result"]["files"]
    ]


async def cancel(client: Wire) -> None:
    """Cancel the request and wait until the daemon has heard of it: what comes after it is answered."""
    await client.note("$/cancelRequest", {"id": 1})
    await client.ask("ping", "ping")
    assert "result" in await client.answer("ping")


def waits_at(gate: Gate, reply: int) -> Callable[[], None]:
    """Return what lets the model wait at a gate before one of its replies, counted from 0."""
    begun: list[int] = []

    def wait() -> None:
        begun.append(1)
        if len(begun) == reply + 1:
            gate.pass_through()

    return wait


@pytest.mark.parametrize("all_or_nothing", [False, True])
async def test_several_files_are_edited(paths: Paths, files: list[Path], all_or_nothing: bool) -> None:
    """Each file has its own result; what is told meanwhile names the file; each edit is known by its session."""
    async with serving(paths, Machine(m=RepliesModel(GOOD))), wire(paths) as client:
        await client.ask("many", "edit/many", many(files, all_or_nothing=all_or_nothing))
        for place in range(3):
            assert (await client.note_of("edit/delta", file=place))["id"] == "many"
        answer = await client.answer("many")
        assert (True, ["applied"] * 3) == (answer["result"]["complete"], statuses(answer))
        assert [text_of(path) for path in files] == NEW
        for each in answer["result"]["files"]:
            await client.ask("status", "edit/status", {"session": each["result"]["session"]})
            assert (await client.answer("status"))["result"]["status"] == "applied"
    assert list(Journal(paths.journal_dir).left_behind()) == []


async def test_one_by_one_the_others_go_on(paths: Paths, files: list[Path]) -> None:
    """Without all-or-nothing, a file that cannot be edited stops no other, and its error is told in its place."""
    put(files[1], "b = 1\n" * 400)
    model = RepliesModel([GOOD[0], GOOD[2]])
    model.context_limit = 1500
    async with serving(paths, Machine(m=model)), wire(paths) as client:
        answer = await edit(client, files)
    assert (False, ["applied", TextTooLong.code, "applied"]) == (answer["result"]["complete"], statuses(answer))
    assert (NEW[0], NEW[2]) == (text_of(files[0]), text_of(files[2]))


async def test_all_or_nothing_one_stops_all(paths: Paths, files: list[Path]) -> None:
    """With all-or-nothing, no file is written, and what was made can still be accepted."""
    async with serving(paths, Machine(m=RepliesModel([GOOD[0], "", GOOD[2]]))), wire(paths) as client:
        answer = await edit(client, files, all_or_nothing=True)
        assert ["proposed", "rejected_output", "cancelled"] == statuses(answer)
        assert [text_of(path) for path in files] == OLD
        session = answer["result"]["files"][0]["result"]["session"]
        await client.ask("accept", "edit/accept", {"session": session})
        assert "result" in await client.answer("accept")
    assert [text_of(path) for path in files] == [NEW[0], *OLD[1:]]


@pytest.mark.parametrize("all_or_nothing", [False, True])
async def test_a_mistake_is_told_at_once(paths: Paths, files: list[Path], all_or_nothing: bool) -> None:
    """A file that is not there refuses the request, and nothing is loaded or written."""
    machine = Machine(m=RepliesModel(GOOD))
    async with serving(paths, machine), wire(paths) as client:
        await client.ask(1, "edit/many", many([files[0], files[0].with_name("no.py")], all_or_nothing=all_or_nothing))
        assert (await client.error(1))[0] == FileMissing.code
        await client.ask(2, "edit/many", {"files": [{"instruction": "x", "path": str(files[0]), "model": "unknown"}]})
        assert (await client.error(2))[0] == UnknownModel.code
    assert machine.loads == []
    assert text_of(files[0]) == OLD[0]


async def test_cancelling_all_or_nothing(paths: Paths, files: list[Path]) -> None:
    """A request that is cancelled while a file is edited has written none."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=RepliesModel(GOOD, waits_at(gate, 1)))), wire(paths) as client:
        await client.ask(1, "edit/many", many(files, all_or_nothing=True))
        await to_thread.run_sync(gate.wait_reached)
        await cancel(client)
        gate.open()
        assert (Cancelled.code, Cancelled().message) == await client.error(1)
    assert [text_of(path) for path in files] == OLD


async def test_cancelling_one_by_one(paths: Paths, files: list[Path]) -> None:
    """A request that is cancelled after a file was written says so; the others are untouched."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=RepliesModel(GOOD, waits_at(gate, 1)))), wire(paths) as client:
        await client.ask(1, "edit/many", many(files))
        await to_thread.run_sync(gate.wait_reached)
        await cancel(client)
        gate.open()
        answer = await client.answer(1)
    assert ["applied", Cancelled.code, Cancelled.code] == statuses(answer)
    assert [text_of(path) for path in files] == [NEW[0], *OLD[1:]]


async def test_cancelling_before_anything_is_written(paths: Paths, files: list[Path]) -> None:
    """A request that is cancelled before a file was written is answered with the error."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=RepliesModel(GOOD, waits_at(gate, 0)))), wire(paths) as client:
        await client.ask(1, "edit/many", many(files))
        await to_thread.run_sync(gate.wait_reached)
        await cancel(client)
        gate.open()
        assert (await client.error(1))[0] == Cancelled.code
    assert [text_of(path) for path in files] == OLD


@pytest.mark.parametrize("all_or_nothing", [False, True])
async def test_a_repeated_request_is_done_once(paths: Paths, files: list[Path], all_or_nothing: bool) -> None:
    """The same key gives the same answer, also from the next daemon."""
    asked = {"all_or_nothing": all_or_nothing, "idempotency_key": "k"}
    async with serving(paths, Machine(m=RepliesModel(GOOD))), wire(paths) as client:
        first = await edit(client, files, **asked)
        assert first == await edit(client, files, **asked)
    later = Machine(m=RepliesModel([]))
    async with serving(paths, later), wire(paths) as client:
        assert first == await edit(client, files, **asked)
    assert later.loads == []


async def test_a_promise_that_was_kept_in_part(paths: Paths, files: list[Path]) -> None:
    """A repeated request whose daemon died between two files is not carried out again: a file is named instead."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=RepliesModel(GOOD, waits_at(gate, 2)))), wire(paths) as client:
        await client.ask(1, "edit/many", many(files, idempotency_key="k"))
        await to_thread.run_sync(gate.wait_reached)
        kept = {path: path.read_bytes() for path in paths.replies_dir.iterdir()}
        gate.open()
        await client.answer(1)
    for path, data in kept.items():
        path.write_bytes(data)  # as it was when the third file's turn came
    put(files[1], OLD[1])
    async with serving(paths, Machine(m=RepliesModel([]))), wire(paths) as client:
        await client.ask(1, "edit/many", many(files, idempotency_key="k"))
        code, message = await client.error(1)
    assert (Conflict.code, True) == (code, str(files[1]) in message)


async def test_what_a_daemon_left_is_finished_before_anybody_is_answered(
    paths: Paths, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that starts after one that died in the middle of the renames finishes them before its first answer."""
    paths.runtime_dir.mkdir(mode=0o700)
    replacements = [
        Replacement(path.resolve(), old.encode(), new.encode()) for path, old, new in zip(files, OLD, NEW, strict=True)
    ]
    renames = _renames(replacements, files, paths, monkeypatch)
    with watched_disk(monkeypatch, dies_at=renames[1]), pytest.raises(Crash):
        replace_files(replacements, Journal(paths.journal_dir))
    assert [text_of(path) for path in files] == [NEW[0], *OLD[1:]]
    async with serving(paths, Machine()), wire(paths):
        assert [text_of(path) for path in files] == NEW
    assert len(names_in(files[0].parent)) == 3


def _renames(
    replacements: list[Replacement], files: list[Path], paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> list[int]:
    """Return which calls of the system are the renames."""
    with watched_disk(monkeypatch) as disk:
        replace_files(replacements, Journal(paths.journal_dir))
    for path, text in zip(files, OLD, strict=True):
        put(path, text)
    return [number for number, (name, _) in enumerate(disk.calls) if name == "replace"]
