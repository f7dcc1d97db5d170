"""`plgd edit` on pipes: what is asked of the daemon and the exact bytes that come out."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from cli.command import PLGD, WAIT_S, plgd
from cli.fake_daemon import FakeDaemon
from cli.results import DIFF, DRAFTS, NEW, OLD, edit_result
from plgd.documents.document import MAX_BYTES
from plgd.errors import Conflict, ConnectionLost, LinesOutOfRange
from plgd.protocol.drafting import DraftingParams, DraftSource
from plgd.protocol.edits import EditMode, EditParams, EditResult, EditStatus, LineRange
from plgd.protocol.methods import EDIT
from plgd.protocol.sampling import SamplingParams
from plgd_cli.commands.edit import COPY_BYTES, STANDARD_INPUT_LIMIT
from plgd_cli.draft_page import draft_page
from plgd_cli.draft_view import show_drafts

GIT = shutil.which("git") or ""
SUMMARY = "142 tokens in 1.9 s, 118 drafted and accepted, first token 0.2 s\n"
LOST = (
    "plgd: The daemon went away before it answered; see `plgd logs`. "
    "It was killed or it crashed; the next command starts another."
)
VIEW = show_drafts(edit_result(), DRAFTS, coloured=False)


def test_everything_said_reaches_the_daemon(daemon: FakeDaemon, sum_py: Path) -> None:
    """Every option of the command line becomes the parameter that it stands for."""
    daemon.answers(EDIT, edit_result())
    words = ["--lines", "2:3", "--model", "owner/name", "--max-tokens", "99", "--name", "other.py"]
    words += ["--temperature", "0.7", "--top-p", "0.9", "--top-k", "40", "--min-p", "0.05", "--seed", "3"]
    words += ["--repetition-penalty", "1.1", "--presence-penalty", "0.5", "--frequency-penalty", "-0.5"]
    words += ["--policy", "graded", "--max-draft", "15", "--ngram-min", "2", "--ngram-max", "4"]
    plgd("edit", "sum.py", "--instruction", "rename total", *words, cwd=sum_py.parent)
    expected = EditParams(
        instruction="rename total",
        path=str(sum_py),
        name="other.py",
        range=LineRange(first=2, last=3),
        mode=EditMode.PROPOSE,
        max_tokens=99,
        model="owner/name",
        drafting=DraftingParams(policy="graded", max_draft=15, ngram_min=2, ngram_max=4),
        sampling=SamplingParams(
            temperature=0.7,
            top_p=0.9,
            top_k=40,
            min_p=0.05,
            repetition_penalty=1.1,
            presence_penalty=0.5,
            frequency_penalty=-0.5,
            seed=3,
        ),
    )
    assert expected == daemon.next_params(EDIT)


def test_one_line_is_a_range(daemon: FakeDaemon, sum_py: Path) -> None:
    """`--lines 2` means the second line alone."""
    daemon.answers(EDIT, edit_result())
    plgd("edit", str(sum_py), "-i", "x", "--lines", "2")
    assert LineRange(first=2, last=2) == daemon.next_params(EDIT).range


def test_path_is_read_from_the_users_folder(daemon: FakeDaemon, tmp_path: Path) -> None:
    """A relative path starts at the folder that the user is in; `..` behind a symbolic link means the link's target."""
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "real/a.py").write_text("a", encoding="utf-8")
    (tmp_path / "link").symlink_to("real/deep")
    daemon.answers(EDIT, edit_result())
    plgd("edit", "link/../a.py", "-i", "x", cwd=tmp_path)
    asked = daemon.next_params(EDIT).path
    assert asked is not None
    assert (True, str(tmp_path / "real/a.py")) == (Path(asked).is_absolute(), os.path.realpath(asked))


