"""Open documents over the socket: an editor's text wins over the disk, and what is warm is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from plgd.config import Config, EngineConfig, WarmConfig
from plgd.documents import open as open_documents
from plgd.errors import Cancelled, DocumentNotOpen, InvalidParams, NotText, OutOfSync, UnsavedChanges
from plgd.paths import Paths
from plgd.text.fingerprint import fingerprint
from scripted_model import ScriptedModel
from server.conversation import Wire, serving, wire
from server.machine import Machine, Shelf

pytestmark = pytest.mark.anyio

# Idle work would be done at a moment that no test can know.
QUIET = Config(warm=WarmConfig(quiet_s=3600.0))
REPLY = "x = 2\n```\n"


@pytest.fixture
def machine() -> Machine:
    """A machine whose model says the same whatever it is asked."""
    return Machine(m=ScriptedModel(REPLY))


async def result(client: Wire, method: str, **params: object) -> dict[str, Any]:
    """Ask, and return the result."""
    await client.ask(method, method, params)
    answer = await client.answer(method)
    assert "result" in answer, answer
    return dict(answer["result"])


async def refusal(client: Wire, method: str, **params: object) -> int:
    """Ask, and return the code of the refusal."""
    await client.ask(method, method, params)
    return (await client.error(method))[0]


def change(text: str, line: int, character: int) -> dict[str, object]:
    """Put a text at a place."""
    place = {"line": line, "character": character}
    return {"text": text, "range": {"start": place, "end": place}}


async def test_a_document_is_opened_changed_and_closed(paths: Paths, machine: Machine, tmp_path: Path) -> None:
    """Every answer tells the text that the daemon holds by its version and fingerprint."""
    uri = (tmp_path / "a.py").as_uri()
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        opened = await result(client, "document/open", uri=uri, text="x = 1\n", version=1)
        assert fingerprint(b"x = 1\n") == opened["fingerprint"]
        assert str((tmp_path / "a.py").resolve()) == opened["path"]
        changed = await result(client, "document/change", uri=uri, version=2, changes=[change("😀", 0, 5)])
        assert 2 == changed["version"]
        changes = [change("y", 0, 7)]
        expected = fingerprint("x = 1😀y\n".encode())
        await result(client, "document/change", uri=uri, version=3, changes=changes, fingerprint=expected)
        (listed,) = (await result(client, "document/list"))["documents"]
        assert (3, expected, 2) == (listed["version"], listed["fingerprint"], listed["n_lines"])
        await result(client, "document/close", uri=uri)
        assert [] == (await result(client, "document/list"))["documents"]


async def test_an_editors_text_wins(paths: Paths, machine: Machine, tmp_path: Path) -> None:
    """An edit by path or URI is of the text that the editor holds, not of the one on disk."""
    path = tmp_path / "a.py"
    path.write_text("disk = 1\n")
    async with serving(paths, machine, config=QUIET), wire(paths) as client, wire(paths) as other:
        await result(client, "document/open", uri=path.as_uri(), text="x = 1\n", version=1)
        expected = fingerprint(b"x = 1\n")
        for who, asked in (
            (client, {"uri": path.as_uri()}),
            (client, {"path": str(path)}),
            (other, {"path": str(path)}),
        ):
            done = await result(who, "edit", instruction="two", base_fingerprint=expected, **asked)
            assert ("proposed", expected) == (done["status"], done["base_fingerprint"])
            assert "x = 2\n" == done["new_text"]
        await result(client, "document/close", uri=path.as_uri())
        done = await result(other, "edit", instruction="two", path=str(path))
        assert fingerprint(b"disk = 1\n") == done["base_fingerprint"]
    assert "disk = 1\n" == path.read_text()


async def test_unsaved_changes_are_not_overwritten(paths: Paths, machine: Machine, tmp_path: Path) -> None:
    """An edit is written to a file only while its editor holds what is on disk."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    async with serving(paths, machine, config=QUIET), wire(paths) as client, wire(paths) as other:
        await result(client, "document/open", uri=path.as_uri(), text="x = 1\n", version=1)
        await result(client, "document/change", uri=path.as_uri(), version=2, changes=[change("y", 0, 0)])
        code = await refusal(other, "edit", instruction="two", path=str(path), mode="apply")
        assert UnsavedChanges.code == code
        assert "x = 1\n" == path.read_text()
        await result(client, "document/change", uri=path.as_uri(), version=3, changes=[{"text": "x = 1\n"}])
        done = await result(other, "edit", instruction="two", path=str(path), mode="apply")
        assert "applied" == done["status"]
    assert "x = 2\n" == path.read_text()


