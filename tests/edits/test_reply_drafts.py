"""Who drafted which part of a reply, told text by text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edits.running import params, run
from plgd.edits import reply_drafts
from plgd.edits.prompt import fence_for
from plgd.edits.reply_drafts import DraftRecorder
from plgd.engine.proposer import Share
from plgd.engine.types import Round, StopReason
from plgd.protocol.drafting import DraftingParams, Policy
from plgd.protocol.edits import EditResult
from plgd.protocol.reply_drafts import ReplyDrafts, ReplyRun
from plgd.text.fingerprint import fingerprint

POLICIES: tuple[Policy, ...] = ("cost", "graded", "off")
# Lines with different words in them and one in common, which is renamed; enough that many are drafted whole.
LONG = "".join(f"    result += {word}(basket, scale={len(word)})\n" for word in dir(str) if word.isalpha())
LONG_RENAMED = LONG.replace("result", "subtotal")


def drafts_of(result: EditResult) -> ReplyDrafts:
    """Return the drafts that a result must have."""
    assert result.drafts is not None
    return result.drafts


def round_of(text: str, *shares: tuple[str, int], n_drafted: int) -> Round:
    """Make a round of one token per byte."""
    n_accepted = sum(n_tokens for _, n_tokens in shares)
    shared = tuple(Share(*share) for share in shares)
    return Round(tuple(text.encode()), n_drafted, n_accepted, "file", None, shared)


def test_nothing_is_told_unasked() -> None:
    """A request that does not ask for the drafts gets the counts by proposer alone."""
    result = run(params(text=LONG), f"{LONG_RENAMED}```\n").result
    assert result.drafts is None
    assert {"file", "substitution"} <= result.stats.proposers.keys()


def test_the_runs_are_the_reply_by_who_drafted_it() -> None:
    """What was there is the file's, and a new name that the reply has had before is the substitution's."""
    drafts = drafts_of(run(params(text=LONG, show_drafts=True), f"{LONG_RENAMED}```\n").result)
    said: dict[str, str] = {}
    for each in drafts.runs:
        said[each.by] = said.get(each.by, "") + each.text
    assert f"{LONG_RENAMED}```\n" == "".join(each.text for each in drafts.runs)
    assert said["file"].startswith("    ")
    assert len(said["file"]) > len(LONG_RENAMED) / 2
    assert "total" in said["substitution"]  # some letters are the old name's, which the file has


def test_without_drafting_each_token_is_a_run() -> None:
    """Decoded plainly, a reply is as many rounds of width 1 as it has tokens."""
    drafts = drafts_of(run(params(show_drafts=True, drafting=DraftingParams(policy="off")), "a = 1\n```\n").result)
    assert [(character, "plain", 1) for character in "a = 1\n```\n"] == [
        (each.text, each.by, each.n_tokens) for each in drafts.runs
    ]
    assert list(range(1, 11)) == [each.round for each in drafts.runs]
    assert (1,) * 10 == drafts.widths


texts = st.text(alphabet="ab é漢😀\n`", max_size=40)


@given(source=texts, reply=texts, policy=st.sampled_from(POLICIES), ended=st.booleans())
def test_runs_are_the_reply_whatever_it_is(source: str, reply: str, policy: Policy, ended: bool) -> None:
    """Runs make up the model's words to the last byte, and their tokens are those of the statistics."""
    source = f"x{source}"
    said = reply + (f"\n{fence_for(source, 'x')}\n" if ended else "")
    asked = params(text=source, instruction="x", show_drafts=True, drafting=DraftingParams(policy=policy))
    result = run(asked, said).result
    drafts, stats = drafts_of(result), result.stats
    told = "".join(each.text for each in drafts.runs)
    assert said.startswith(told)
    assert stats.stopped_by == "stop" or said == told
    assert result.raw_reply in {"", told}
    accepted: dict[str, int] = {}
    for each in drafts.runs:
        accepted[each.by] = accepted.get(each.by, 0) + each.n_tokens
    for own in ("plain", "correction", "bonus"):
        accepted.pop(own, None)
    assert stats.output_tokens == sum(each.n_tokens for each in drafts.runs)
    assert accepted == {name: count.accepted_tokens for name, count in stats.proposers.items() if count.accepted_tokens}
    assert stats.accepted_prediction_tokens == sum(accepted.values())
    assert stats.rejected_prediction_tokens == sum(
        count.drafted_tokens - count.accepted_tokens for count in stats.proposers.values()
    )
    assert stats.rounds == len(drafts.widths) == len({each.round for each in drafts.runs})
    assert sum(drafts.widths) == stats.rounds + sum(count.drafted_tokens for count in stats.proposers.values())
    assert [each.round for each in drafts.runs] == sorted(each.round for each in drafts.runs)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(["a", ""], ["", "", "😀"], [("a😀", "file"), ("", "file"), ("", "correction")], id="over rounds"),
        pytest.param(["a", ""], ["", "", "😀b"], [("a😀", "file"), ("", "file"), ("b", "correction")], id="and more"),
        pytest.param(["", "b"], ["c", "", "é"], [("b", "file"), ("cé", "file"), ("", "correction")], id="two runs"),
    ],
)
def test_a_character_is_told_where_it_begins(
    first: list[str], second: list[str], expected: list[tuple[str, str]]
) -> None:
    """A character whose bytes are several tokens is in the run of the first, also across the end of a round."""
    recorder = DraftRecorder()
    recorder.add(round_of("xx", ("file", 2), n_drafted=2), first)
    recorder.add(round_of("xxx", ("file", 2), n_drafted=3), second)
    assert expected == [(each.text, each.by) for each in recorder.result().runs]


