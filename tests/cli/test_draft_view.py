"""Who drafted a reply, as a terminal and a pipe show it."""

from __future__ import annotations

import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.results import DRAFTS, STATS, edit_result
from plgd.protocol.edits import EditStats, ProposerStats
from plgd.protocol.reply_drafts import ReplyDrafts, ReplyRun
from plgd_cli.controls import visible
from plgd_cli.draft_kinds import KINDS
from plgd_cli.draft_view import show_drafts

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
MARKS = re.compile("[│«»‹›⟨⟩⟪⟫⌈⌉]")


def test_marks_tell_without_colours() -> None:
    """In a pipe, what is not copied stands between marks, a bar ends each round, and the legend has the counts."""
    assert (
        "⟪running⟫│ = 0\n"
        "⌈k⌉│⟨eep⟩│\n"
        "print(«running»‹)<script>␛[2J›\n"
        "\n"
        "                drafted  in the reply\n"
        "file                  9             7  copied from the file or another source\n"
        "«substitution»        2             1  put in as asked for, or as the reply has done before\n"
        "‹ngram›               3             2  repeated from prompt or reply\n"
        "⟨plain⟩                             1  by the model alone, without a draft\n"
        "⟪correction⟫                        1  by the model, where a draft was wrong\n"
        "⌈bonus⌉                             1  by the model, behind a draft that was right\n"
        "142 tokens in 4 rounds, 35.5 a round, the widest 9 (│ is the end of a round)\n"
    ) == show_drafts(edit_result(), DRAFTS, coloured=False)


def test_colours_tell_without_marks() -> None:
    """On a terminal each kind has its colour in text and legend, and nothing but bars is added to the text."""
    shown = show_drafts(edit_result(), DRAFTS, coloured=True)
    assert "\x1b[1;31mrunning\x1b[0m\x1b[2m│\x1b[0m\x1b[32m = 0\x1b[0m\n" in shown
    assert "\x1b[35msubstitution\x1b[0m" in shown
    assert "running│ = 0\nk│eep│\nprint(running)<script>␛[2J\n\n" in ESCAPE.sub("", shown)


texts = st.text(alphabet="ab \n\x1b\r<é漢😀", max_size=6)
runs = st.lists(st.tuples(texts, st.sampled_from([*KINDS, "oracle"]), st.booleans()), max_size=12)


def drafts_of(said: list[tuple[str, str, bool]]) -> ReplyDrafts:
    """Make drafts of texts, who drafted each, and whether it begins a round."""
    n_round = 1
    found: list[ReplyRun] = []
    for text, by, begins in said:
        n_round += begins and bool(found)
        found.append(ReplyRun(text=text, by=by, round=n_round, n_tokens=1))
    return ReplyDrafts(runs=tuple(found), widths=(7,) * n_round)


@pytest.mark.parametrize("coloured", [True, False])
@given(said=runs)
def test_the_text_is_the_reply(said: list[tuple[str, str, bool]], coloured: bool) -> None:
    """Marks, bars and colours apart, what is shown is the reply, its control characters made visible."""
    drafts = drafts_of(said)
    shown = ESCAPE.sub("", show_drafts(edit_result(), drafts, coloured=coloured))
    bare = MARKS.sub("", shown).replace("oracle:", "")
    expected = visible("".join(text for text, _, _ in said))
    assert bare.startswith(expected)
    assert shown.count("│") == drafts.runs[-1].round if said else 1
    assert re.findall("[\x00-\x08\x0b-\x1f]", shown) == []


def test_a_reply_of_nothing_is_said() -> None:
    """A reply without tokens is no error."""
    empty = edit_result(stats=EditStats())
    assert "\nno tokens (│ is the end of a round)\n" == show_drafts(
        empty, ReplyDrafts(runs=(), widths=()), coloured=False
    )


def test_what_is_left_out_is_said() -> None:
    """A reply too long to be told whole says so."""
    shown = show_drafts(edit_result(), ReplyDrafts(runs=DRAFTS.runs, widths=(9,), n_left_out=1234), coloured=False)
    assert "the widest 9; the last 1,234 tokens are not shown (" in shown


def test_a_proposer_that_landed_nothing_is_counted() -> None:
    """Drafts that were all wrong are in the legend, too."""
    stats = EditStats(
        rounds=1,
        output_tokens=1,
        proposers={"ngram": ProposerStats(drafts=1, drafted_tokens=7, accepted_tokens=0)},
    )
    drafts = ReplyDrafts(runs=(ReplyRun(text="x", by="correction", round=1, n_tokens=1),), widths=(8,))
    shown = show_drafts(edit_result(stats=stats), drafts, coloured=False)
    assert "‹ngram›             7             0  repeated from prompt or reply\n" in shown
    assert "1 token in 1 round, 1.0 a round, the widest 8" in shown


def test_the_example_adds_up() -> None:
    """The example's counts are those of its runs, as a daemon's are."""
    accepted = {by: sum(run.n_tokens for run in DRAFTS.runs if run.by == by) for by in STATS.proposers}
    assert accepted == {name: counts.accepted_tokens for name, counts in STATS.proposers.items()}


def test_the_closing_fence_is_explained() -> None:
    """The model ends its reply with a fence, which must not look like a part of the text."""
    runs = (*DRAFTS.runs, ReplyRun(text="\n```", by="file", round=4, n_tokens=2))
    explained = "the last fence ends the reply and is no part of the text"
    assert explained in show_drafts(edit_result(), msgspec.structs.replace(DRAFTS, runs=runs), coloured=False)
    assert explained not in show_drafts(edit_result(), DRAFTS, coloured=False)
