"""Proposals under review, and what the daemon says of edits that are over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from plgd.documents.document import Document
from plgd.edits.write import replace_file
from plgd.errors import InvalidParams, ReadOnlyTarget, SessionUnknown, UnsavedChanges
from plgd.paths import Paths
from plgd.protocol.docs import example_result
from plgd.protocol.edits import EditStatus
from plgd.server.sessions import Sessions
from plgd.text.fingerprint import fingerprint
from scripted_model import ScriptedModel
from server.conversation import Wire, serving, wire
from server.files import names_in, protect, put, remove, text_of
from server.machine import Gate, GatedModel, Machine

pytestmark = pytest.mark.anyio

LINES = [f"line {number}\n" for number in range(1, 10)]
SOURCE = "".join(LINES)
# Three hunks: lines 2, 5 and 8.
NEW = "".join(line.upper() if number in {2, 5, 8} else line for number, line in enumerate(LINES, start=1))


def with_hunks(*wanted: int) -> str:
    """Return the text with some of the three hunks."""
    lines = [2, 5, 8]
    upper = {lines[hunk] for hunk in wanted}
    return "".join(line.upper() if number in upper else line for number, line in enumerate(LINES, start=1))


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to edit."""
    path = tmp_path / "lines.txt"
    path.write_text(SOURCE)
    return path


@asynccontextmanager
async def proposed(paths: Paths, source: Path, **more: object) -> AsyncIterator[tuple[Wire, str]]:
    """Let the daemon propose the three hunks for the file; gives a client and the session's id."""
    async with serving(paths, Machine(m=ScriptedModel(f"{NEW}```\n"))), wire(paths) as client:
        result = await ask(client, "edit", instruction="shout", path=str(source), **more)
        yield client, result["session"]


async def ask(client: Wire, method: str, **params: object) -> dict[str, Any]:
    """Return the result of a request."""
    await client.ask("ask", method, params)
    return dict((await client.answer("ask"))["result"])


async def refusal(client: Wire, method: str, **params: object) -> tuple[int, str]:
    """Return the code and message of a refusal."""
    await client.ask("ask", method, params)
    return await client.error("ask")


def states(result: dict[str, Any]) -> list[str]:
    """Return what was decided about each hunk."""
    return [hunk["state"] for hunk in result["hunks"]]


async def test_hunks_are_accepted_one_by_one(paths: Paths, source: Path) -> None:
    """Each accepted hunk is on disk when the answer comes, and the last decision ends the review."""
    async with proposed(paths, source) as (client, session):
        accepted = await ask(client, "edit/accept", session=session, hunks=[1])
        assert with_hunks(1) == text_of(source) == accepted["new_text"]
        assert ("applied", ["open", "accepted", "open"]) == (accepted["status"], states(accepted))
        assert fingerprint(SOURCE.encode()) == accepted["base_fingerprint"]
        assert "-line 5\n+LINE 5\n" in accepted["diff"]
        rejected = await ask(client, "edit/reject", session=session, hunks=[0])
        assert ("proposed", ["rejected", "accepted", "open"]) == (rejected["status"], states(rejected))
        assert "accepted" == rejected["file"]
        await ask(client, "edit/accept", session=session)
        assert with_hunks(1, 2) == text_of(source)
        after = await ask(client, "edit/status", session=session)
        assert ("applied", ["rejected", "accepted", "accepted"]) == (after["status"], states(after))
        assert fingerprint(text_of(source).encode()) == after["file_fingerprint"]


async def test_accepting_twice_changes_nothing(paths: Paths, source: Path) -> None:
    """A repeated accept finds the hunk on disk and says that there was nothing left to do."""
    async with proposed(paths, source) as (client, session):
        for status in ("applied", "no_change"):
            assert status == (await ask(client, "edit/accept", session=session, hunks=[2]))["status"]
            assert with_hunks(2) == text_of(source)


async def test_a_rejected_hunk_may_be_accepted_after_all(paths: Paths, source: Path) -> None:
    """Until it is on disk, a decision can be changed; afterwards it cannot."""
    async with proposed(paths, source) as (client, session):
        assert ["rejected"] * 3 == states(await ask(client, "edit/reject", session=session))
        await ask(client, "edit/accept", session=session, hunks=[0])
        assert with_hunks(0) == text_of(source)
        code, message = await refusal(client, "edit/reject", session=session, hunks=[0, 1])
        assert (InvalidParams.code, "edit/reject: hunk 0 was accepted before.") == (code, message)


async def test_accepted_hunks_move_with_the_file(paths: Paths, source: Path) -> None:
    """Lines that somebody inserted meanwhile stay, and the hunks land on their own lines."""
    async with proposed(paths, source) as (client, session):
        await ask(client, "edit/accept", session=session, hunks=[0])
        put(source, "new first line\n" + text_of(source))
        accepted = await ask(client, "edit/accept", session=session, hunks=[1, 2])
        assert "new first line\n" + NEW == text_of(source) == accepted["new_text"]
        assert "was moved" in accepted["warnings"][0]


