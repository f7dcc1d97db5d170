"""Replies are read, guarded and put into the text as the daemon does it."""

from __future__ import annotations

from pathlib import Path

import pytest

from plgd.bench.edits_results import EditOutcome
from tiny_base import make_case, write_base
from training.cases import Case, answer_of
from training.examples import make_example, open_tokenizer
from training.judge import Judge

FILE = "a = 1\nb = 2\nc = 3\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder."""
    return write_base(tmp_path_factory.mktemp("base"))


def judge(base: Path, case: Case, reply: str, *, ends: bool = True) -> tuple[EditOutcome, str]:
    """Judge a reply that is given as text."""
    tokenizer = open_tokenizer(base)
    tokens = [*tokenizer.encode(reply), *(tokenizer.eos_tokens if ends else ())]
    return Judge(tokenizer)(case, tokens, "1")


@pytest.mark.parametrize(
    "case",
    [
        make_case(FILE, FILE.replace("b", "x")),
        make_case(FILE, "x = 2\n", lines=(2, 2)),
        make_case(FILE.removesuffix("\n"), "x = 3", lines=(3, 3)),
        make_case(FILE.replace("\n", "\r\n"), "x = 2\r\n", lines=(2, 2)),
        make_case("\ufeff" + FILE, "\ufeff" + FILE.replace("b", "x")),
        make_case(FILE, FILE, kind="no_change"),
    ],
)
def test_the_right_answer_is_exact(base: Path, case: Case) -> None:
    """What training teaches to reply comes out as the right answer, byte for byte."""
    tokenizer = open_tokenizer(base)
    outcome, after = Judge(tokenizer)(case, make_example(case, tokenizer).reply.tolist(), "1")
    assert answer_of(case) == after
    assert (True, True, True, ()) == (outcome.exact, outcome.ended, outcome.parses, outcome.damage)


def test_a_reply_that_does_not_end(base: Path) -> None:
    """Of a reply without an end nothing is proposed, so nothing is damaged."""
    outcome, raw = judge(base, make_case(FILE, FILE), "a = 9\n", ends=False)
    assert ("truncated", False, False, ()) == (outcome.status, outcome.ended, outcome.exact, outcome.damage)
    assert "a = 9\n" == raw


def test_a_reply_that_the_guard_refuses(base: Path) -> None:
    """What the daemon would not propose is neither exact nor damage."""
    outcome, _ = judge(base, make_case(FILE, FILE), "a = 1\n# ... rest unchanged ...\n```")
    assert ("rejected_output", True, False, ()) == (outcome.status, outcome.ended, outcome.exact, outcome.damage)


def test_what_was_not_asked_for_is_damage(base: Path) -> None:
    """A reply that makes the asked change and another one is no match, and damage."""
    outcome, _ = judge(base, make_case(FILE, FILE.replace("b", "x")), "a = 1\nx = 2\nd = 3\n```")
    assert (False, ("c = 3",)) == (outcome.exact, outcome.damage)


def test_a_text_that_no_longer_parses(base: Path) -> None:
    """A reply that breaks the syntax is told from one that is only wrong."""
    case = make_case(FILE, FILE.replace("b", "x"))
    assert [False, True] == [judge(base, case, reply)[0].parses for reply in ("a = = 1\n```", "a = 2\n```")]
