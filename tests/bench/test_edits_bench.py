"""`plgd bench --edits` asks and judges as the daemon would."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from plgd.bench.edits import Editor, run_suite
from plgd.bench.edits_report import show_edits
from plgd.bench.edits_results import EditOutcome, summarize
from plgd.bench.edits_suite import SuiteEdit
from plgd.config import Config
from plgd.paths import Paths
from plgd.protocol.edits import LineRange
from scripted_model import ScriptedModel
from tiny_models import LLAMA, byte_level_tokenizer, write_model

EDIT = SuiteEdit("one", "rename", "a.py", "b -> x", "a = 1\nb = 2\nc = 3\n", ("a = 1\nx = 2\nc = 3\n",))


def outcome_of(edit: SuiteEdit, reply: str, context_limit: int = 1 << 20) -> EditOutcome:
    """Carry one edit out on a model that says this."""
    model = ScriptedModel(reply, context_limit=context_limit)
    [outcome], _ = run_suite([edit], Editor(model, Config()), n_timed=0, say=lambda _: None)
    return outcome


def test_a_right_answer_is_exact() -> None:
    """The daemon's new text is compared with the right answers, byte for byte."""
    outcome = outcome_of(EDIT, "a = 1\nx = 2\nc = 3\n```")
    assert ("proposed", True, True, True, ()) == (
        outcome.status,
        outcome.exact,
        outcome.ended,
        outcome.parses,
        outcome.damage,
    )
    assert outcome.n_tokens > 0 < outcome.n_rounds


def test_lines_are_rewritten_within_their_text() -> None:
    """Of a range the model gives the lines, and the answer is the whole text."""
    outcome = outcome_of(replace(EDIT, lines=LineRange(first=2, last=2)), "x = 2\n```")
    assert (True, True) == (outcome.exact, outcome.ranged)


def test_nothing_to_do_and_nothing_done() -> None:
    """A text that was to stay as it was, and did, is right."""
    outcome = outcome_of(replace(EDIT, answers=(EDIT.before,)), EDIT.before + "```")
    assert ("no_change", True) == (outcome.status, outcome.exact)


@pytest.mark.parametrize(
    ("reply", "status", "ended", "parses", "damage"),
    [
        ("a = 1\ny = 2\nc = 3\n```", "proposed", True, True, ()),
        ("a = 1\nx = 2\nd = 3\n```", "proposed", True, True, ("c = 3",)),
        ("a = 1\nx = = 2\nc = 3\n```", "proposed", True, False, ()),
        ("<|turn|>\n```", "rejected_output", True, None, ()),
        (EDIT.before + "```", "no_change", True, True, ()),
    ],
)
def test_misses_are_told_apart(
    reply: str, status: str, ended: bool, parses: bool | None, damage: tuple[str, ...]
) -> None:
    """What is not exact is a miss, damage, broken, refused or not done."""
    outcome = outcome_of(EDIT, reply)
    assert not outcome.exact
    assert (status, ended, parses, damage) == (outcome.status, outcome.ended, outcome.parses, outcome.damage)


def test_a_reply_without_an_end() -> None:
    """A reply that runs into the end of the context did not end by itself."""
    outcome = outcome_of(EDIT, "".join(f"{n}\n" for n in range(400)), context_limit=700)
    assert ("truncated", False) == (outcome.status, outcome.ended)


def test_a_text_that_is_too_long_is_an_outcome() -> None:
    """A request that the daemon would refuse fails, and the suite goes on."""
    outcome = outcome_of(EDIT, "```", context_limit=100)
    assert ("refused", False, False) == (outcome.status, outcome.exact, outcome.ended)


def test_drafting_is_compared_with_plain_decoding() -> None:
    """Some edits are carried out without drafts, too, and every number is of the same edits."""
    more = "".join(f"value_{n} = {n}\n" for n in range(30))
    long = replace(EDIT, before=EDIT.before + more, answers=(EDIT.answers[0] + more,))
    edits = [replace(long, name=str(n)) for n in range(4)]
    model = ScriptedModel(long.answers[0] + "```")
    outcomes, speedup = run_suite(edits, Editor(model, Config()), n_timed=2, say=lambda _: None)
    assert speedup is not None
    assert (2, 2) == (speedup.n_edits, speedup.n_same)
    assert speedup.tokens_per_round > 2.0
    timed = outcomes[::2]
    expected = sum(outcome.n_tokens for outcome in timed) / sum(outcome.n_rounds for outcome in timed)
    assert pytest.approx(expected) == speedup.tokens_per_round
    assert 6 == len(model.targets)


def test_the_table_has_groups_and_totals() -> None:
    """Each kind has its row, two edits at once are one kind, and what failed is named."""
    right = outcome_of(EDIT, "a = 1\nx = 2\nc = 3\n```")
    wrong = outcome_of(replace(EDIT, name="two", kind="rename+add"), "a = 1\nx = 2\nd = 3\n```")
    idle = outcome_of(replace(EDIT, name="three", kind="nothing", answers=(EDIT.before,)), EDIT.before + "```")
    result = summarize("gate", [right, wrong, idle])
    assert ["nothing", "rename", "two_edits"] == list(result.groups["kind"])
    assert (3, 2, 3, 1) == (
        result.everything.n,
        result.everything.n_exact,
        result.everything.n_ended,
        result.everything.n_damaged,
    )
    page = StringIO()
    show_edits(result, Console(file=page, width=120))
    text = page.getvalue()
    assert "66.7 %" in text
    assert "1 of 1 texts without anything to do were left" in text
    assert "Not exact: two" in text


def test_the_command(paths: Paths, tmp_path: Path) -> None:  # noqa: ARG001  # a user without settings
    """The process runs the gate on any model and prints what came of each edit."""
    size = byte_level_tokenizer().get_vocab_size()
    model = write_model(tmp_path / "model", {**LLAMA, "max_position_embeddings": 600, "vocab_size": size})
    words = ["bench", "--edits", "--model", str(model), "--kinds", "nothing,wrap", "--json"]
    done = subprocess.run([sys.executable, "-m", "plgd", *words], capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    data = json.loads(done.stdout)
    assert {"nothing", "wrap"} == set(data["groups"]["kind"])
    assert data["everything"]["n"] == len(data["outcomes"]) > 1
    assert "cpu" == data["environment"]["device"]
