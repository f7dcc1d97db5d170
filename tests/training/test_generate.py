"""Cases are the same for the same arguments, fit the model, and keep what is held out apart."""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

import training.generate
import training.maker
from plgd.bench.material.corpus import read_listing
from plgd.text.lines import split_lines
from training.cases import Case, read_cases
from training.corpus import CorpusText, read_sources
from training.edit import Edit, Operation, Passage
from training.generate import Shard, make_shard
from training.lengths import n_tokens, token_counter
from training.maker import MAX_TOKENS, Maker
from training.operations.table import OPERATIONS
from training.shapes import Shelf, passage_of, range_around, regions

PYTHON = '''"""Count things."""

import os
import sys


def count_words(text, limit=10):
    """Count words."""
    total = 0
    for word in text.split():
        total += len(word)
        if total > limit:
            print("too many words", total)
            break
    return total


class Reader:
    def __init__(self, path):
        self.path = path

    def read(self):
        with open(self.path) as file:
            return file.read()
'''
SCRIPT = "const limit = 10;\n\nfunction count(text) {\n  let total = 0;\n  total += text.length;\n  return total;\n}\n"
TEXTS = [
    CorpusText("one", "one/count.py", "python", PYTHON),
    CorpusText("one", "one/longer.py", "python", PYTHON + "\n\n" + PYTHON.replace("count_words", "count_more")),
    CorpusText("two", "two/count.js", "javascript", SCRIPT),
]


def generate(folder: Path, numbers: list[int], split: str = "train", n_cases: int = 40) -> list[Case]:
    """Make shards in the given order and read them."""
    folder.mkdir()
    maker = Maker(Shelf(TEXTS), split, None)  # type: ignore[arg-type]  # one of the two
    for number in numbers:
        make_shard(Shard(number, n_cases, split, 1, folder, None), maker)  # type: ignore[arg-type]  # see above
    return list(read_cases(folder))


def write_corpus(folder: Path) -> None:
    """Write the texts as a corpus, the same for both splits."""
    for split in ("train", "held-out"):
        for text in TEXTS:
            path = folder / split / text.package / text.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.text, encoding="utf-8")
        index = b"".join(msgspec.json.encode(msgspec.structs.replace(text, text="")) + b"\n" for text in TEXTS)
        (folder / split / "index.jsonl").write_bytes(index)


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """Make some hundred cases of the training split."""
    return generate(tmp_path_factory.mktemp("cases") / "train", [0, 1, 2], n_cases=200)


def test_shards_do_not_depend_on_each_other(tmp_path: Path) -> None:
    """The same shard comes out byte for byte whichever worker makes it, and after whatever else."""
    generate(tmp_path / "first", [0, 1])
    random.seed(7)
    generate(tmp_path / "second", [1, 0])
    for number in (0, 1):
        name = f"cases-{number:05}.jsonl"
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()
    assert (tmp_path / "first" / "cases-00000.jsonl").read_bytes() != (
        tmp_path / "first" / "cases-00001.jsonl"
    ).read_bytes()


def test_a_case_changes_its_lines_unless_nothing_is_asked(cases: list[Case]) -> None:
    """A reply differs from what it rewrites, except where the right answer is no change."""
    for case in cases:
        lines = split_lines(case.text)
        source = "".join(lines[(case.first_line or 1) - 1 : case.last_line or len(lines)])
        assert (source == case.new_text) == (case.kind == "no_change"), case


def test_workers_and_hashes_change_nothing(tmp_path: Path) -> None:
    """The command gives the same bytes with one worker and with two, whatever Python's hashes are seeded with."""
    write_corpus(tmp_path / "corpus")
    found = []
    for workers, hash_seed in (("1", "1"), ("2", "2")):
        out = tmp_path / workers
        command = [sys.executable, "-m", "training.generate", str(tmp_path / "corpus"), str(out), "--workers", workers]
        environment = os.environ | {
            "PYTHONHASHSEED": hash_seed,
            "PYTHONPATH": str(Path(training.generate.__file__).parents[1]),
        }
        subprocess.run([*command, "--n-cases", "600"], env=environment, check=True, capture_output=True)
        found.append([path.read_bytes() for path in sorted(out.iterdir())])
    assert len(found[0]) == 2
    assert found[0] == found[1]


