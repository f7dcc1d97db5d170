"""`plgd edit` of several files, and of a sketch: what is asked of the daemon and what comes out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from cli.command import plgd
from cli.fake_daemon import FakeDaemon
from cli.results import DIFF, STATS, edit_result
from plgd.errors import BY_CODE, ConnectionLost, TextTooLong
from plgd.protocol.edit_many import EditManyResult, FileError, FileResult, make_many_result
from plgd.protocol.edits import EditMode, EditParams, EditStatus
from plgd.protocol.methods import EDIT, EDIT_MANY


@pytest.fixture
def two(sum_py: Path) -> list[Path]:
    """Two files in one folder."""
    other = sum_py.with_name("other.py")
    other.write_text("x = 1\n")
    return [sum_py, other]


def many(*files: EditStatus | FileError) -> EditManyResult:
    """An answer with a file of each status, or an error."""
    results = [
        FileResult(error=each) if isinstance(each, FileError) else FileResult(result=edit_result(each))
        for each in files
    ]
    return make_many_result("s", results)


def test_several_files_are_one_request(daemon: FakeDaemon, two: list[Path]) -> None:
    """The instruction and the options go along with every file."""
    daemon.answers(EDIT_MANY, many(EditStatus.APPLIED, EditStatus.APPLIED))
    words = ["sum.py", "other.py", "-i", "rename total", "--write", "--all-or-nothing", "--max-tokens", "9"]
    done = plgd("edit", *words, cwd=two[0].parent)
    asked = daemon.next_params(EDIT_MANY)
    assert asked.all_or_nothing
    assert asked.files == tuple(
        EditParams(instruction="rename total", path=str(path), mode=EditMode.APPLY, max_tokens=9) for path in two
    )
    assert done.returncode == 0
    assert b"sum.py: 1 change written" in done.stderr
    assert b"other.py: 1 change written" in done.stderr


@pytest.mark.parametrize(
    ("other", "words"),
    [("sum.py", "sum.py is named twice"), ("link.py", "sum.py and link.py are the same file")],
)
def test_a_file_is_named_once(other: str, words: str, daemon: FakeDaemon, sum_py: Path) -> None:
    """A file that is named twice, also by a link, is wrong usage, told by the names that the user gave."""
    sum_py.with_name("link.py").symlink_to(sum_py)
    done = plgd("edit", "sum.py", other, "-i", "x", cwd=sum_py.parent)
    assert (2, True) == (done.returncode, f"plgd edit: {words}\n" in done.stderr.decode())
    assert daemon.asked.empty()


def test_a_daemon_that_dies_is_explained(daemon: FakeDaemon, two: list[Path]) -> None:
    """When the daemon dies, the command says so, what comes next, and which texts the files can have."""
    daemon.answers(EDIT_MANY, ConnectionLost())
    done = plgd("edit", "sum.py", "other.py", "-i", "x", "--write", cwd=two[0].parent)
    said = "the next command starts another. Files have their old texts or their new ones, each of them whole.\n"
    assert (1, True) == (done.returncode, done.stderr.decode().endswith(said))


def test_a_command_does_not_wait_for_itself(daemon: FakeDaemon, two: list[Path]) -> None:
    """Only the first file can have waited for other edits; what the second waited for is the first."""
    stats = msgspec.structs.replace(STATS, queue_ms=2000.0)
    answer = make_many_result("s", [FileResult(result=edit_result(stats=stats))] * 2)
    daemon.answers(EDIT_MANY, answer)
    done = plgd("edit", "sum.py", "other.py", "-i", "x", cwd=two[0].parent)
    waits = [line.endswith("(waited 2 s for its turn)") for line in done.stderr.decode().splitlines()]
    assert [True, False] == waits


def test_remarks_name_their_file(daemon: FakeDaemon, two: list[Path]) -> None:
    """Of several files, each remark says which one it is about."""
    daemon.answers(EDIT_MANY, many(EditStatus.APPLIED, EditStatus.NO_CHANGE))
    said = plgd("edit", "sum.py", "other.py", "-i", "x", "--write", cwd=two[0].parent).stderr.decode().splitlines()
    assert "sum.py: 1 change written" in said
    assert [line for line in said if line.startswith("plgd: other.py: The model changed nothing")]
    assert ["sum.py", "other.py"] == [line.partition(": ")[0] for line in said if " tokens in " in line]


def test_each_diff_is_printed(daemon: FakeDaemon, two: list[Path]) -> None:
    """The diffs follow each other, as one patch."""
    daemon.answers(EDIT_MANY, many(EditStatus.PROPOSED, EditStatus.PROPOSED))
    done = plgd("edit", "sum.py", "other.py", "-i", "x", "--diff", cwd=two[0].parent)
    assert (0, DIFF.encode() * 2) == (done.returncode, done.stdout)
    assert not daemon.next_params(EDIT_MANY).all_or_nothing


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        ((EditStatus.APPLIED, EditStatus.NO_CHANGE), 0),
        ((EditStatus.NO_CHANGE, EditStatus.NO_CHANGE), 5),
        ((EditStatus.PROPOSED, EditStatus.CONFLICT), 3),
        ((EditStatus.REJECTED_OUTPUT, EditStatus.CANCELLED), 4),
        ((EditStatus.APPLIED, FileError(path="other.py", code=TextTooLong.code, message="It is too long.")), 1),
    ],
)
def test_the_exit_code_is_that_of_the_first_failure(
    daemon: FakeDaemon, two: list[Path], statuses: tuple[EditStatus | FileError, ...], code: int
) -> None:
    """A file that failed decides; no change counts only when no file changed; an error is said."""
    daemon.answers(EDIT_MANY, many(*statuses))
    done = plgd("edit", "sum.py", "other.py", "-i", "x", cwd=two[0].parent)
    assert code == done.returncode
    assert (b"plgd: It is too long.\n" in done.stderr) == (code == BY_CODE[TextTooLong.code].exit_code)


def test_as_json_the_whole_answer_is_printed(daemon: FakeDaemon, two: list[Path]) -> None:
    """`--json` prints what the daemon answered, and the exit code is the same."""
    answer = many(EditStatus.PROPOSED, EditStatus.CONFLICT)
    daemon.answers(EDIT_MANY, answer)
    done = plgd("edit", "sum.py", "other.py", "-i", "x", "--json", cwd=two[0].parent)
    assert (3, answer) == (done.returncode, msgspec.json.decode(done.stdout, type=EditManyResult))


def test_a_sketch_is_read_from_a_file(daemon: FakeDaemon, sum_py: Path) -> None:
    """A sketch goes to the daemon as it is, and needs no instruction."""
    daemon.answers(EDIT, edit_result())
    sum_py.with_name("sketch").write_bytes(b"# ... existing code ...\r\nprint(1)\n")
    done = plgd("edit", "sum.py", "--sketch", "sketch", cwd=sum_py.parent)
    asked = daemon.next_params(EDIT)
    assert ("", "# ... existing code ...\r\nprint(1)\n") == (asked.instruction, asked.code_edit)
    assert done.returncode == 0


@pytest.mark.parametrize(("data", "words"), [(b"caf\xe9", b"not UTF-8 (byte 3)"), (None, b"no such file")])
def test_a_sketch_that_cannot_be_read(sum_py: Path, data: bytes | None, words: bytes) -> None:
    """A sketch that is no text, or is not there, is told by its name before anything is asked."""
    if data is not None:
        sum_py.with_name("sketch").write_bytes(data)
    done = plgd("edit", "sum.py", "--sketch", "sketch", cwd=sum_py.parent)
    assert done.returncode == 1
    assert b"sketch" in done.stderr
    assert words in done.stderr
