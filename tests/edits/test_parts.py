"""Several edits of one text in one request: one after the other, one answer, one write."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edits.running import params, run_replies
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.parts import PendingRanges
from plgd.edits.request import prepare
from plgd.errors import LinesOutOfRange
from plgd.protocol.edits import EditMode, EditParams, EditPart, EditStatus, LineRange, PartResult, Stage
from plgd.text.fingerprint import fingerprint

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\n"
END = "```\n"


def asked(*parts: EditPart, **changes: object) -> EditParams:
    """Ask for several edits of the text."""
    text = changes.pop("text", TEXT)
    assert text is None or isinstance(text, str)
    return params(text, **{"instruction": "", "edits": parts, "name": "a.txt", **changes})


def of_lines(first: int, last: int, instruction: str = "Change it.") -> EditPart:
    """Ask for one of them."""
    return EditPart(instruction=instruction, range=LineRange(first=first, last=last))


def test_edits_of_a_text_are_one_edit() -> None:
    """Ranges name lines of the text as it was; there is one new text, one diff, and the counts are sums."""
    ran = run_replies(
        asked(of_lines(2, 2), of_lines(5, 6), of_lines(3, 3)), [f"2a\n2b\n{END}", f"5\n{END}", f"3\n{END}"]
    )
    result = ran.result
    assert (EditStatus.PROPOSED, "one\n2a\n2b\n3\nfour\n5\n") == (result.status, result.new_text)
    assert [(2, 2, 2, 3), (5, 2, 6, 1)] == [
        (hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines) for hunk in result.hunks
    ]
    assert (PartResult(status=EditStatus.PROPOSED),) * 3 == result.parts
    assert len(f"2a\n2b\n{END}5\n{END}3\n{END}") == result.stats.output_tokens
    assert result.base_fingerprint == fingerprint(TEXT.encode())
    assert sum(counts.accepted_tokens for counts in result.stats.proposers.values()) == (
        result.stats.accepted_prediction_tokens
    )


def test_each_edit_sees_what_those_before_it_left() -> None:
    """An edit of the whole text begins with the text that the edits before it made."""
    ran = run_replies(
        asked(of_lines(1, 1), EditPart(instruction="Change all.")), [f"uno\n{END}", f"uno\nTWO\n{TEXT[8:]}{END}"]
    )
    assert f"uno\nTWO\n{TEXT[8:]}" == ran.result.new_text
    first, second = (
        ran.result.stats.prompt_tokens,
        run_replies(asked(of_lines(1, 1)), [END]).result.stats.prompt_tokens,
    )
    assert first > second


def test_a_range_that_an_edit_before_it_changed() -> None:
    """Lines that an earlier edit has changed are edited as they are now."""
    ran = run_replies(asked(of_lines(2, 4), of_lines(3, 5)), [f"a\nb\nc\nd\n{END}", f"X\n{END}"])
    assert ran.result.new_text == "one\nX\nsix\n"


def test_lines_that_an_edit_before_it_deleted() -> None:
    """An edit of lines that are gone stops the request; nothing changes."""
    ran = run_replies(asked(of_lines(2, 4, "Delete it."), of_lines(3, 3), of_lines(6, 6)), [END])
    assert (EditStatus.CONFLICT, TEXT) == (ran.result.status, ran.result.new_text)
    assert [EditStatus.PROPOSED, EditStatus.CONFLICT, EditStatus.CANCELLED] == [
        part.status for part in ran.result.parts
    ]
    assert ("Edit 2: An edit before it deleted its lines.",) == ran.result.warnings


def test_one_failure_stops_all(tmp_path: Path) -> None:
    """When an edit's reply cannot be used, those before it are not written, those behind it are not begun."""
    path = tmp_path / "a.txt"
    path.write_text(TEXT)
    ran = run_replies(
        asked(of_lines(1, 1), of_lines(2, 2), of_lines(3, 3), text=None, path=str(path), mode=EditMode.APPLY),
        [f"uno\n{END}", "", f"drei\n{END}"],
    )
    assert (EditStatus.REJECTED_OUTPUT, TEXT, "") == (ran.result.status, ran.result.new_text, ran.result.diff)
    assert ("Edit 2: The model's reply was empty.",) == ran.result.warnings
    assert [EditStatus.PROPOSED, EditStatus.REJECTED_OUTPUT, EditStatus.CANCELLED] == [
        part.status for part in ran.result.parts
    ]
    assert path.read_text() == TEXT
    assert len(ran.model.targets) == 2


