"""The gate is what it promises: edits of many kinds of text, written by hand, each with its right answers."""

from __future__ import annotations

import ast
import json
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
import pytest

import plgd.bench
from plgd.config import EditConfig
from plgd.edits.guard import Verdict, check_text
from plgd.edits.language import language_of
from plgd.text.lines import split_lines

FOLDER = Path(plgd.bench.__file__).with_name("data") / "gate"

Kind = Literal[
    "add",
    "change-value",
    "docstring",
    "fix",
    "guard",
    "interpolation",
    "markup",
    "nothing",
    "remove",
    "rename",
    "type-hints",
    "wording",
    "wrap",
]


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An edit of the gate: what is asked, and every answer that is right."""

    name: str
    kind: Kind
    path: str
    instruction: str
    before: str
    after: str
    lines: tuple[int, int] | None = None
    also: tuple[str, ...] = ()

    @property
    def answers(self) -> tuple[str, ...]:
        """Every right answer, the expected one first."""
        return self.after, *self.also

    @property
    def around(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines above and below the range; nothing for a whole file."""
        before = split_lines(self.before)
        first, last = self.lines or (1, len(before))
        return before[: first - 1], before[last:]


def read(path: Path) -> tuple[Case, ...]:
    """Read a file of the gate; a missing, mistyped or unknown key is an error."""
    return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8"))["edit"], tuple[Case, ...])


GATE = {path.stem: read(path) for path in sorted(FOLDER.glob("*.toml"))}
CASES = [case for cases in GATE.values() for case in cases]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def test_no_two_cases_are_alike() -> None:
    """Names, instructions and texts are each used once."""
    for field in ("name", "instruction", "before"):
        counts = Counter(getattr(case, field) for case in CASES)
        assert [] == [value for value, n in counts.items() if n > 1]


@pytest.mark.parametrize(
    ("share", "files"),
    [
        (0.45, ("python",)),
        (0.15, ("javascript", "typescript")),
        (0.15, ("json", "toml", "yaml")),
        (0.20, ("markdown", "text")),
        (0.05, ("css", "shell")),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else "",
)
def test_languages_have_their_shares(share: float, files: tuple[str, ...]) -> None:
    """Nearly half of the gate is Python; the rest is scripts, configuration, prose and a little else."""
    n_cases = sum(len(GATE[file]) for file in files)
    assert share == pytest.approx(n_cases / len(CASES), abs=0.02)


def test_a_file_of_the_gate_holds_its_language() -> None:
    """Each case stands in the file of its language."""
    for language, cases in GATE.items():
        expected = "bash" if language == "shell" else language
        assert {expected} == {language_of(case.path) for case in cases}


def test_the_gate_is_large_and_its_texts_are_short_and_long() -> None:
    """At least 100 cases of 3 to 200 lines, a third above 40 and ten above 100; some ask for a range."""
    lengths = [len(split_lines(case.before)) for case in CASES]
    assert len(lengths) >= 100
    assert 3 <= min(lengths) <= 5
    assert 150 <= max(lengths) <= 200
    assert len(lengths) <= 3 * sum(length > 40 for length in lengths)
    assert 10 <= sum(length > 100 for length in lengths)
    assert 12 <= sum(case.lines is not None for case in CASES)


def test_sometimes_nothing_is_to_be_done() -> None:
    """One case in twenty is right as it is."""
    assert 0.05 == pytest.approx(sum(case.kind == "nothing" for case in CASES) / len(CASES), abs=0.01)


@each_case
def test_answers_differ_from_the_text_and_from_each_other(case: Case) -> None:
    """Every answer is a change of its own; where nothing is to be done, the text is the one answer."""
    if case.kind == "nothing":
        assert (case.before,) == case.answers
    else:
        assert len({case.before, *case.answers}) == 1 + len(case.answers)


@each_case
def test_texts_are_clean(case: Case) -> None:
    """Texts end with one line end, no line ends with blanks, and there are no tabs: an answer is told by its words."""
    for text in (case.before, *case.answers):
        lines = text.split("\n")
        assert "" == lines.pop()
        assert lines[0]
        assert lines[-1]
        assert [] == [line for line in lines if line != line.rstrip() or "\t" in line]


@pytest.mark.parametrize(
    ("language", "parse"),
    [("python", ast.parse), ("json", json.loads), ("toml", tomllib.loads)],
    ids=["python", "json", "toml"],
)
def test_texts_parse(language: str, parse: Callable[[str], object]) -> None:
    """Python, JSON and TOML are well-formed before and after; these parsers raise where they are not."""
    for case in GATE[language]:
        for text in (case.before, *case.answers):
            assert parse(text) is not None, case.name


@each_case
def test_a_range_holds_the_whole_change(case: Case) -> None:
    """What stands around the lines of a request is the same in every answer."""
    above, below = case.around
    assert len(above) + len(below) < len(split_lines(case.before))
    for answer in case.answers:
        lines = split_lines(answer)
        assert above == lines[: len(above)]
        assert below == lines[len(lines) - len(below) :]


@each_case
def test_no_right_answer_is_refused(case: Case) -> None:
    """The guards let every right answer through, without a warning."""
    above, below = case.around
    source = split_lines(case.before)
    for answer in case.answers:
        reply = split_lines(answer)
        verdict = check_text(
            "".join(source[len(above) : len(source) - len(below)]),
            "".join(reply[len(above) : len(reply) - len(below)]),
            case.instruction,
            before=above,
            after=below,
            language=language_of(case.path),
            control_strings=frozenset(),
            max_deleted_share=EditConfig().max_deleted_share,
        )
        assert Verdict() == verdict
