"""The conversations of the protocol's page are what the daemon says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from plgd.paths import Paths
from plgd.protocol.methods import METHODS
from scripted_model import ScriptedModel
from server.conversation import Wire, serving, wire
from server.files import put
from server.machine import Machine, Shelf

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs/protocol.md"
EXAMPLE = re.compile(r"^### (.*)\n\n.*\n\n```\n(-->(?:.|\n)*?)```$", re.MULTILINE)
CONVERSATIONS = dict(EXAMPLE.findall(PAGE.read_text(encoding="utf-8")))
HOME = "/home/me"
LOADING = "# the model is being loaded"


class Telling:
    """Who holds a conversation: sends the client's lines, and compares the daemon's with what it says."""

    def __init__(self, client: Wire, folder: Path) -> None:
        self._client = client
        self._folder = folder
        self._sessions: dict[str, str] = {}

    async def line(self, line: str) -> None:
        """Do what a line says."""
        if saved := re.fullmatch(r"# (?:somebody saves )?(/\S+) (?:holds|as) (\".*\")", line):
            put(Path(saved[1].replace(HOME, str(self._folder))), json.loads(saved[2]))
        elif line.startswith("--> "):
            await self._client.send(self._real(line[4:]).encode())
        elif line.startswith("<-- "):
            await self._expect(json.loads(self._real(line[4:])))

    def _real(self, text: str) -> str:
        """Put in the folder and the sessions that there really are."""
        for told, real in {HOME: str(self._folder), **self._sessions}.items():
            text = text.replace(told, real)
        return text

    async def _expect(self, expected: dict[str, Any]) -> None:
        while True:
            message = await self._client.read()
            is_other_note = "method" in message and not fits(expected, message)
            if not is_other_note:
                break
        told = expected.get("result", {}).get("session", "")
        if told and told not in self._sessions.values():
            self._sessions[told] = expected["result"]["session"] = message["result"]["session"]
        assert fits(expected, message), f"expected {expected}, got {message}"


def fits(expected: object, found: object) -> bool:
    """Compare, leaving out what is not expected in particular."""
    match expected, found:
        case dict(), dict():
            return all(key in found and fits(value, found[key]) for key, value in expected.items())
        case list(), list():
            return len(expected) == len(found) and all(map(fits, expected, found))
        case _:
            return expected == found


def test_every_method_is_in_a_conversation() -> None:
    """Each method has an example, and so have a notification of the client, a conflict, and errors."""
    text = "".join(CONVERSATIONS.values())
    # A download needs the net.
    words = {*METHODS, "$/cancelRequest", "conflict", "error"} - {"model/pull"}
    assert set() == {word for word in words if f'"{word}"' not in text}


@pytest.mark.parametrize("title", CONVERSATIONS)
async def test_the_daemon_says_what_the_page_says(title: str, paths: Paths, tmp_path: Path) -> None:
    """Each line of the daemon's is there, in order, with the values that the page gives."""
    lines = CONVERSATIONS[title].splitlines()
    replies = [json.loads(line.partition(" is ")[2]) for line in lines if line.startswith("# the model's reply")]
    model = ScriptedModel("".join(f"{reply}```\n" for reply in replies))
    model.name = "builtin"
    machine = Machine(builtin=model)
    if LOADING in lines:
        machine.load_gate.shut()
    async with serving(paths, machine, Shelf("builtin")), wire(paths, hello=False) as client:
        telling = Telling(client, tmp_path)
        for line in lines:
            await telling.line(line)
