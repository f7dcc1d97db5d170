"""What a person sees, on a real pseudo-terminal, and what a pipe must not get."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from cli.command import on_terminal, plgd
from cli.fake_daemon import FakeDaemon
from cli.models import model_info
from cli.results import DIFF, DRAFTS, NEW, OLD, STATS, edit_result
from plgd.protocol.conflicts import ConflictLines
from plgd.protocol.edits import EditMode, EditProgress, EditStatus, Stage
from plgd.protocol.methods import EDIT, EDIT_ACCEPT, MODEL_LIST, MODEL_PULL
from plgd.protocol.models import ModelListResult, PullProgress
from plgd.protocol.sessions import AcceptParams, AcceptResult, HunkState, ReviewedHunk

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def plain(shown: str) -> str:
    """Take colours and cursor movements out of what a terminal got."""
    return ESCAPE.sub("", shown)


def test_diff_is_coloured(daemon: FakeDaemon, sum_py: Path) -> None:
    """On a terminal the diff has colours, the summary follows, and a hint says how to apply it."""
    daemon.answers(EDIT, edit_result())
    seen = on_terminal("edit", str(sum_py), "-i", "x")
    assert seen.exit_code == 0
    assert "\x1b[31m-total = 0␍\x1b[0m\r\n\x1b[32m+running = 0␍\x1b[0m\r\n" in seen.shown
    assert seen.shown.endswith(
        "142 tokens in 1.9 s, 118 drafted and accepted, first token 0.2 s\r\n"
        "Nothing was written yet; use --write to apply.\r\n"
    )


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_colours_can_be_refused(env: dict[str, str], daemon: FakeDaemon, sum_py: Path) -> None:
    """With NO_COLOR, or on a terminal that has none, the diff is shown without colours."""
    daemon.answers(EDIT, edit_result())
    seen = on_terminal("edit", str(sum_py), "-i", "x", env=env)
    assert DIFF.replace("\n", "\r\n") in seen.shown


def test_who_drafted_is_coloured(daemon: FakeDaemon, sum_py: Path) -> None:
    """On a terminal the reply is coloured by who drafted it, in place of the diff."""
    daemon.answers(EDIT, edit_result(drafts=DRAFTS))
    seen = on_terminal("edit", str(sum_py), "-i", "x", "--show-drafts")
    assert "\x1b[35mrunning\x1b[0m" in seen.shown
    assert "@@" not in seen.shown
    assert seen.shown.endswith("Nothing was written yet; use --write to apply.\r\n")


def test_who_drafted_is_coloured_beside_a_pipe(daemon: FakeDaemon, sum_py: Path) -> None:
    """With `--diff > file` the file gets the diff alone, and the terminal who drafted the reply."""
    daemon.answers(EDIT, edit_result(drafts=DRAFTS))
    seen = on_terminal("edit", str(sum_py), "-i", "x", "--diff", "--show-drafts", stdout_is_pipe=True)
    assert DIFF.encode() == seen.stdout
    assert "\x1b[35mrunning\x1b[0m" in seen.shown


def test_pipe_stays_clean_beside_a_terminal(daemon: FakeDaemon, sum_py: Path) -> None:
    """With `plgd edit ... > file` the file gets the diff alone while the terminal shows the rest."""
    daemon.notifies(EDIT, EditProgress(id=0, stage=Stage.DECODE, percent=40.0, tokens_per_s=80.0, n_tokens=60))
    daemon.answers(EDIT, edit_result())
    seen = on_terminal("edit", str(sum_py), "-i", "x", stdout_is_pipe=True)
    assert DIFF.encode() == seen.stdout
    assert "60 tokens, 80 tokens/s" in plain(seen.shown)


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (EditProgress(id=0, stage=Stage.QUEUED, queue_position=1), r"waiting .* this one is next"),
        (EditProgress(id=0, stage=Stage.QUEUED, queue_position=3), r"waiting .* 2 more before this one"),
        (EditProgress(id=0, stage=Stage.LOADING, percent=37.0), r"loading the model .* 37%"),
        (EditProgress(id=0, stage=Stage.PREFILL, percent=50.0), r"reading .* 50%"),
        (
            EditProgress(id=0, stage=Stage.DECODE, percent=81.0, n_tokens=1150, tokens_per_s=93.4),
            r"writing .* 81% 1,150 tokens, 93 tokens/s",
        ),
        (EditProgress(id=0, stage=Stage.APPLY, percent=100.0), r"checking .* 100%"),
    ],
    ids=lambda value: value.stage.value if isinstance(value, EditProgress) else "",
)
def test_progress_is_drawn(progress: EditProgress, expected: str, daemon: FakeDaemon, sum_py: Path) -> None:
    """The progress line shows stage and percent, and in the reply the tokens and their speed."""
    daemon.notifies(EDIT, progress)
    daemon.answers(EDIT, edit_result())
    assert re.search(expected, plain(on_terminal("edit", str(sum_py), "-i", "x").shown))


def test_progress_is_silent_in_a_pipe(daemon: FakeDaemon, sum_py: Path) -> None:
    """Without a terminal an edit's progress leaves no trace, even where colours are forced."""
    daemon.answers(EDIT, edit_result())
    quiet = plgd("edit", str(sum_py), "-i", "x").stderr
    daemon.notifies(EDIT, EditProgress(id=0, stage=Stage.DECODE, percent=40.0, tokens_per_s=80.0, n_tokens=60))
    assert quiet == plgd("edit", str(sum_py), "-i", "x", env={"FORCE_COLOR": "1"}).stderr


