"""An edit, from the request to the file, with a model that says what it is told to say."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from edits.running import SOURCE, params, run
from plgd.config import Config, EngineConfig
from plgd.documents.store import DocumentStore
from plgd.edits.job import edit_steps
from plgd.edits.prompt import fence_for
from plgd.edits.request import prepare
from plgd.edits.view import view
from plgd.errors import TextTooLong
from plgd.protocol.edits import EditMode, EditStatus, LineRange, Stage
from plgd.text.fingerprint import fingerprint
from plgd.text.lines import body, split_lines
from scripted_model import ByteTokenizer, ScriptedModel
from strategies import texts

RENAMED = SOURCE.replace("result", "subtotal")


def test_a_proposal() -> None:
    """A changed text is proposed with a diff, hunks, both fingerprints and the model's name."""
    result = run(params(), f"{RENAMED}```\n").result
    assert (EditStatus.PROPOSED, RENAMED, "s1", "scripted") == (
        result.status,
        result.new_text,
        result.session,
        result.model,
    )
    assert (fingerprint(SOURCE.encode()), fingerprint(RENAMED.encode())) == (
        result.base_fingerprint,
        result.new_fingerprint,
    )
    assert [(0, 2, 1, 2, 1), (1, 4, 2, 4, 2)] == [
        (hunk.id, hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) for hunk in result.hunks
    ]
    assert result.diff.startswith("--- a/app.py\n+++ b/app.py\n@@ -1,5 +1,5 @@\n def total(items):\n-    result = 0\n")
    assert (result.warnings, result.raw_reply, result.path) == ((), "", "")


def test_the_reply_is_drafted_from_the_text() -> None:
    """Most tokens of a rewrite are drafted from the text and accepted; the statistics say how many."""
    stats = run(params(), f"{RENAMED}```\n").result.stats
    n_reply = len(f"{RENAMED}```\n")
    assert n_reply == stats.output_tokens
    assert stats.accepted_prediction_tokens > n_reply / 2
    # Each round adds one token to its accepted ones, but for the last, which may end inside them.
    assert stats.rounds + stats.accepted_prediction_tokens - n_reply in {0, 1}
    assert sum(stats.acceptance_lengths) > 0
    assert (stats.policy, stats.stopped_by) == ("cost", "stop")


def test_a_hint_is_a_source_of_drafts() -> None:
    """Text that the reply is expected to resemble saves rounds where the file does not have it."""
    reply = f"{SOURCE}\n\ndef average(values: list[float]) -> float:\n    return sum(values) / len(values)\n```\n"
    plain = run(params(), reply).result.stats
    hinted = run(
        params(draft_hint="def average(values: list[float]) -> float:\n    return sum(values) / len(values)\n"), reply
    )
    assert hinted.result.stats.rounds < plain.rounds
    assert hinted.result.stats.output_tokens == plain.output_tokens