@pytest.mark.parametrize("form", [[], ["--diff"]], ids=["review", "diff"])
def test_a_pipe_gets_the_diff_alone(form: list[str], daemon: FakeDaemon, sum_py: Path) -> None:
    """In a pipe, standard output is the diff, byte for byte; the summary goes to standard error."""
    daemon.answers(EDIT, edit_result())
    done = plgd("edit", str(sum_py), "-i", "x", *form, env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert (0, DIFF.encode(), SUMMARY.encode()) == (done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(not GIT, reason="needs git")
@pytest.mark.parametrize("name", ["sum.py", "src/a b.py", 'src/"ä".py'])
def test_the_diff_goes_into_git_apply(name: str, daemon: FakeDaemon, tmp_path: Path) -> None:
    """`plgd edit PATH --diff | git apply` makes the new text, also for a file in a folder below."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(OLD.encode())
    daemon.answers(EDIT, edit_result(path=str(path.resolve())))
    done = plgd("edit", name, "-i", "x", "--diff", cwd=tmp_path)
    subprocess.run([GIT, "apply", "--whitespace=nowarn"], input=done.stdout, cwd=tmp_path, check=True)
    assert NEW.encode() == path.read_bytes()


@pytest.mark.skipif(not GIT, reason="needs git")
def test_the_diff_of_a_file_elsewhere_changes_none_here(daemon: FakeDaemon, sum_py: Path) -> None:
    """A file that is not below the user's folder is named so that git refuses it, and a twin here stays as it is."""
    daemon.answers(EDIT, edit_result(path=str(sum_py)))
    other = sum_py.parent / "other"
    other.mkdir()
    (other / "sum.py").write_bytes(OLD.encode())
    shown = plgd("edit", "../sum.py", "-i", "x", "--diff", cwd=other).stdout
    assert shown.startswith(b"--- a/../sum.py\n+++ b/../sum.py\n@@ ")
    done = subprocess.run([GIT, "apply"], input=shown, cwd=other, check=False, capture_output=True)
    assert b"../sum.py" in done.stderr
    assert done.returncode
    assert OLD.encode() == (other / "sum.py").read_bytes()


def test_json_is_the_whole_result(daemon: FakeDaemon, sum_py: Path) -> None:
    """`--json` prints the result as one line of JSON and nothing on standard error."""
    daemon.answers(EDIT, edit_result())
    done = plgd("edit", str(sum_py), "-i", "x", "--json")
    assert edit_result() == msgspec.json.decode(done.stdout, type=EditResult)
    assert (0, b"", 1) == (done.returncode, done.stderr, done.stdout.count(b"\n"))


def test_write_asks_the_daemon_to_apply(daemon: FakeDaemon, sum_py: Path) -> None:
    """`--write` leaves the writing to the daemon and says what was written, on standard error."""
    daemon.answers(EDIT, edit_result(EditStatus.APPLIED))
    done = plgd("edit", "sum.py", "-i", "x", "--write", cwd=sum_py.parent)
    assert EditMode.APPLY is daemon.next_params(EDIT).mode
    assert (0, b"", f"sum.py: 1 change written\n{SUMMARY}".encode()) == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("form", "expected"), [("--diff", DIFF.encode()), ("--json", msgspec.json.encode(edit_result(EditStatus.APPLIED)))]
)
def test_write_can_show_what_it_did(form: str, expected: bytes, daemon: FakeDaemon, sum_py: Path) -> None:
    """`--write` together with `--diff` or `--json` also prints what was done."""
    daemon.answers(EDIT, edit_result(EditStatus.APPLIED))
    assert expected.strip() == plgd("edit", str(sum_py), "-i", "x", "--write", form).stdout.strip()


def test_standard_input_becomes_the_new_text(daemon: FakeDaemon) -> None:
    """With `-`, the text of standard input goes to the daemon and the new text comes out, byte for byte and alone."""
    daemon.answers(EDIT, edit_result(path=""))
    given = b"\xef\xbb\xbf" + OLD.encode()
    done = plgd("edit", "-", "-i", "x", stdin=given, env={"LC_ALL": "C"})
    params = daemon.next_params(EDIT)
    assert (None, given) == (params.path, (params.text or "").encode())
    assert (0, NEW.encode(), b"") == (done.returncode, done.stdout, done.stderr)


def test_standard_input_can_become_a_diff(daemon: FakeDaemon) -> None:
    """With `-` and `--diff`, the diff comes out instead of the text."""
    daemon.answers(EDIT, edit_result(path=""))
    assert DIFF.encode() == plgd("edit", "-", "-i", "x", "--diff", stdin=OLD.encode()).stdout


@pytest.mark.parametrize(
    "status", [EditStatus.NO_CHANGE, EditStatus.TRUNCATED, EditStatus.REJECTED_OUTPUT, EditStatus.CONFLICT]
)
def test_a_filter_gives_back_what_it_could_not_change(status: EditStatus, daemon: FakeDaemon) -> None:
    """With `-`, an edit that comes to nothing gives the text back, so that no buffer is emptied."""
    daemon.answers(EDIT, edit_result(status, path=""))
    assert OLD.encode() == plgd("edit", "-", "-i", "x", stdin=OLD.encode()).stdout


@pytest.mark.parametrize("text", [OLD.encode(), b"caf\xe9\n"], ids=["text", "not UTF-8"])
def test_a_filter_gives_back_what_it_got_when_it_fails(text: bytes, daemon: FakeDaemon) -> None:
    """With `-`, an error also gives back every byte of standard input; the error is on standard error."""
    daemon.answers(EDIT, LinesOutOfRange.of("text.txt", 9, 9, 3))
    done = plgd("edit", "-", "-i", "x", "--lines", "9", stdin=text)
    assert text == done.stdout
    assert done.returncode != 0
    assert done.stderr.startswith(b"plgd: ")


def test_standard_input_that_cannot_be_read_is_an_error() -> None:
    """Standard input that is open for writing only is refused in words."""
    with Path(os.devnull).open("wb") as stdin:
        done = subprocess.run(
            [*PLGD, "edit", "-", "-i", "x"], stdin=stdin, capture_output=True, check=False, timeout=30
        )
    assert (1, b"plgd: Standard input cannot be read: Bad file descriptor.\n") == (done.returncode, done.stderr)


@pytest.mark.parametrize(
    ("status", "advice", "is_summed_up"),
    [(EditStatus.NO_CHANGE, b"in other words", True), (EditStatus.CANCELLED, b"Run the command again", False)],
)
def test_an_edit_that_came_to_nothing_says_what_to_do(
    status: EditStatus, advice: bytes, is_summed_up: bool, daemon: FakeDaemon, sum_py: Path
) -> None:
    """What did not change the file comes with advice; an edit that was cancelled has no speed to tell."""
    daemon.answers(EDIT, edit_result(status))
    said = plgd("edit", str(sum_py), "-i", "x").stderr
    assert advice in said
    assert (b" tokens in " in said) is is_summed_up


def test_warnings_are_said(daemon: FakeDaemon, sum_py: Path) -> None:
    """What the daemon warns of is said on standard error, one line each."""
    daemon.answers(EDIT, edit_result(EditStatus.REJECTED_OUTPUT, warnings=("The reply holds a placeholder.",)))
    done = plgd("edit", str(sum_py), "-i", "x")
    expected = (
        "plgd: The reply holds a placeholder.\n"
        "plgd: Nothing was changed; put the instruction in other words, or try another model.\n" + SUMMARY
    )
    assert expected.encode() == done.stderr


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        (["sum.py"], "sum.py is unchanged."),
        (["sum.py", "--write"], "sum.py is unchanged."),
        (["-"], "Nothing was changed."),
    ],
    ids=["review", "write", "filter"],
)
def test_daemon_that_dies_is_an_error(words: list[str], outcome: str, daemon: FakeDaemon, sum_py: Path) -> None:
    """A connection that ends before the answer is said, and whether the file can have been written by then."""
    daemon.answers(EDIT, ConnectionLost())
    done = plgd("edit", *words, "-i", "x", stdin=b"x", cwd=sum_py.parent)
    assert (1, f"{LOST} {outcome}\n") == (done.returncode, done.stderr.decode())