async def test_a_conflict_tells_the_lines_of_all_sides(paths: Paths, source: Path) -> None:
    """Where somebody changed a hunk's line, nothing is written, the hunk stays open, and the lines are told."""
    async with proposed(paths, source) as (client, session):
        theirs = SOURCE.replace("line 5", "line five").replace("line 1\n", "")
        put(source, theirs)
        refused = await ask(client, "edit/accept", session=session)
        assert theirs == text_of(source)
        assert ("conflict", ["open"] * 3) == (refused["status"], states(refused))
        expected = {"first": 5, "last": 5, "file_first": 4}
        texts = {"base": "line 5\n", "file": "line five\n", "edit": "LINE 5\n"}
        # The line that was deleted stands beside the first hunk: that is the first place.
        assert 1 == refused["conflict"]["first"]
        refused = await ask(client, "edit/accept", session=session, hunks=[1])
        assert expected | texts == refused["conflict"]
        assert "other" == (await ask(client, "edit/status", session=session))["file"]


async def test_a_dry_run_decides_nothing(paths: Paths, source: Path) -> None:
    """A dry run of an accept answers what it would write, and neither the file nor the session changes."""
    async with proposed(paths, source) as (client, session):
        dry = await ask(client, "edit/accept", session=session, hunks=[0], dry_run=True)
        assert ("proposed", with_hunks(0), ["open"] * 3) == (dry["status"], dry["new_text"], states(dry))
        assert SOURCE == text_of(source)


async def test_the_status_says_what_the_disk_shows(paths: Paths, source: Path) -> None:
    """An applied edit whose file was changed, or removed, afterwards is not claimed to be there."""
    async with proposed(paths, source, mode="apply") as (client, session):
        status = await ask(client, "edit/status", session=session)
        assert ("applied", "accepted") == (status["status"], status["file"])
        for text, state in ((SOURCE, "base"), ("else\n", "other")):
            put(source, text)
            assert state == (await ask(client, "edit/status", session=session))["file"]
        remove(source)
        gone = await ask(client, "edit/status", session=session)
        assert ("missing", "") == (gone["file"], gone["file_fingerprint"])


async def test_an_edit_that_is_over_has_nothing_to_decide(paths: Paths, source: Path) -> None:
    """Only proposals are reviewed."""
    async with proposed(paths, source, mode="apply") as (client, session):
        code, message = await refusal(client, "edit/accept", session=session)
        assert (InvalidParams.code, True) == (code, "ended as applied" in message)


async def test_a_text_without_a_file_is_answered_whole(paths: Paths) -> None:
    """Accepted hunks of a buffer are put into its text; nothing is written anywhere."""
    async with serving(paths, Machine(m=ScriptedModel(f"{NEW}```\n"))), wire(paths) as client:
        session = (await ask(client, "edit", instruction="shout", text=SOURCE))["session"]
        accepted = await ask(client, "edit/accept", session=session, hunks=[0, 2])
        assert ("proposed", with_hunks(0, 2)) == (accepted["status"], accepted["new_text"])
        assert "none" == (await ask(client, "edit/status", session=session))["file"]


async def test_what_cannot_be_written_is_refused(paths: Paths, source: Path) -> None:
    """Hunks of a read-only file, and of one with unsaved changes in an editor, are not accepted."""
    async with proposed(paths, source) as (client, session):
        await ask(client, "document/open", uri=str(source), text="unsaved\n")
        assert UnsavedChanges.code == (await refusal(client, "edit/accept", session=session))[0]
        await ask(client, "document/close", uri=str(source))
        protect(source)
        assert ReadOnlyTarget.code == (await refusal(client, "edit/accept", session=session))[0]
        remove(source)
        assert "conflict" == (await ask(client, "edit/accept", session=session))["status"]


@pytest.mark.parametrize("method", ["edit/status", "edit/accept", "edit/reject"])
async def test_an_unknown_session_is_refused(method: str, paths: Paths) -> None:
    """A session that is not kept is told apart from one that failed."""
    async with serving(paths, Machine()), wire(paths) as client:
        assert SessionUnknown.code == (await refusal(client, method, session="nothing"))[0]


async def test_unknown_hunks_are_named(paths: Paths, source: Path) -> None:
    """A hunk that there is none of is named, and none of the request's is accepted."""
    async with proposed(paths, source) as (client, session):
        code, message = await refusal(client, "edit/accept", session=session, hunks=[0, 3, -1])
        assert (InvalidParams.code, True) == (code, "there is no hunk -1, 3; the session has 3" in message)
        assert SOURCE == text_of(source)


async def test_a_running_edit_has_a_status(paths: Paths, source: Path) -> None:
    """The session of an edit that runs, as `status` lists it, tells its stage."""
    gate = Gate(is_open=False)
    async with serving(paths, Machine(m=GatedModel(f"{NEW}```\n", gate))), wire(paths) as client:
        await client.ask(1, "edit", {"instruction": "shout", "path": str(source)})
        await client.note_of("edit/progress", stage="prefill")
        session = (await ask(client, "status"))["jobs"][0]["session"]
        running = await ask(client, "edit/status", session=session)
        assert ("prefill", None, "none") == (running["stage"], running["status"], running["file"])
        gate.open()
        await client.answer(1)
        over = await ask(client, "edit/status", session=session)
        assert (None, "proposed", "base") == (over["stage"], over["status"], over["file"])