async def test_a_text_without_a_file(paths: Paths, machine: Machine) -> None:
    """A buffer that was never saved can be edited, but not written."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        await result(client, "document/open", uri="untitled:1", text="x = 1\n")
        done = await result(client, "edit", instruction="two", uri="untitled:1")
        assert ("proposed", "x = 2\n") == (done["status"], done["new_text"])
        code = await refusal(client, "edit", instruction="two", uri="untitled:1", mode="apply")
        assert InvalidParams.code == code


async def test_a_named_buffer_is_told_of(paths: Paths, machine: Machine) -> None:
    """A buffer that its editor gives a name is listed with what is warm of it, and the status calls it open."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        await result(client, "document/open", uri="untitled:1", name="new.py", text="x = 1\n")
        done = await result(client, "edit", instruction="two", uri="untitled:1")
        (listed,) = (await result(client, "document/list"))["documents"]
        (told,) = (await result(client, "status"))["documents"]
        assert 0 < listed["warm_tokens"] == told["warm_tokens"] < done["stats"]["prompt_tokens"]
        assert ("new.py", True) == (told["name"], told["is_open"])


async def test_a_client_that_leaves_closes_its_documents(paths: Paths, machine: Machine, tmp_path: Path) -> None:
    """When an editor dies, its unsaved text does not outlive it."""
    path = tmp_path / "a.py"
    path.write_text("disk = 1\n")
    async with serving(paths, machine, config=QUIET), wire(paths) as other:
        async with wire(paths) as client:
            await result(client, "document/open", uri=path.as_uri(), text="x = 1\n")
        while (await result(other, "document/list"))["documents"]:
            pass  # the daemon hears of the end when it hears of it
        done = await result(other, "edit", instruction="two", path=str(path))
        assert fingerprint(b"disk = 1\n") == done["base_fingerprint"]


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"version": 1, "changes": [change("x", 0, 0)]}, OutOfSync),
        ({"version": 2, "changes": [change("x", 9, 0)]}, OutOfSync),
        ({"version": 2, "changes": [change("x\0", 0, 0)]}, NotText),
        ({"version": 2, "changes": [change("x", -1, 0)]}, InvalidParams),
        ({"version": 2}, InvalidParams),
        ({"version": 2, "changes": [], "uri": "untitled:2"}, DocumentNotOpen),
    ],
)
async def test_bad_changes(paths: Paths, machine: Machine, params: dict[str, object], error: type[Any]) -> None:
    """A change that cannot be made is an error that says why, and opening again helps."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=1)
        assert error.code == await refusal(client, "document/change", **{"uri": "untitled:1", **params})
        await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=1)
        done = await result(client, "edit", instruction="two", uri="untitled:1")
        assert "x = 2\n" == done["new_text"]


HALVES = [
    ([change("a\ud83dz", 0, 0)], "field `changes[0].text`"),
    ([change("\ude00", 0, 0)], "field `changes[0].text`"),
    ([change("x", 0, 0), {"text": "\ud83d"}], "field `changes[1].text`"),
    ([change("\ud83d", 0, 0), change("\ude00", 0, 1)], "field `changes[0].text`"),
]


async def send_half(client: Wire, method: str, request_id: int | str | None, **params: object) -> None:
    """Send a request, or without an id a notification, as JavaScript and Python write half a surrogate pair."""
    named = {} if request_id is None else {"id": request_id}
    await client.send(json.dumps({"jsonrpc": "2.0", **named, "method": method, "params": params}).encode())


async def open_again(client: Wire) -> None:
    """See that a document takes no change until it is opened again."""
    await client.ask("next", "document/change", {"uri": "untitled:1", "version": 3, "changes": [change("y", 0, 0)]})
    code, words = await client.error("next")
    assert (OutOfSync.code, True) == (code, words.endswith("open the document again."))
    assert OutOfSync.code == await refusal(client, "edit", instruction="two", uri="untitled:1")
    await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=4)
    await result(client, "document/change", uri="untitled:1", version=5, changes=[change("y", 0, 0)])
    assert "x = 2\n" == (await result(client, "edit", instruction="two", uri="untitled:1"))["new_text"]


@pytest.mark.parametrize("request_id", [7, "seven", None])
@pytest.mark.parametrize(("changes", "where"), HALVES)
async def test_half_a_character_in_a_change(
    paths: Paths, machine: Machine, request_id: int | str | None, changes: list[object], where: str
) -> None:
    """A change with half a surrogate pair is refused under its id, and no later one is made of the text before it."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        await client.ask("opened", "document/open", {"uri": "untitled:1", "text": "x = 1\n", "version": 1})
        await send_half(client, "document/change", request_id, uri="untitled:1", version=2, changes=changes)
        code, words = await client.error(request_id)
        assert InvalidParams.code == code
        assert words.startswith(f"document/change: half a surrogate pair, which is no text ({where});")
        assert words.endswith("The change was not made; open the document again.")
        await open_again(client)