def test_a_daemon_that_dies_after_it_wrote(daemon: FakeDaemon, sum_py: Path) -> None:
    """When the new text came on disk before the daemon died, the command says that the file was written."""

    def write_and_die() -> ConnectionLost:
        new = sum_py.with_name("new")
        new.write_text(sum_py.read_text())
        new.replace(sum_py)
        return ConnectionLost()

    daemon.answers(EDIT, write_and_die)
    done = plgd("edit", "sum.py", "--write", "-i", "x", cwd=sum_py.parent)
    outcome = "sum.py was written since the edit began, by plgd or by somebody else; look at it."
    assert (1, f"{LOST} {outcome}\n") == (done.returncode, done.stderr.decode())


def test_a_conflict_is_said_once(daemon: FakeDaemon, sum_py: Path) -> None:
    """What the daemon says of a conflict is the whole message."""
    warning = Conflict.on("sum.py", "line 1").message
    daemon.answers(EDIT, edit_result(EditStatus.CONFLICT, warnings=(warning,)))
    assert f"plgd: {warning}\n{SUMMARY}" == plgd("edit", str(sum_py), "-i", "x").stderr.decode()


def test_an_empty_standard_input_is_refused(daemon: FakeDaemon) -> None:
    """Behind a command that failed, a filter asks no model to make something of nothing."""
    done = plgd("edit", "-", "-i", "x", stdin=b"")
    words = b"Standard input is empty, so there is nothing to edit. For a new text, create an empty file and name it."
    assert (1, b"", b"plgd: " + words + b"\n") == (done.returncode, done.stdout, done.stderr)
    assert daemon.asked.empty()