def fail(passage: Passage, _rng: random.Random) -> Edit | None:
    """Fail as an operation does that did not expect such a text."""
    raise IndexError(len(passage.text))


def test_a_fault_of_an_operation_costs_one_try(tmp_path: Path) -> None:
    """Where an operation fails the case is made otherwise, and the fault is counted by operation, error and place."""
    operations = [Operation("failing", fail, ("python",), 400), *OPERATIONS]
    maker = Maker(Shelf(TEXTS), "train", None, operations)
    tally = make_shard(Shard(0, 30, "train", 1, tmp_path, None), maker)
    assert tally.cases.total() == len(list(read_cases(tmp_path))) == 30
    assert {"failing"} == {failure.kind for failure in tally.failures}
    assert all(failure.error.startswith("IndexError: ") for failure in tally.failures)
    assert {Path(__file__).name} == {failure.place.split(":")[0] for failure in tally.failures}
    again = make_shard(Shard(1, 5, "train", 1, tmp_path, None), maker)
    assert maker.failures == tally.failures + again.failures


def test_faults_are_told_and_make_the_exit_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command writes all cases although an operation fails, tells which and where, and exits with 1."""
    write_corpus(tmp_path / "corpus")
    monkeypatch.setattr(training.maker, "OPERATIONS", (Operation("failing", fail, ("python",), 400), *OPERATIONS))
    for name, status in (("first", 1), ("second", 0)):
        out = tmp_path / name
        arguments = ["generate", str(tmp_path / "corpus"), str(out), "--workers", "1", "--n-cases", "20"]
        monkeypatch.setattr(sys, "argv", arguments)
        assert status == training.generate.main()
        assert len(list(read_cases(out))) == 20
        told = capsys.readouterr().err
        assert ("failing failed at test_generate.py:" in told) == bool(status)
        monkeypatch.undo()


def test_code_and_data_stay_what_they_are(cases: list[Case]) -> None:
    """The answer to a request for a whole file of Python is Python again."""
    whole = [case for case in cases if case.language == "python" and case.first_line is None]
    assert len(whole) > 100
    for case in whole:
        ast.parse(case.text)
        ast.parse(case.new_text)


def test_ranges_are_lines_of_the_file(cases: list[Case]) -> None:
    """About a third of the cases ask for a part of the file, and never for all of it."""
    ranges = [case for case in cases if case.first_line is not None]
    assert 0.25 < len(ranges) / len(cases) < 0.45
    for case in ranges:
        assert case.first_line is not None
        assert case.last_line is not None
        assert 1 <= case.first_line <= case.last_line <= len(split_lines(case.text))
        assert case.last_line - case.first_line + 1 < len(split_lines(case.text))


def test_line_ends_are_one_kind_in_text_and_answer(cases: list[Case]) -> None:
    """Some files end their lines in CRLF or have no end of the last line; their answers are alike."""
    for case in cases:
        crlf = "\r\n" in case.text
        assert ("\r\n" in case.new_text) == (crlf and "\n" in case.new_text)
        if crlf:
            assert "\n" not in case.new_text.replace("\r\n", "")
        if case.first_line is None:
            assert case.text.endswith("\n") == case.new_text.endswith("\n")
    assert any("\r\n" in case.text for case in cases)
    assert any(not case.text.endswith("\n") for case in cases)


def test_training_sees_no_held_out_phrasing(tmp_path: Path, cases: list[Case]) -> None:
    """Training has seen phrasings alone; about half of the held-out cases have others."""
    assert {"seen"} == {case.phrasing for case in cases}
    held_out = Counter(case.phrasing for case in generate(tmp_path / "held-out", [0], "held-out", 200))
    assert 60 < held_out["unseen"] < 140


def test_prompt_and_reply_fit(cases: list[Case]) -> None:
    """No case is longer than the training allows, by the tokens of its prompt and its reply."""
    assert max(n_tokens(case, token_counter(None)) for case in cases) <= MAX_TOKENS
    assert n_tokens(cases[0], token_counter(None)) > len(cases[0].text + cases[0].new_text) / 3


def test_packages_are_on_one_side() -> None:
    """No package is in both splits, and what the replay benchmark judges on is held out here too."""
    sources = read_sources()
    splits = {split: {source.name for source in sources if source.split == split} for split in ("train", "held-out")}
    judged = {package.name for package in read_listing() if package.part == "held-out"}
    assert not splits["train"] & splits["held-out"]
    assert not splits["train"] & judged


def test_sources_are_many_and_free() -> None:
    """Enough packages of each kind on each side, all under licences that ask for no more than a notice."""
    sources = read_sources()
    assert len({one.name for one in sources if one.kind != "npm" and one.split == "train"}) >= 60
    assert len({one.name for one in sources if one.kind != "npm" and one.split == "held-out"}) >= 10
    assert len({one.name for one in sources if one.kind == "npm" and one.split == "train"}) >= 15
    assert len({one.name for one in sources if one.kind == "npm" and one.split == "held-out"}) >= 4
    free = {"MIT", "BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "CC0-1.0", "PSF-2.0"}
    for source in sources:
        assert set(source.licence.split(" OR ")) <= free, source.name


def test_a_range_holds_the_change() -> None:
    """The lines around a change, rewritten, make the whole text what it must become."""
    before = "".join(f"line {number}\n" for number in range(30))
    after = before.replace("line 12\n", "new\nlines\n")
    for seed in range(20):
        found = range_around(before, after, random.Random(seed))
        assert found is not None
        first, last, new = found
        lines = split_lines(before)
        assert after == "".join([*lines[: first - 1], new, *lines[last:]])
    assert all(
        found is None or "".join(split_lines("a\n\n\nb\nc\n")[found[0] - 1 : found[1]]).strip()
        for seed in range(40)
        for found in [range_around("a\n\n\nb\nc\n", "a\n\nx\n\nb\nc\n", random.Random(seed))]
    )
    assert range_around("a\nb\n", "c\nd\n", random.Random(1)) is None


def test_a_range_around_an_insertion_holds_what_it_goes_between() -> None:
    """Whoever asks for a line behind another selects that one, and blank lines between do not count."""
    before = "".join(f"line {number}\n" for number in range(12)) + "\n\nlast\n"
    lines = split_lines(before)
    for after, neighbours in (
        (before.replace("line 5\n", "line 5\nnew\n"), ["line 5\n", "line 6\n"]),
        (before.replace("line 11\n\n", "line 11\n\nnew\n"), ["line 11\n", "last\n"]),
    ):
        for seed in range(20):
            found = range_around(before, after, random.Random(seed))
            assert found is not None
            first, last, _ = found
            assert set(neighbours) <= set(lines[first - 1 : last])


def test_regions_are_definitions_and_paragraphs() -> None:
    """What one would select: functions, methods and classes; paragraphs and sections."""
    lines = split_lines(PYTHON)
    starts = [lines[first].strip() for first, _ in regions(PYTHON, "python")]
    assert {"def count_words(text, limit=10):", "class Reader:", "def read(self):", "def __init__(self, path):"} == set(
        starts
    )
    assert [(0, 1), (0, 3), (2, 3), (4, 5)] == regions("# A\n\ntext\n\n# B\n", "markdown")


def test_texts_of_a_wanted_length_are_found() -> None:
    """A text is taken whole, or cut from a longer one at its borders."""
    shelf = Shelf(TEXTS)
    rng = random.Random(1)
    found = [text for _ in range(60) if (text := shelf.take("python", rng, (2, 11))) and text.package == "one"]
    assert found
    assert all(2 <= len(split_lines(text.text)) <= 13 for text in found)
    assert {passage_of(text).name for text in found} <= {"count.py", "longer.py"}