async def test_a_dry_run_of_an_edit_writes_nothing(paths: Paths, source: Path) -> None:
    """With `apply`, a dry run makes the checks of a write and proposes; its hunks can be accepted then."""
    async with proposed(paths, source, mode="apply", dry_run=True) as (client, session):
        status = await ask(client, "edit/status", session=session)
        assert ("proposed", "base") == (status["status"], status["file"])
        await ask(client, "edit/accept", session=session)
        assert NEW == text_of(source)
        protect(source)
        code, _ = await refusal(client, "edit", instruction="x", path=str(source), mode="apply", dry_run=True)
        assert ReadOnlyTarget.code == code


@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_conflict_of_an_edit_tells_its_lines(dry_run: bool, paths: Paths, source: Path) -> None:
    """An edit, dry or not, that meets somebody else's change in its lines says what each side has there."""

    def change() -> None:
        put(source, SOURCE.replace("line 8", "line eight"))

    machine = Machine(m=ScriptedModel(f"{NEW}```\n", on_target=change))
    async with serving(paths, machine), wire(paths) as client:
        result = await ask(client, "edit", instruction="x", path=str(source), mode="apply", dry_run=dry_run)
        assert "conflict" == result["status"]
        places = {"first": 8, "last": 8, "file_first": 8}
        assert places | {"base": "line 8\n", "file": "line eight\n", "edit": "LINE 8\n"} == result["conflict"]
        assert "line eight" in text_of(source)


def kept(sessions: Sessions, session: str, text: str = "total = 0\n") -> None:
    """Keep a proposal."""
    result = replace(example_result(), session=session, new_text=text.upper(), status=EditStatus.PROPOSED)
    sessions.keep(Document.of_text(text, "a.txt"), result)


def is_known(sessions: Sessions, session: str) -> bool:
    """Ask for a session."""
    try:
        sessions.get(session)
    except SessionUnknown:
        return False
    return True


def test_sessions_are_bounded_by_number_and_use() -> None:
    """Of more than 64 sessions, those used longest ago are forgotten."""
    sessions = Sessions(lambda: 0.0)
    for number in range(64):
        kept(sessions, str(number))
    assert is_known(sessions, "0")
    kept(sessions, "64")
    assert (True, False, True) == (is_known(sessions, "0"), is_known(sessions, "1"), is_known(sessions, "2"))


def test_sessions_are_bounded_by_bytes() -> None:
    """Long texts push out older sessions; the newest stays, however long."""
    sessions = Sessions(lambda: 0.0, bytes_limit=10_000)
    for session in ("a", "b", "c"):
        kept(sessions, session, "x" * 1000 + "\n")
    assert (False, True) == (is_known(sessions, "a"), is_known(sessions, "c"))
    kept(sessions, "huge", "x" * 6000 + "\n")
    assert (False, True) == (is_known(sessions, "c"), is_known(sessions, "huge"))


def test_sessions_expire() -> None:
    """An hour after its last use a session is forgotten."""
    now = 0.0
    sessions = Sessions(lambda: now)
    kept(sessions, "a")
    kept(sessions, "b")
    now = 3000.0
    assert is_known(sessions, "a")
    now = 3700.0
    assert (True, False) == (is_known(sessions, "a"), is_known(sessions, "b"))


async def test_a_hunk_that_is_being_written_cannot_be_rejected(
    paths: Paths, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reject that comes while the hunk goes to disk waits, and is refused: what it would say is not so."""
    gate = Gate(is_open=False)

    def writing(path: Path, data: bytes, expected: str) -> bool:
        gate.pass_through()
        return replace_file(path, data, expected)

    monkeypatch.setattr("plgd.edits.apply.replace_file", writing)
    async with proposed(paths, source) as (client, session):
        await client.ask(1, "edit/accept", {"session": session, "hunks": [0]})
        await anyio.to_thread.run_sync(gate.wait_reached)
        await client.ask(2, "edit/reject", {"session": session, "hunks": [0]})
        await client.ask(3, "ping")
        assert 3 == (await client.read())["id"]
        gate.open()
        assert "applied" == (await client.answer(1))["result"]["status"]
        assert InvalidParams.code == (await client.error(2))[0]
        assert with_hunks(0) == text_of(source)


async def test_accepts_at_once_are_all_there(paths: Paths, source: Path) -> None:
    """Hunks that are accepted at the same time are all on disk afterwards, none over another."""
    async with proposed(paths, source) as (client, session):
        for hunk in range(3):
            await client.ask(hunk, "edit/accept", {"session": session, "hunks": [hunk]})
        answers = [await client.read() for _ in range(3)]
        assert {"applied"} == {answer["result"]["status"] for answer in answers}
        assert NEW == text_of(source)
        assert [source.name] == names_in(source.parent)
