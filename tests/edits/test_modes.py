"""What an edit may be made of besides an instruction: a sketch of the change, a prediction of the new text."""

from __future__ import annotations

from typing import Literal

import pytest

from edits.running import SOURCE, params, run
from plgd.documents.store import DocumentStore
from plgd.edits.prompt import SKETCH_WORDS
from plgd.edits.request import prepare
from plgd.errors import EmptyInstruction, InvalidParams
from plgd.protocol.drafting import DraftingParams
from plgd.protocol.edits import EditParams, EditPart, EditStatus, LineRange
from scripted_model import ByteTokenizer

SKETCH = "def total(items):\n    result = 0\n    # ... existing code ...\n    return round(result)\n"
SKETCHED = SOURCE.replace("return result", "return round(result)")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The user's turns that models were shown."""
    turns: list[str] = []
    encode_chat = ByteTokenizer.encode_chat

    def encode_and_note(tokenizer: ByteTokenizer, system: str, user: str, reply_start: str) -> list[int]:
        turns.append(user)
        return encode_chat(tokenizer, system, user, reply_start)

    monkeypatch.setattr(ByteTokenizer, "encode_chat", encode_and_note)
    return turns


def sketched(**changes: object) -> EditParams:
    """Ask for what a sketch shows."""
    text = changes.pop("text", SOURCE)
    assert text is None or isinstance(text, str)
    return params(text, **{"instruction": "", "code_edit": SKETCH, **changes})


def test_a_sketch_is_merged_by_the_model(shown: list[str]) -> None:
    """A sketch is asked for in words of its own, needs no instruction, and the model's text is the new text."""
    ran = run(sketched(), f"{SKETCHED}```\n")
    assert (EditStatus.PROPOSED, SKETCHED) == (ran.result.status, ran.result.new_text)
    assert [f"File: app.py\n```python\n{SOURCE}```\n\n{SKETCH_WORDS}\n```python\n{SKETCH}```"] == shown


def test_a_sketch_beside_an_instruction(shown: list[str]) -> None:
    """An instruction goes before the sketch."""
    run(sketched(instruction="Round the total."), f"{SKETCHED}```\n")
    assert shown[0].endswith(f"{SOURCE}```\n\nRound the total.\n{SKETCH_WORDS}\n```python\n{SKETCH}```")


def test_the_fence_is_longer_than_any_run_in_the_sketch() -> None:
    """Backticks in a sketch do not end the reply."""
    ran = run(sketched(code_edit="result = 0\n# ... existing code ...\n````\n"), f"{SOURCE}# new\n`````\n")
    assert (EditStatus.PROPOSED, f"{SOURCE}# new\n") == (ran.result.status, ran.result.new_text)


def test_the_guess_at_a_sketch_is_drafted_from() -> None:
    """What the sketch seems to mean is the first source: a reply that is just that misses less."""
    reply = f"{SKETCHED}```\n"
    merged = run(sketched(), reply).result.stats
    told = run(params(instruction="Round the total."), reply).result.stats
    assert merged.rounds < told.rounds
    assert merged.rejected_prediction_tokens < told.rejected_prediction_tokens
    assert prepare(sketched(), DocumentStore()).expected == (SKETCHED,)


def test_a_sketch_that_shares_nothing_with_the_text() -> None:
    """Without a guess, the sketch itself is drafted from."""
    new = "def mean(values):\n    return sum(values) / len(values)\n"
    prepared = prepare(sketched(code_edit=f"# ...\n{new}"), DocumentStore())
    assert (f"# ...\n{new}",) == prepared.expected
    reply = f"{SOURCE}{new}```\n"
    with_sketch, without = (
        run(params(code_edit=sketch), reply).result.stats.rounds for sketch in (f"# ...\n{new}", None)
    )
    assert with_sketch < without


def test_a_text_beyond_any_context_is_not_guessed_at() -> None:
    """A sketch of a text that no model could read is not laid beside it."""
    assert prepare(sketched(text=SOURCE * 100_000), DocumentStore()).expected == (SKETCH,)