def test_a_hint_longer_than_any_reply_is_not_tokenized_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hint of any length costs no more time than a reply that fills the context."""
    lengths: list[int] = []
    encode = ByteTokenizer.encode

    def encode_and_note(tokenizer: ByteTokenizer, text: str) -> list[int]:
        lengths.append(len(text))
        return encode(tokenizer, text)

    monkeypatch.setattr(ByteTokenizer, "encode", encode_and_note)
    ran = run(params(draft_hint="hint " * 100_000), f"{RENAMED}```\n", context_limit=1000)
    assert ran.result.status is EditStatus.PROPOSED
    assert max(lengths) == 16 * 1000


def test_times_are_from_the_clock() -> None:
    """The times of an edit add up, and the rate counts what came after the first round."""
    ran = run(params(), f"{RENAMED}```\n")
    stats = ran.result.stats
    assert stats.queue_ms == 1000.0
    assert stats.queue_ms < stats.ttft_ms < stats.ttft_ms + stats.decode_ms < stats.total_ms
    decode = ran.progress(Stage.DECODE)
    assert decode[0].tokens_per_s == 0.0
    assert decode[-1].n_tokens - decode[0].n_tokens == decode[-1].tokens_per_s * stats.decode_ms / 1000.0


def test_progress_goes_from_the_prompt_to_the_end() -> None:
    """Progress counts the prompt's slices, then the text's lines that the reply has passed, and never goes back."""
    ran = run(params(), f"{RENAMED}```\n", config=Config(engine=EngineConfig(prefill_slice=64)))
    prefill, decode = ran.progress(Stage.PREFILL), ran.progress(Stage.DECODE)
    assert [min(64 * (n + 1) + 1, prefill[-1].n_tokens) for n in range(len(prefill))] == [
        event.n_tokens for event in prefill
    ]
    assert prefill[-1].percent == 100.0
    percents = [event.percent for event in decode]
    assert percents == sorted(percents)
    assert 60.0 <= percents[-1] <= 100.0
    assert ran.deltas == RENAMED


@pytest.mark.parametrize("end", ["```\n", "```", "\n```", ""])
def test_however_the_reply_ends(end: str) -> None:
    """A closing fence with or without a newline, behind the last line, or none before the end token: all are ends."""
    ran = run(params(text="Use `a`.\nOr `b`\n", name="README.md"), f"Use `c`.\nOr `d`{end}")
    assert (EditStatus.PROPOSED, "Use `c`.\nOr `d`\n") == (ran.result.status, ran.result.new_text)
    assert ran.deltas.rstrip("\n") == "Use `c`.\nOr `d`"


def test_no_change() -> None:
    """A reply that repeats the text is no change, and no success."""
    result = run(params(), f"{SOURCE}```\n").result
    assert (EditStatus.NO_CHANGE, "", (), "") == (result.status, result.diff, result.hunks, result.raw_reply)
    assert result.new_fingerprint == result.base_fingerprint


@pytest.mark.parametrize(
    ("reply", "options", "status", "reason"),
    [
        (RENAMED, {"max_tokens": 30}, EditStatus.TRUNCATED, "cut off at the limit of 30 tokens"),
        ("", {}, EditStatus.REJECTED_OUTPUT, "reply was empty"),
        ("```\n", {}, EditStatus.REJECTED_OUTPUT, "reply was empty"),
        ("x = 1\n# ... rest of the code unchanged\n```\n", {}, EditStatus.REJECTED_OUTPUT, "leaves text out"),
        (f"{RENAMED}<|end|>\n```\n", {}, EditStatus.REJECTED_OUTPUT, "markup of the model's chat"),
    ],
)
def test_a_reply_that_cannot_be_used(
    tmp_path: Path, reply: str, options: dict[str, object], status: EditStatus, reason: str
) -> None:
    """A reply that was cut off or fails a guard changes nothing; the reason and the model's words are told."""
    path = tmp_path / "app.py"
    path.write_text(SOURCE)
    asked = params(text=None, path=str(path), mode=EditMode.APPLY, **options)
    result = run(asked, reply).result
    assert (status, SOURCE, "", ()) == (result.status, result.new_text, result.diff, result.hunks)
    assert reason in result.warnings[0]
    assert reply.startswith(result.raw_reply)
    assert bool(reply) == bool(result.raw_reply)
    assert path.read_text() == SOURCE


def test_a_reply_that_fills_the_context() -> None:
    """A reply that runs into the end of the context is told apart from a finished one."""
    n_prompt = run(params(), "```\n").result.stats.prompt_tokens
    result = run(params(), "x" * 10_000, context_limit=n_prompt + len(SOURCE) + 40).result
    assert (EditStatus.TRUNCATED, "context") == (result.status, result.stats.stopped_by)
    assert "context was full" in result.warnings[0]


def test_a_text_that_cannot_fit() -> None:
    """A text whose rewrite cannot fit into the context is refused with the tokens and the limit."""
    with pytest.raises(TextTooLong, match=r"app\.py needs \d+ tokens \(prompt and reply\), the model's limit is 300\."):
        run(params(), "", context_limit=300)


@pytest.mark.parametrize(
    ("lines", "limit", "advice"),
    [
        (None, 550, "Edit some of its lines"),
        (None, 300, "The model reads the whole text"),
        (LineRange(first=1, last=40), 300, "The model reads the whole text"),
    ],
    ids=["the reply is too long", "the text is", "the text is, though a range is given"],
)
def test_fewer_lines_are_advised_where_they_help(lines: LineRange | None, limit: int, advice: str) -> None:
    """A range makes the reply shorter, not the prompt: it is advised only when the prompt fits."""
    asked = msgspec.structs.replace(params(text="a = 1\n" * 40), range=lines)
    with pytest.raises(TextTooLong, match=advice):
        run(asked, "", context_limit=limit)


def test_a_huge_text_is_refused_without_tokenizing_it() -> None:
    """A text far beyond the context is refused by an estimate from its beginning."""
    with pytest.raises(TextTooLong, match=r"needs about 2,[\d,]+ tokens .* limit is 1,000"):
        run(params(text="a = 1\n" * 200_000), "", context_limit=1000)


def test_a_text_other_than_expected() -> None:
    """An edit that was asked for another text is a conflict before the model does anything."""
    ran = run(params(base_fingerprint="0" * 64), "")
    assert (EditStatus.CONFLICT, SOURCE) == (ran.result.status, ran.result.new_text)
    assert "is not the text with that fingerprint" in ran.result.warnings[0]
    assert ran.model.targets == []
    right = run(params(base_fingerprint=fingerprint(SOURCE.encode())), f"{RENAMED}```\n")
    assert right.result.status is EditStatus.PROPOSED


def test_applying(tmp_path: Path) -> None:
    """An applied edit is on disk, through a link, as the next version."""
    (tmp_path / "real.py").write_text(SOURCE)
    (tmp_path / "app.py").symlink_to("real.py")
    ran = run(params(text=None, path=str(tmp_path / "app.py"), mode=EditMode.APPLY), f"{RENAMED}```\n")
    assert (EditStatus.APPLIED, str(tmp_path.resolve() / "real.py"), 2) == (
        ran.result.status,
        ran.result.path,
        ran.result.version,
    )
    assert (tmp_path / "real.py").read_text() == RENAMED
    assert [Stage.APPLY] == [event.stage for event in ran.progress(Stage.APPLY)]


