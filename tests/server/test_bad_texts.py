"""Texts, hints and sources that drafting can make nothing of: the answer is plain decoding's, or one clear error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plgd.documents.document import MAX_BYTES
from plgd.errors import FileMissing, FileUnreadable, InvalidParams, NotText, TextTooLong
from plgd.paths import Paths
from scripted_model import ScriptedModel
from server.conversation import Wire, serving, wire
from server.machine import Machine

pytestmark = pytest.mark.anyio

SOURCE = "total = 1\nprint(total)\n" * 8
RENAMED = SOURCE.replace("total", "subtotal")
REPEATED = "a" * 3000 + "\n"

# The text, what the model makes of it, and what may be said besides.
EDITS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "an empty text": ("", "print('hello')\n", {}),
    "blanks": (" \n\t\n", "print('hello')\n", {}),
    "one character": ("x", "y\n", {}),
    "one token repeated": (REPEATED, "a" * 2999 + "b\n", {}),
    "one token repeated, another reply": (REPEATED, "".join(map(chr, range(97, 123))) * 60 + "\n", {}),
    "two tokens in turn": ("ab" * 1500 + "\n", "ba" * 1500 + "\n", {}),
    "a line of 8,000 characters": ("x = 1; " * 1150 + "\n", "x = 1; " * 500 + "y = 2; " * 650 + "\n", {}),
    "an unrelated reply": (SOURCE, "Der Regen fällt, und niemand weiß, warum. 🌧\n" * 8, {}),
    "a wrong hint": (SOURCE, RENAMED, {"draft_hint": "no word of this will be said\n" * 50}),
    "a hint of one token": (SOURCE, RENAMED, {"draft_hint": "t" * 5000}),
    "wrong sources": (SOURCE, RENAMED, {"sources": [{"text": "nor of this\n" * 50}, {"text": REPEATED}]}),
    "the text as its own source": (SOURCE, RENAMED, {"sources": [{"text": SOURCE}], "draft_hint": SOURCE}),
}


async def edited(client: Wire, text: str, policy: str, more: dict[str, Any]) -> dict[str, Any]:
    """Ask for an edit and return what must not depend on drafting."""
    params = {"instruction": "rename", "text": text, "drafting": {"policy": policy}, **more}
    await client.ask(policy, "edit", params)
    result = dict((await client.answer(policy))["result"])
    stats = result["stats"]
    told = {"status", "new_text", "new_fingerprint", "diff", "hunks", "warnings", "raw_reply"}
    counted = {"prompt_tokens", "output_tokens", "stopped_by"}
    return {key: result[key] for key in told} | {key: stats[key] for key in counted}


@pytest.mark.parametrize(("text", "reply", "more"), EDITS.values(), ids=EDITS)
async def test_what_cannot_be_drafted_from_makes_no_difference(
    text: str, reply: str, more: dict[str, Any], paths: Paths
) -> None:
    """Whatever the text, the hint and the sources, the drafted answer is that of plain decoding."""
    async with serving(paths, Machine(m=ScriptedModel(f"{reply}```\n"))), wire(paths) as client:
        plain = await edited(client, text, "off", {})
        assert plain == await edited(client, text, "cost", more)
        assert plain == await edited(client, text, "graded", more)
        assert plain["status"] in {"proposed", "rejected_output"}


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "a line of 1 MB": ({"text": "x = 1; " * 150_000}, TextTooLong.code, "the model's limit is 8,192"),
    "a source that is missing": ({"sources": [{"path": "/no/such.py"}]}, FileMissing.code, "/no/such.py"),
    "a source that is no text": ({"sources": [{"text": "a\0b"}]}, NotText.code, "sources[0] is a binary file"),
    "a relative source": ({"sources": [{"path": "b.py"}]}, InvalidParams.code, "must be absolute, not 'b.py'"),
    "an unknown field": ({"sources": [{"paht": "/b.py"}]}, InvalidParams.code, "unknown field `paht`"),
    "too many sources": ({"sources": [{"text": "x"}] * 17}, InvalidParams.code, "16 are the most"),
}


@pytest.mark.parametrize(("params", "code", "words"), REFUSED.values(), ids=REFUSED)
async def test_what_cannot_be_done_is_one_clear_error(
    params: dict[str, Any], code: int, words: str, paths: Paths
) -> None:
    """A text or a source that cannot be had is refused in words, and the next edit is answered."""
    model = ScriptedModel(f"{RENAMED}```\n", context_limit=8192)
    async with serving(paths, Machine(m=model)), wire(paths) as client:
        await client.ask(1, "edit", {"instruction": "rename", "text": SOURCE, **params})
        refused = await client.error(1)
        assert (code, True) == (refused[0], words in refused[1]), refused
        assert "proposed" == (await edited(client, SOURCE, "cost", {}))["status"]


async def test_a_source_file_is_named_in_its_error(paths: Paths, tmp_path: Path) -> None:
    """Of several sources, the one that is no text or too large is told by its path, before the model is loaded."""
    (tmp_path / "fine.py").write_text("x\n")
    (tmp_path / "latin.py").write_bytes(b"caf\xe9")
    with (tmp_path / "huge.py").open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    machine = Machine(m=ScriptedModel(""))
    async with serving(paths, machine), wire(paths) as client:
        for name, code in (("latin.py", NotText.code), ("huge.py", FileUnreadable.code)):
            named = [{"path": str(tmp_path / "fine.py")}, {"path": str(tmp_path / name)}]
            await client.ask(name, "edit", {"instruction": "rename", "text": SOURCE, "sources": named})
            refused = await client.error(name)
            assert (code, True) == (refused[0], refused[1].startswith(str(tmp_path / name))), refused
    assert [] == machine.loads


async def test_a_source_that_changes_during_the_request_is_harmless(paths: Paths, tmp_path: Path) -> None:
    """A source is read once: what becomes of it while the model works makes no difference."""
    source = tmp_path / "source.py"
    source.write_text(RENAMED)

    def spoil() -> None:
        source.write_text("something else entirely\n")

    async with serving(paths, Machine(m=ScriptedModel(f"{RENAMED}```\n", on_target=spoil))), wire(paths) as client:
        plain = await edited(client, SOURCE, "off", {})
        source.write_text(RENAMED)
        assert plain == await edited(client, SOURCE, "cost", {"sources": [{"path": str(source)}]})


async def test_drafts_are_told_on_the_wire(paths: Paths) -> None:
    """A request that asks for the drafts gets the reply by who drafted it, and one that does not gets none."""
    async with serving(paths, Machine(m=ScriptedModel(f"{RENAMED}```\n"))), wire(paths) as client:
        for asked in (True, False):
            await client.ask(1, "edit", {"instruction": "rename", "text": SOURCE, "show_drafts": asked})
            result = (await client.answer(1))["result"]
            if not asked:
                assert result["drafts"] is None
                continue
            assert f"{RENAMED}```\n" == "".join(run["text"] for run in result["drafts"]["runs"])
            assert result["stats"]["rounds"] == len(result["drafts"]["widths"])
            accepted = [counts["accepted_tokens"] for counts in result["stats"]["proposers"].values()]
            assert 0 < sum(accepted) == result["stats"]["accepted_prediction_tokens"]