@pytest.mark.parametrize("marker", ["    # ... existing code ...", "# ... the loop ...", "# ..."])
def test_a_marker_in_the_reply_is_refused(marker: str) -> None:
    """A reply that repeats a marker of the sketch leaves text out, whatever the marker says."""
    sketch = SKETCH.replace("    # ... existing code ...", marker)
    result = run(sketched(code_edit=sketch), f"{sketch}```\n").result
    assert (EditStatus.REJECTED_OUTPUT, SOURCE) == (result.status, result.new_text)
    assert f"says {marker.strip()!r} instead of writing it" in result.warnings[0]


def test_a_marker_that_the_text_has_may_stay() -> None:
    """A line of the text that looks like a marker is copied like any other."""
    text = f"# ...\n{SOURCE}"
    result = run(sketched(text=text, code_edit=f"# ...\n{SKETCH}"), f"# ...\n{SKETCHED}```\n").result
    assert (EditStatus.PROPOSED, f"# ...\n{SKETCHED}") == (result.status, result.new_text)


def test_a_sketch_may_delete() -> None:
    """As much may go as the sketch leaves out without a marker, and a reply that loses more is refused."""
    functions = [f"def f{number}(x):\n    value = x + {number}\n    return value\n\n" for number in range(12)]
    text = "".join(functions)
    sketch = f"{functions[0]}{functions[11]}"
    asked = sketched(text=text, code_edit=f"{functions[0]}def f11(x):\n    value = x + 11\n    return value\n")
    result = run(asked, f"{sketch}```\n").result
    assert (EditStatus.PROPOSED, ("The edit deletes 83% of the text.",)) == (result.status, result.warnings)
    kept = sketched(text=text, code_edit=f"{functions[0]}# ... existing code ...\n{functions[11]}")
    assert run(kept, f"{sketch}```\n").result.status is EditStatus.REJECTED_OUTPUT


def test_a_reply_that_loses_what_the_sketch_keeps_is_refused() -> None:
    """Lines behind a marker stay: a reply without one of them is refused, however small the loss."""
    result = run(sketched(), SKETCHED.replace("    for item in items:\n", "") + "```\n").result
    assert (EditStatus.REJECTED_OUTPUT, SOURCE) == (result.status, result.new_text)
    assert ("The reply loses the line 'for item in items:' that the sketch keeps.",) == result.warnings


@pytest.mark.parametrize(
    ("instruction", "reply"),
    [
        ("Rename item to price, too.", SKETCHED.replace("item", "price")),
        ("Remove the loop, too.", "def total(items):\n    result = 0\n    return round(result)\n"),
    ],
    ids=["other words", "asked for"],
)
def test_what_the_sketch_keeps_may_change_when_asked(instruction: str, reply: str) -> None:
    """An instruction beside the sketch may change, or delete, what the sketch alone would keep."""
    result = run(sketched(instruction=instruction), f"{reply}```\n").result
    assert (EditStatus.PROPOSED, reply) == (result.status, result.new_text)


@pytest.mark.parametrize(
    ("reply", "status"),
    [(SOURCE, EditStatus.NO_CHANGE), (SOURCE.replace("= 0", "= 0.0"), EditStatus.PROPOSED)],
    ids=["all of it", "some of it"],
)
def test_what_was_left_out_of_the_sketch_is_told(reply: str, status: EditStatus) -> None:
    """A reply that does only a part of what the sketch shows comes with a warning that names what is missing."""
    sketch = SKETCH.replace("= 0", "= 0.0")
    result = run(sketched(code_edit=sketch), f"{reply}```\n").result
    missing = "the line 'return round(result)' of the sketch"
    if status is EditStatus.NO_CHANGE:
        missing = "2 lines of the sketch, such as 'result = 0.0'"
    assert (status, (f"The new text lacks {missing}.",)) == (result.status, result.warnings)


def test_a_sketch_may_show_another_body() -> None:
    """A sketch that writes a function's body anew need not show the old one."""
    text, rest = SOURCE + "\n\ndef rest():\n    pass\n", "\n\ndef rest():\n    pass\n"
    body = "def total(items):\n    return sum(items)\n"
    result = run(sketched(text=text, code_edit=f"{body}\n\n# ... existing code ...\n"), f"{body}{rest}```\n").result
    assert (EditStatus.PROPOSED, body + rest) == (result.status, result.new_text)
    assert () == result.warnings