def test_a_proposal_writes_nothing(tmp_path: Path) -> None:
    """A proposal leaves the file as it is."""
    path = tmp_path / "app.py"
    path.write_text(SOURCE)
    result = run(params(text=None, path=str(path)), f"{RENAMED}```\n").result
    assert (EditStatus.PROPOSED, 1) == (result.status, result.version)
    assert path.read_text() == SOURCE


def test_a_file_that_changed_elsewhere(tmp_path: Path) -> None:
    """Lines added elsewhere while the model worked are kept; the diff is against what was on disk."""
    path = tmp_path / "app.py"
    path.write_text(SOURCE)
    ran = run(
        params(text=None, path=str(path), mode=EditMode.APPLY),
        f"{RENAMED}```\n",
        meanwhile=lambda: _write(path, f"import os\n\n{SOURCE}"),
    )
    assert path.read_text() == f"import os\n\n{RENAMED}" == ran.result.new_text
    assert ran.result.status is EditStatus.APPLIED
    assert "the edit was moved to the new text" in ran.result.warnings[0]
    assert ran.result.hunks[0].old_start == 4
    assert ran.result.base_fingerprint == fingerprint(f"import os\n\n{SOURCE}".encode())


def test_a_file_that_changed_in_the_same_lines(tmp_path: Path) -> None:
    """A file whose edited lines changed while the model worked is left alone; the model's words are kept."""
    path = tmp_path / "app.py"
    path.write_text(SOURCE)
    theirs = SOURCE.replace("result = 0", "result = 1")
    ran = run(
        params(text=None, path=str(path), mode=EditMode.APPLY),
        f"{RENAMED}```\n",
        meanwhile=lambda: _write(path, theirs),
    )
    assert (EditStatus.CONFLICT, f"{RENAMED}```\n") == (ran.result.status, ran.result.raw_reply)
    assert "also in line 2" in ran.result.warnings[0]
    assert path.read_text() == theirs


def test_a_file_that_was_edited_likewise(tmp_path: Path) -> None:
    """When somebody else made the same change meanwhile, there is nothing to apply."""
    path = tmp_path / "app.py"
    path.write_text(SOURCE)
    ran = run(
        params(text=None, path=str(path), mode=EditMode.APPLY),
        f"{RENAMED}```\n",
        meanwhile=lambda: _write(path, RENAMED),
    )
    assert ran.result.status is EditStatus.NO_CHANGE


def _write(path: Path, text: str) -> None:
    path.write_text(text)


def test_closing_cancels_at_any_moment(tmp_path: Path) -> None:
    """An edit that is closed after any of its steps leaves the file and its folder as they were."""
    path = tmp_path / "app.py"
    path.write_text(SOURCE)
    inode = path.stat().st_ino
    documents = DocumentStore()
    asked = params(text=None, path=str(path), mode=EditMode.APPLY)
    for n_steps in range(len(run(asked, f"{SOURCE}```\n").events) + 1):
        model = ScriptedModel(f"{RENAMED}```\n")
        steps = edit_steps(
            prepare(asked, documents), session="s", received=0.0, documents=documents, model=model, config=Config()
        )
        for _ in range(n_steps):
            next(steps)
        steps.close()
        assert (path.read_text(), path.stat().st_ino, list(tmp_path.iterdir())) == (SOURCE, inode, [path])


@given(texts(min_lines=1), st.booleans())
def test_repeating_any_text_changes_nothing(text: str, with_mark: bool) -> None:
    """Whatever a text holds, a model that repeats what it saw makes no change."""
    assume(text.strip())
    source = "\ufeff" * with_mark + text
    seen = view(split_lines(text))
    result = run(params(text=source), f"{seen}{fence_for(seen, 'Rename')}\n").result
    assert (EditStatus.NO_CHANGE, source) == (result.status, result.new_text)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(texts(min_lines=1), st.data())
def test_a_rewritten_range_touches_nothing_else(text: str, data: st.DataObject) -> None:
    """Whatever a text holds, rewriting some of its lines leaves the bytes of all others."""
    assume(text.strip())
    lines = split_lines(text)
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    # A line that is not empty in place of the first: nothing can join what stands before it.
    new = ["new = 1", *(body(line) for line in lines[first:last])]
    result = run(
        params(text=text, range=LineRange(first=first, last=last)), f"{view(new)}{fence_for(text, 'Rename')}\n"
    ).result
    assume(result.status is not EditStatus.NO_CHANGE)
    assert result.status is EditStatus.PROPOSED
    new_lines = split_lines(result.new_text)
    assert lines[: first - 1] == new_lines[: first - 1]
    assert lines[first:last] == new_lines[first:last]
    assert lines[last:] == new_lines[last:]