def test_endless_standard_input_is_refused(daemon: FakeDaemon, tmp_path: Path) -> None:
    """More than the daemon takes is not read into memory, and a filter gives all of it back."""
    assert STANDARD_INPUT_LIMIT == MAX_BYTES
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(STANDARD_INPUT_LIMIT + 2 * COPY_BYTES)
    with large.open("rb") as stdin, (tmp_path / "given").open("wb") as stdout:
        command = [*PLGD, "edit", "-", "-i", "x"]
        done = subprocess.run(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, timeout=WAIT_S, check=False)
    assert (1, b"plgd: Standard input cannot be read: it is larger than 64 MB.\n") == (done.returncode, done.stderr)
    assert large.stat().st_size == (tmp_path / "given").stat().st_size
    assert daemon.asked.empty()


def test_model_folder_is_found_from_anywhere(daemon: FakeDaemon, sum_py: Path) -> None:
    """`--model ./folder` is the folder beside the user, wherever the daemon runs."""
    daemon.answers(EDIT, edit_result())
    plgd("edit", "sum.py", "-i", "x", "--model", "./m", cwd=sum_py.parent)
    assert f"{sum_py.parent}/m" == daemon.next_params(EDIT).model


def test_output_that_cannot_be_written_is_an_error(daemon: FakeDaemon, sum_py: Path) -> None:
    """A full disk behind standard output is said in one sentence."""
    daemon.answers(EDIT, edit_result())
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PLGD, "edit", str(sum_py), "-i", "x"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            timeout=30,
        )
    expected = b"plgd: Standard output cannot be written: No space left on device.\n"
    assert (1, expected) == (done.returncode, done.stderr)


def test_reader_that_left_is_no_failure_to_talk_about(daemon: FakeDaemon, sum_py: Path) -> None:
    """When nobody reads the output any more, the command ends quietly, with the shell's code for it."""
    daemon.answers(EDIT, edit_result())
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*PLGD, "edit", str(sum_py), "-i", "x"], stdout=writer, stderr=subprocess.PIPE, check=False, timeout=30
    )
    os.close(writer)
    assert (141, b"") == (done.returncode, done.stderr)


def test_sources_and_the_wish_for_drafts_reach_the_daemon(daemon: FakeDaemon, sum_py: Path) -> None:
    """`--source` names files from the user's folder, as often as given; `--show-drafts` and `--html` ask for drafts."""
    for name in ("a b.py", "c.py"):
        (sum_py.parent / name).write_text("x")
    daemon.answers(EDIT, edit_result(drafts=DRAFTS))
    for words in (["--source", "a b.py", "--source", "c.py", "--show-drafts"], ["--html", "page.html"], []):
        plgd("edit", "sum.py", "-i", "x", *words, cwd=sum_py.parent)
    asked = [daemon.next_params(EDIT) for _ in range(3)]
    expected = tuple(DraftSource(path=str(sum_py.parent / name)) for name in ("a b.py", "c.py"))
    assert [(expected, True), ((), True), ((), False)] == [(each.sources, each.show_drafts) for each in asked]