def test_a_function_that_is_added_takes_no_others_place() -> None:
    """A reply that puts a new function in the place of one that a marker keeps is refused, alike as the two are."""
    first, second, third = (
        f"def {name}(a, b):\n    return a {sign} b\n" for name, sign in (("add", "+"), ("sub", "-"), ("mul", "*"))
    )
    text, sketch = f"{first}\n\n{second}", f"{first}\n\n{third}\n\n# ... existing code ...\n"
    result = run(sketched(text=text, code_edit=sketch), f"{first}\n\n{third}```\n").result
    assert (EditStatus.REJECTED_OUTPUT, text) == (result.status, result.new_text)
    whole = f"{first}\n\n{third}\n\n{second}"
    assert whole == run(sketched(text=text, code_edit=sketch), f"{whole}```\n").result.new_text


def test_a_sketch_of_a_range() -> None:
    """A sketch for a range is one of its lines."""
    lines = LineRange(first=3, last=4)
    asked = sketched(range=lines, code_edit="    for item in items:\n        result += item.price\n")
    prepared = prepare(asked, DocumentStore())
    assert prepared.expected == ("    for item in items:\n        result += item.price\n",)
    result = run(asked, "    for item in items:\n        result += item.price\n```\n").result
    assert SOURCE.replace("+= item", "+= item.price") == result.new_text


def test_a_prediction_is_drafted_from_first() -> None:
    """A reply that comes back as predicted is verified without a miss, whatever the text says there."""
    new = "".join(f"value_{number} = compute({number * 7})\n" for number in range(12))
    predicted, told = (run(params(prediction=prediction), f"{new}```\n").result for prediction in (new, None))
    assert predicted.new_text == told.new_text == new
    assert predicted.stats.rejected_prediction_tokens == 0
    assert predicted.stats.rounds * 3 < told.stats.rounds


def test_a_wrong_prediction_costs_speed_alone() -> None:
    """A reply that is not as predicted is the model's own."""
    plain = run(params(), f"{SKETCHED}```\n").result
    wrong = run(params(prediction="import os\n" * 20), f"{SKETCHED}```\n").result
    assert plain.new_text == wrong.new_text == SKETCHED


@pytest.mark.parametrize("policy", ["graded", "gated", "ds4", "off"])
def test_the_reference_policies_take_predictions_too(policy: Literal["graded", "gated", "ds4", "off"]) -> None:
    """Under every policy a prediction changes nothing but the speed."""
    new = "".join(f"value_{number} = compute({number * 7})\n" for number in range(12))
    asked = params(prediction=new, code_edit=new, drafting=DraftingParams(policy=policy))
    assert run(asked, f"{new}```\n").result.new_text == new


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        (EditParams(text=SOURCE), EmptyInstruction, "instruction is empty"),
        (EditParams(text=SOURCE, code_edit=" \n"), EmptyInstruction, "instruction is empty"),
        (EditParams(text=SOURCE, prediction="x"), EmptyInstruction, "instruction is empty"),
        (EditParams(text=SOURCE, code_edit="x" * 2**20 + "y"), InvalidParams, "sketch has 1,048,577 characters"),
        (EditParams(text=SOURCE, edits=(EditPart(),)), EmptyInstruction, "instruction is empty"),
        (EditParams(text=SOURCE, edits=(EditPart(instruction="x"),), prediction="y"), InvalidParams, "`prediction`"),
        (EditParams(text=SOURCE, edits=(EditPart(instruction="x"),), instruction="y"), InvalidParams, "`instruction`"),
        (EditParams(text=SOURCE, edits=(EditPart(instruction="x"),) * 65), InvalidParams, "65 edits; 64 are the most"),
    ],
)
def test_what_makes_no_sense_is_refused(asked: EditParams, error: type[Exception], words: str) -> None:
    """Each mistake has its own error."""
    with pytest.raises(error, match=words):
        prepare(asked, DocumentStore())