def test_what_no_one_drafted_has_three_names() -> None:
    """A token behind a draft that was right is a bonus, behind one that was not a correction, without one plain."""
    recorder = DraftRecorder()
    recorder.add(round_of("ab", ("file", 1), n_drafted=1), ["a", "b"])
    recorder.add(round_of("cd", ("file", 1), n_drafted=3), ["c", "d"])
    recorder.add(round_of("e", n_drafted=0), ["e"])
    recorder.add(round_of("f", n_drafted=2), ["f"])
    recorder.add(round_of("gh", ("file", 1), ("file", 1), n_drafted=2), ["g", "h"])  # it ended inside the draft
    assert (
        ReplyRun(text="a", by="file", round=1, n_tokens=1),
        ReplyRun(text="b", by="bonus", round=1, n_tokens=1),
        ReplyRun(text="c", by="file", round=2, n_tokens=1),
        ReplyRun(text="d", by="correction", round=2, n_tokens=1),
        ReplyRun(text="e", by="plain", round=3, n_tokens=1),
        ReplyRun(text="f", by="correction", round=4, n_tokens=1),
        ReplyRun(text="gh", by="file", round=5, n_tokens=2),
    ) == recorder.result().runs
    assert (2, 4, 1, 3, 3) == recorder.result().widths


def test_a_context_that_is_full_at_once_is_no_round() -> None:
    """A reply without any token has no runs."""
    recorder = DraftRecorder()
    recorder.add(Round((), 0, 0, "none", StopReason.CONTEXT), [""])
    assert ReplyDrafts(runs=(), widths=()) == recorder.result()


def test_very_long_replies_are_told_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit runs are left out, and the answer says how many tokens those were."""
    monkeypatch.setattr(reply_drafts, "MAX_RUNS", 4)
    drafts = drafts_of(run(params(show_drafts=True, drafting=DraftingParams(policy="off")), "a = 1\n```\n").result)
    assert ("a = ", 4, 6) == ("".join(each.text for each in drafts.runs), len(drafts.widths), drafts.n_left_out)


def test_an_edit_that_never_reached_the_model_has_no_drafts() -> None:
    """A conflict that was seen at once has no reply to tell of."""
    result = run(params(show_drafts=True, base_fingerprint=fingerprint(b"other")), "").result
    assert (None, {}) == (result.drafts, result.stats.proposers)