@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ([Stage.LOADING, Stage.DECODE], "142 tokens in 1.9 s, .* first token 0.2 s \\(model loaded in 40 s\\)\r\n"),
        (
            [Stage.QUEUED, Stage.DECODE],
            "142 tokens in 1.9 s, .* first token 0.2 s \\(waited 40 s for its turn\\)\r\n",
        ),
    ],
    ids=["load", "queue"],
)
def test_waiting_is_told_apart(stages: list[Stage], expected: str, daemon: FakeDaemon, sum_py: Path) -> None:
    """What an edit waited for the model is not counted as the edit's time."""
    waited_ms = 40_000.0
    daemon.notifies(EDIT, *(EditProgress(id=0, stage=stage) for stage in stages))
    stats = msgspec.structs.replace(
        STATS, queue_ms=waited_ms, ttft_ms=STATS.ttft_ms + waited_ms, total_ms=STATS.total_ms + waited_ms
    )
    daemon.answers(EDIT, edit_result(stats=stats))
    assert re.search(expected, plain(on_terminal("edit", str(sum_py), "-i", "x").shown))


def test_missing_instruction_is_asked_for(daemon: FakeDaemon, sum_py: Path) -> None:
    """On a terminal, an edit without an instruction asks for it; the question stays out of the output."""
    daemon.answers(EDIT, edit_result())
    seen = on_terminal("edit", str(sum_py), typed="rename total\n", stdout_is_pipe=True)
    assert "rename total" == daemon.next_params(EDIT).instruction
    assert "What should change? " in seen.shown
    assert DIFF.encode() == seen.stdout


def accept_result(status: EditStatus = EditStatus.APPLIED, **changes: object) -> AcceptResult:
    """What became of the example's two hunks."""
    hunks = tuple(ReviewedHunk(n, 1, 1, 1, 1, HunkState.ACCEPTED) for n in (1, 2))
    result = AcceptResult(
        session="e1",
        status=status,
        path="/home/user/sum.py",
        base_fingerprint="b",
        new_fingerprint="n",
        version=2,
        new_text=NEW,
        diff=DIFF,
        hunks=hunks,
        warnings=(),
    )
    return msgspec.structs.replace(result, **changes)


def test_what_was_shown_is_written_if_wanted(daemon: FakeDaemon, sum_py: Path) -> None:
    """With `--ask` the diff is shown, and a yes writes exactly this proposal."""
    daemon.answers(EDIT, edit_result())
    daemon.answers(EDIT_ACCEPT, accept_result())
    seen = on_terminal("edit", str(sum_py), "-i", "x", "--ask", typed="y\n")
    assert seen.exit_code == 0
    shown = plain(seen.shown)
    assert shown.index("+running = 0") < shown.index(f"Write this to {sum_py}? [y/N] ")
    assert shown.endswith(f"{sum_py}: 2 changes written\r\n")
    assert EditMode.PROPOSE == daemon.next_params(EDIT).mode
    assert AcceptParams(session="e1") == daemon.next_params(EDIT_ACCEPT)


@pytest.mark.parametrize("typed", ["n\n", "\n", "yep\n", "\x04"], ids=["no", "enter", "another word", "end of input"])
def test_only_a_yes_writes(typed: str, daemon: FakeDaemon, sum_py: Path) -> None:
    """Whatever else is answered leaves the file as it is."""
    daemon.answers(EDIT, edit_result())
    seen = on_terminal("edit", str(sum_py), "-i", "x", "--ask", typed=typed)
    assert seen.exit_code == 0
    assert seen.shown.endswith(f"{sum_py} is unchanged\r\n")
    assert "edit" == daemon.next_request()[0]
    assert daemon.asked.empty()


def test_a_file_that_changed_before_the_yes_is_left(daemon: FakeDaemon, sum_py: Path) -> None:
    """When the file changes while the question stands, nothing is written over it, and the exit code says so."""
    conflict = ConflictLines(first=1, last=1, file_first=1, base="total = 0\n", file="mine = 0\n", edit="running = 0\n")
    warning = f"{sum_py} changed in the same lines."
    daemon.answers(EDIT, edit_result())
    daemon.answers(EDIT_ACCEPT, accept_result(EditStatus.CONFLICT, warnings=(warning,), conflict=conflict))
    seen = on_terminal("edit", str(sum_py), "-i", "x", "--ask", typed="y\n")
    assert seen.exit_code == 3
    assert f"plgd: {warning}\r\n" in seen.shown
    assert "  file | mine = 0\r\n" in seen.shown