def test_a_source_that_is_missing_is_named(daemon: FakeDaemon, sum_py: Path) -> None:
    """A source that is not there is an error before anything is asked."""
    done = plgd("edit", "sum.py", "-i", "x", "--source", "other.py", cwd=sum_py.parent)
    assert (1, True) == (done.returncode, done.stderr.startswith(b"plgd: other.py")), done.stderr
    assert daemon.asked.empty()


@pytest.mark.parametrize(
    ("words", "stdout", "is_beside"),
    [
        (["sum.py"], VIEW, False),
        (["sum.py", "--write"], VIEW, False),
        (["sum.py", "--diff"], DIFF, True),
        (["sum.py", "--diff", "--write"], DIFF, True),
        (["-"], NEW, True),
        (["-", "--diff"], DIFF, True),
    ],
    ids=["review", "write", "diff", "diff and write", "filter", "filter with diff"],
)
def test_drafts_are_shown_besides(
    words: list[str], stdout: str, is_beside: bool, daemon: FakeDaemon, sum_py: Path
) -> None:
    """Who drafted the reply is on standard output where a review would be, and else beside it."""
    daemon.answers(EDIT, edit_result(drafts=DRAFTS))
    done = plgd("edit", *words, "-i", "x", "--show-drafts", stdin=OLD.encode(), cwd=sum_py.parent)
    assert (0, stdout) == (done.returncode, done.stdout.decode())
    assert is_beside == (VIEW in done.stderr.decode())


def test_json_has_the_drafts(daemon: FakeDaemon, sum_py: Path) -> None:
    """With `--json` the drafts are in the result, and nothing is shown besides."""
    daemon.answers(EDIT, edit_result(drafts=DRAFTS))
    done = plgd("edit", str(sum_py), "-i", "x", "--json", "--show-drafts")
    assert (DRAFTS, b"") == (msgspec.json.decode(done.stdout, type=EditResult).drafts, done.stderr)


def test_an_edit_without_a_reply_shows_what_it_always_shows(daemon: FakeDaemon, sum_py: Path) -> None:
    """A conflict that was seen at once has no drafts; it is said, and that there is no page."""
    warning = Conflict.on("sum.py", "line 1").message
    daemon.answers(EDIT, edit_result(EditStatus.CONFLICT, warnings=(warning,)))
    done = plgd("edit", "sum.py", "-i", "x", "--show-drafts", "--html", "page.html", cwd=sum_py.parent)
    said = f"plgd: {warning}\n{SUMMARY}plgd: The page page.html cannot be written: there was no reply.\n"
    assert (1, b"", said) == (done.returncode, done.stdout, done.stderr.decode())


def test_the_page_is_written_besides(daemon: FakeDaemon, sum_py: Path) -> None:
    """`--html FILE` writes the page and changes nothing else of the output."""
    daemon.answers(EDIT, edit_result(drafts=DRAFTS))
    done = plgd("edit", "sum.py", "-i", "x", "--html", "page.html", cwd=sum_py.parent)
    assert (0, DIFF.encode(), SUMMARY.encode()) == (done.returncode, done.stdout, done.stderr)
    assert draft_page(edit_result(), DRAFTS, name="sum.py") == (sum_py.parent / "page.html").read_text()


@pytest.mark.parametrize("words", [["sum.py", "--html", "sum.py"], ["-", "--source", "sum.py", "--html", "./sum.py"]])
def test_a_page_never_replaces_a_text(words: list[str], daemon: FakeDaemon, sum_py: Path) -> None:
    """A page in the place of a file that the edit reads is refused before anything is asked."""
    done = plgd("edit", *words, "-i", "x", stdin=b"text", cwd=sum_py.parent)
    assert (1, True) == (done.returncode, b"cannot be written: it is a file that this edit reads" in done.stderr)
    assert OLD.encode() == sum_py.read_bytes()
    assert daemon.asked.empty()


def test_a_page_that_fails_takes_nothing_back(daemon: FakeDaemon) -> None:
    """With a full disk behind the page, a filter still gives out the new text, once, and ends with an error."""
    daemon.answers(EDIT, edit_result(drafts=DRAFTS, path=""))
    done = plgd("edit", "-", "-i", "x", "--html", "/dev/full", stdin=OLD.encode())
    assert (1, NEW.encode()) == (done.returncode, done.stdout)
    assert b"plgd: The page /dev/full cannot be written: No space left on device.\n" == done.stderr