@pytest.mark.parametrize("request_id", [7, "seven"])
async def test_half_a_character_in_a_text_that_is_opened(paths: Paths, machine: Machine, request_id: int | str) -> None:
    """Nothing is opened, and what was open under the name before is not the editor's text any more."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        await send_half(client, "document/open", request_id, uri="untitled:1", text="\ude00", version=1)
        code, words = await client.error(request_id)
        assert (InvalidParams.code, True) == (code, "(field `text`)" in words)
        assert words.endswith("Nothing was opened; open the document again.")
        assert [] == (await result(client, "document/list"))["documents"]
        assert DocumentNotOpen.code == await refusal(
            client, "document/change", uri="untitled:1", version=2, changes=[change("y", 0, 0)]
        )
        await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=1)
        await send_half(client, "document/open", request_id, uri="untitled:1", text="\ude00", version=2)
        assert InvalidParams.code == (await client.error(request_id))[0]
        await open_again(client)


async def test_half_a_character_elsewhere(paths: Paths, machine: Machine) -> None:
    """Any request with half a surrogate pair is refused under its id, and leaves other documents alone."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=1)
        await send_half(client, "edit", 1, uri="untitled:1", instruction="\ud83d")
        await send_half(client, "ping", 2, more="\ud83d")
        await send_half(client, "document/change", 3, uri="untitled:1\ud83d", version=2, changes=[])
        await send_half(client, "document/change", "\ud83d", uri="untitled:2", version=2, changes=[])
        for request_id in (1, 2, 3, None):
            assert InvalidParams.code == (await client.error(request_id))[0]
        await result(client, "document/change", uri="untitled:1", version=2, changes=[change("y", 0, 0)])


async def test_a_change_that_cannot_be_read(paths: Paths, machine: Machine) -> None:
    """After a change with a wrong type, or bytes that are no UTF-8, nothing is guessed either."""
    head = b'{"jsonrpc":"2.0","id":1,"method":"document/change","params":{"uri":"untitled:1","version":2,"changes":'
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        for changes in (b"5", b'[{"text":"\xed\xa0\xbd"}]'):
            await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=1)
            await client.send(head + changes + b"}}")
            code, words = await client.error(1)
            assert (InvalidParams.code, True) == (code, words.endswith("open the document again."))
            await open_again(client)


async def test_changes_in_a_burst_keep_their_order(paths: Paths, machine: Machine) -> None:
    """Changes that arrive together are made in the order in which they were sent, and an edit behind them sees all."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        await result(client, "document/open", uri="untitled:1", text="\n", version=0)
        for number in range(1, 1001):
            params = {"uri": "untitled:1", "version": number, "changes": [change(str(number % 10), 0, number - 1)]}
            await client.ask(number, "document/change", params)
        for number in range(1, 1001):
            assert "result" in await client.answer(number)
        (listed,) = (await result(client, "document/list"))["documents"]
        expected = "".join(str(number % 10) for number in range(1, 1001)) + "\n"
        assert fingerprint(expected.encode()) == listed["fingerprint"]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes that pause before each of their edits, as long ones do every few milliseconds."""
    monkeypatch.setattr(open_documents, "PORTION_S", 0.0)


async def begin_long_change(client: Wire, version: int, n_changes: int = 3000) -> None:
    """Send a long change of `untitled:1`; it is under way when this returns."""
    changes = [change("a", 0, 0)] * n_changes
    await client.ask("long", "document/change", {"uri": "untitled:1", "version": version, "changes": changes})
    await client.ask("behind", "ping")  # a quick request is answered when those before it have begun
    assert "behind" == (await client.read())["id"]


@pytest.mark.usefixtures("pauses")
async def test_others_are_answered_during_a_long_change(paths: Paths, machine: Machine) -> None:
    """While thousands of changes of one message are made, others are answered, and see the text before them."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client, wire(paths) as other:
        await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=1)
        await begin_long_change(client, 2)
        await result(other, "ping")
        (listed,) = (await result(other, "document/list"))["documents"]
        assert (1, fingerprint(b"x = 1\n")) == (listed["version"], listed["fingerprint"])
        assert 2 == (await client.answer("long"))["result"]["version"]
        (listed,) = (await result(other, "document/list"))["documents"]
        assert (2, fingerprint(b"a" * 3000 + b"x = 1\n")) == (listed["version"], listed["fingerprint"])


@pytest.mark.usefixtures("pauses")
async def test_what_is_asked_behind_a_long_change_sees_it(paths: Paths, machine: Machine) -> None:
    """A change, a list and an edit that a client sends behind a long change are of the text that it makes."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=1)
        await begin_long_change(client, 2)
        params = {"uri": "untitled:1", "version": 3, "changes": [change("b", 0, 3000)]}
        await client.ask("next", "document/change", params)
        await client.ask("list", "document/list")
        await client.ask("edit", "edit", {"uri": "untitled:1", "instruction": "two"})
        answers: dict[str, Any] = {}
        while answers.keys() != {"long", "next", "list", "edit"}:
            message = await client.read()
            if "method" not in message:
                answers[message["id"]] = message["result"]
        expected = fingerprint(b"a" * 3000 + b"bx = 1\n")
        assert (2, 3) == (answers["long"]["version"], answers["next"]["version"])
        assert [expected] == [listed["fingerprint"] for listed in answers["list"]["documents"]]
        assert expected == answers["edit"]["base_fingerprint"]