def test_all_are_written_at_once(tmp_path: Path) -> None:
    """The file is replaced once, and its version goes up by one."""
    path = tmp_path / "a.txt"
    path.write_text(TEXT)
    ran = run_replies(
        asked(of_lines(1, 1), of_lines(3, 3), text=None, path=str(path), mode=EditMode.APPLY),
        [f"uno\n{END}", f"drei\n{END}"],
    )
    assert (EditStatus.APPLIED, 2) == (ran.result.status, ran.result.version)
    assert path.read_text() == "uno\ntwo\ndrei\nfour\nfive\nsix\n"
    assert len(ran.progress(Stage.APPLY)) == 1


def test_edits_that_come_to_nothing() -> None:
    """Edits that undo each other, or change nothing, are no change."""
    nothing = run_replies(asked(of_lines(1, 1), of_lines(2, 2)), [f"one\n{END}", f"two\n{END}"])
    undone = run_replies(asked(of_lines(1, 1), of_lines(1, 1)), [f"uno\n{END}", f"one\n{END}"])
    assert nothing.result.status is undone.result.status is EditStatus.NO_CHANGE
    assert [EditStatus.NO_CHANGE] * 2 == [part.status for part in nothing.result.parts]


def test_events_say_which_edit_they_are_about() -> None:
    """Progress and text of the reply name the edit."""
    ran = run_replies(asked(of_lines(1, 1), of_lines(2, 2)), [f"uno\n{END}", f"dos\n{END}"])
    assert {0, 1} == {event.part for event in ran.events}
    assert ran.deltas == "uno\ndos\n"
    assert [event.part for event in ran.events] == sorted(event.part for event in ran.events)


def test_edits_read_the_text_once() -> None:
    """A later edit reads no more of the text than the edits before it changed."""
    store = WarmStore(lambda: 0.0)
    store.resize(1 << 30)
    replies = [f"five\n{END}", f"SIX\n{END}"]
    warm = run_replies(asked(of_lines(5, 5), of_lines(6, 6)), replies, warm=store).result
    cold = run_replies(asked(of_lines(5, 5), of_lines(6, 6)), replies).result
    assert warm.new_text == cold.new_text == f"{TEXT[:-4]}SIX\n"
    assert (0, cold.stats.prompt_tokens) == (cold.stats.cached_tokens, warm.stats.prompt_tokens)
    assert warm.stats.cached_tokens > len(TEXT)


def test_every_range_is_checked_at_once() -> None:
    """A range that is not in the text is refused before anything is done."""
    with pytest.raises(LinesOutOfRange, match="Lines 7:7 are not all in"):
        prepare(asked(of_lines(1, 1), of_lines(7, 7)), DocumentStore())


def test_one_edit_in_a_list_is_that_edit() -> None:
    """A list of one is answered as the edit alone is, part results apart."""
    ran = run_replies(asked(EditPart(instruction="Change it.", code_edit="uno\n# ...\n")), [f"uno\n{TEXT[4:]}{END}"])
    assert ran.result.new_text == f"uno\n{TEXT[4:]}"


@given(st.data())
def test_disjoint_ranges_never_mix(data: st.DataObject) -> None:
    """Disjoint ranges become their own replies, whatever those are and in whatever order; no other line changes."""
    old = data.draw(st.lists(st.sampled_from("ab"), min_size=1, max_size=8), label="text")
    cuts = sorted(data.draw(st.sets(st.integers(0, len(old)), min_size=2), label="cuts"))
    ranges = [LineRange(first=start + 1, last=end) for start, end in pairwise(cuts)]
    order = data.draw(st.permutations(range(len(ranges))), label="order")
    replies = [data.draw(st.lists(st.sampled_from("abc"), max_size=3)) for _ in ranges]
    pending = PendingRanges(ranges)
    lines = list(old)
    for number in order:
        now = pending.lines(number, len(lines))
        assert now is not None
        assert old[ranges[number].first - 1 : ranges[number].last] == lines[now.first - 1 : now.last]
        new = [*lines[: now.first - 1], *replies[number], *lines[now.last :]]
        pending.note(now, lines, new)
        lines = new
    wanted = [*old[: cuts[0]], *(line for reply in replies for line in reply), *old[cuts[-1] :]]
    assert wanted == lines