def test_nothing_to_write_is_no_question(daemon: FakeDaemon, sum_py: Path) -> None:
    """An edit that changes nothing ends without a question."""
    daemon.answers(EDIT, edit_result(EditStatus.NO_CHANGE))
    seen = on_terminal("edit", str(sum_py), "-i", "x", "--ask")
    assert seen.exit_code == 5
    assert "[y/N]" not in seen.shown


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--write",), "--ask and --write exclude each other"),
        (("--json",), "--ask and --json exclude each other"),
        (("{}", "--diff"), "--ask is about one file"),
    ],
    ids=["write", "json", "several files"],
)
def test_what_cannot_be_asked(words: tuple[str, ...], why: str, daemon: FakeDaemon, sum_py: Path) -> None:
    """Options that leave nothing to ask are refused before the model works."""
    (sum_py.parent / "b.py").write_text("x = 1\n")
    more = [word.format(sum_py.parent / "b.py") for word in words]
    seen = on_terminal("edit", str(sum_py), *more, "-i", "x", "--ask")
    assert seen.exit_code == 2
    assert why in plain(seen.shown)
    assert daemon.asked.empty()


def test_nobody_to_ask(daemon: FakeDaemon, sum_py: Path) -> None:
    """Without a terminal there is nobody who could say yes."""
    done = plgd("edit", str(sum_py), "-i", "x", "--ask")
    assert done.returncode == 2
    assert b"--ask needs a person at a terminal" in done.stderr
    assert daemon.asked.empty()


@pytest.mark.parametrize("typed", ["\n", "\x04"], ids=["enter", "end of input"])
def test_no_answer_is_an_empty_instruction(typed: str, daemon: FakeDaemon, sum_py: Path) -> None:
    """Answering the question with nothing is an empty instruction."""
    seen = on_terminal("edit", str(sum_py), typed=typed)
    assert 2 == seen.exit_code
    assert "The instruction is empty." in seen.shown
    assert daemon.asked.empty()


def test_filter_on_a_terminal_has_remarks(daemon: FakeDaemon) -> None:
    """With `-`, the terminal shows the summary beside the new text."""
    daemon.answers(EDIT, edit_result(path=""))
    seen = on_terminal("edit", "-", "-i", "x", stdin=OLD.encode(), stdout_is_pipe=True)
    assert NEW.encode() == seen.stdout
    assert "142 tokens in 1.9 s" in seen.shown


def test_rejected_reply_is_shown(daemon: FakeDaemon, sum_py: Path) -> None:
    """On a terminal the head of a rejected reply is shown, with its control characters made harmless."""
    reply = "I cannot do this.\x1b[2J\n" + "more\n" * 30
    daemon.answers(EDIT, edit_result(EditStatus.REJECTED_OUTPUT, raw_reply=reply, warnings=("No code.",)))
    seen = on_terminal("edit", str(sum_py), "-i", "x")
    assert 4 == seen.exit_code
    assert "  | I cannot do this.␛[2J\r\n  | more\r\n" in seen.shown
    assert "  | ... 11 more lines; --json shows all of them\r\n" in seen.shown


def test_better_model_is_recommended_once(daemon: FakeDaemon, sum_py: Path) -> None:
    """The first answer of the built-in model names the model that is recommended here; later ones do not."""
    daemon.answers(EDIT, edit_result(model="builtin"))
    daemon.answers(MODEL_LIST, ModelListResult(models=(), recommended="better"))
    remark = "The built-in model is small; for real work here take better (see `plgd model list`)."
    shown = [on_terminal("edit", str(sum_py), "-i", "x").shown for _ in range(2)]
    assert [1, 0] == [text.count(remark) for text in shown]


@pytest.mark.parametrize("recommended", ["", "builtin"])
def test_nothing_better_is_no_remark(recommended: str, daemon: FakeDaemon, sum_py: Path) -> None:
    """Where the catalog recommends nothing better, nothing is said."""
    daemon.answers(EDIT, edit_result(model="builtin"))
    daemon.answers(MODEL_LIST, ModelListResult(models=(), recommended=recommended))
    assert "real work" not in on_terminal("edit", str(sum_py), "-i", "x").shown


def test_recommendation_cannot_spoil_an_edit(daemon: FakeDaemon, sum_py: Path) -> None:
    """An edit that is done stays a success when the daemon cannot recommend anything."""
    daemon.answers(EDIT, edit_result(model="builtin"))
    assert 0 == on_terminal("edit", str(sum_py), "-i", "x").exit_code


def test_pull_is_drawn(daemon: FakeDaemon) -> None:
    """On a terminal a download shows its step, bytes and percent."""
    daemon.notifies(MODEL_PULL, PullProgress(id=0, step="download", done_bytes=25_000_000, total_bytes=100_000_000))
    daemon.answers(MODEL_PULL, model_info())
    seen = on_terminal("model", "pull", "builtin")
    assert re.search(r"downloading .* 25% 25\.0/100\.0 MB", plain(seen.shown))
    assert seen.shown.endswith("builtin is ready: 98 MB in /cache/models/builtin\r\n")