@pytest.mark.usefixtures("pauses")
async def test_a_long_change_that_is_cancelled(paths: Paths, machine: Machine) -> None:
    """Of a change that is cancelled nothing is made; the document is out of step until it is opened again."""
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=1)
        await begin_long_change(client, 2)
        await client.note("$/cancelRequest", {"id": "long"})
        assert Cancelled.code == (await client.error("long"))[0]
        params: dict[str, Any] = {"uri": "untitled:1", "version": 3, "changes": [change("b", 0, 0)]}
        assert OutOfSync.code == await refusal(client, "document/change", **params)
        await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=4)
        assert "x = 2\n" == (await result(client, "edit", instruction="two", uri="untitled:1"))["new_text"]


@pytest.mark.usefixtures("pauses")
async def test_a_client_that_leaves_during_a_long_change(paths: Paths, machine: Machine) -> None:
    """A change whose client is gone is made no further, and its document is closed."""
    async with serving(paths, machine, config=QUIET), wire(paths) as other:
        async with wire(paths) as client:
            await result(client, "document/open", uri="untitled:1", text="x = 1\n", version=1)
            await begin_long_change(client, 2)
        while listed := (await result(other, "document/list"))["documents"]:
            assert 1 == listed[0]["version"]


async def test_warm_means_the_next_edit_begins_behind_the_text(paths: Paths, machine: Machine, tmp_path: Path) -> None:
    """After document/warm the edit's statistics say how much was warm, and so does the status."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n" * 50)
    async with serving(paths, machine, config=QUIET), wire(paths) as client:
        made = await result(client, "document/warm", path=str(path))
        assert (0, made["head_tokens"] - 1) == (made["cached_tokens"], made["warm_tokens"])
        assert 300 < made["head_tokens"]
        done = await result(client, "edit", instruction="two", path=str(path), model="m")
        assert made["warm_tokens"] <= done["stats"]["cached_tokens"] < done["stats"]["prompt_tokens"]
        status = await result(client, "status")
        (document,) = status["documents"]
        assert document["warm_tokens"] >= made["warm_tokens"]
        assert document["kv_bytes"] == status["warm"]["kv_bytes"] > 0
        assert (1, 1) == (status["warm"]["prompts"], status["warm"]["warm_prompts"])


async def test_edits_at_the_same_time_read_a_text_once(paths: Paths, machine: Machine, tmp_path: Path) -> None:
    """Of edits of one file that arrive together, one reads it, and the others go on from what it has read."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n" * 200)
    config = msgspec.structs.replace(QUIET, engine=EngineConfig(prefill_slice=64))
    async with serving(paths, machine, config=config), wire(paths) as client:
        for line in (1, 2, 3):
            params = {"instruction": "two", "path": str(path), "range": {"first": line, "last": line}}
            await client.ask(line, "edit", params)
        cached: list[int] = []
        while len(cached) < 3:
            message = await client.read()  # in whatever order they end
            if "method" not in message:
                cached.append(message["result"]["stats"]["cached_tokens"])
        assert (1, True) == (cached.count(0), sorted(cached)[1] > 1200)


async def test_another_model_knows_nothing_of_it(paths: Paths, tmp_path: Path) -> None:
    """What is kept belongs to one model; after a switch and back, edits begin cold and are right."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    machine = Machine(m=ScriptedModel(REPLY), n=ScriptedModel(REPLY))
    async with serving(paths, machine, Shelf("m", "n"), config=QUIET), wire(paths) as client:
        await result(client, "document/warm", path=str(path))
        for model in ("n", "m"):
            done = await result(client, "edit", instruction="two", path=str(path), model=model)
            assert (0, "proposed") == (done["stats"]["cached_tokens"], done["status"])


async def test_switched_off_nothing_is_kept(paths: Paths, machine: Machine, tmp_path: Path) -> None:
    """With `warm.enabled = false` every edit reads its text."""
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    config = Config(warm=WarmConfig(enabled=False))
    async with serving(paths, machine, config=config), wire(paths) as client:
        assert 0 == (await result(client, "document/warm", path=str(path)))["warm_tokens"]
        for _ in range(2):
            done = await result(client, "edit", instruction="two", path=str(path))
            assert 0 == done["stats"]["cached_tokens"]
