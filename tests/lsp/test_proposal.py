"""Hunks of a proposal in a text that changes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plgd.text.lines import split_lines
from plgd_lsp.places import Lines
from plgd_lsp.proposal import HunkState, Proposal

BASE = "a\nb\nc\nd\ne\nf\ng\n"
NEW = "a\nB\nc\nd\nE\nf\ng\n"

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n", "\n"]), max_size=12).map("".join)


def states(proposal: Proposal, text: str) -> list[tuple[str, int, int]]:
    """Return each hunk's state and lines in a text."""
    return [(hunk.state.value, hunk.lines.start, hunk.lines.end) for hunk in proposal.place(split_lines(text))]


def with_hunks(proposal: Proposal, text: str, ids: set[int]) -> str:
    """Put hunks into a text where the proposal says they are."""
    lines = list(split_lines(text))
    for hunk in reversed(proposal.place(lines)):
        if hunk.id in ids:
            lines[hunk.lines.start : hunk.lines.end] = hunk.new_lines
    return "".join(lines)


def test_hunks_move_with_the_text() -> None:
    """Lines typed elsewhere move the hunks behind them and no others."""
    proposal = Proposal(BASE, NEW)
    assert [("open", 1, 2), ("open", 4, 5)] == states(proposal, BASE)
    assert [("open", 1, 2), ("open", 6, 7)] == states(proposal, "a\nb\nc\nx\ny\nd\ne\nf\ng\n")


def test_a_change_inside_is_a_conflict_until_it_is_taken_back() -> None:
    """Typing in a hunk's lines, or right beside them, is a conflict; undoing it opens the hunk again."""
    proposal = Proposal(BASE, NEW)
    assert "conflict" == states(proposal, BASE.replace("b\n", "b!\n"))[0][0]
    assert "conflict" == states(proposal, BASE.replace("c\n", "c!\n"))[0][0]
    assert "conflict" == states(proposal, BASE.replace("a\n", "a!\n"))[0][0]
    assert "open" == states(proposal, BASE)[0][0]


def test_an_accepted_hunk_that_is_undone_is_open_again() -> None:
    """What is accepted follows the text: an undo in the editor takes the record back, a redo restores it."""
    proposal = Proposal(BASE, NEW)
    accepted = with_hunks(proposal, BASE, {0})
    proposal.accept({0})
    assert [("accepted", 1, 2), ("open", 4, 5)] == states(proposal, accepted)
    assert [("open", 1, 2), ("open", 4, 5)] == states(proposal, BASE)
    assert [("accepted", 1, 2), ("open", 4, 5)] == states(proposal, accepted)


def test_a_rejected_hunk_stays_rejected_whatever_is_typed() -> None:
    """A hunk that was rejected is neither open nor a conflict afterwards, and can still be accepted."""
    proposal = Proposal(BASE, NEW)
    proposal.reject({0})
    assert "rejected" == states(proposal, BASE)[0][0]
    assert "rejected" == states(proposal, BASE.replace("b\n", "b!\n"))[0][0]
    proposal.accept({0})
    assert "accepted" == states(proposal, with_hunks(proposal, BASE, {0}))[0][0]


def test_a_change_that_the_user_made_already_counts_as_accepted() -> None:
    """When the user types what was proposed, the hunk is done."""
    assert "accepted" == states(Proposal(BASE, NEW), BASE.replace("b\n", "B\n"))[0][0]


@given(texts, texts, st.data())
def test_hunks_accepted_one_by_one_in_any_order_make_the_new_text(base: str, new: str, data: st.DataObject) -> None:
    """However the hunks are accepted, the text is the proposed one in the end."""
    proposal = Proposal(base, new)
    text = base
    for number in data.draw(st.permutations(range(len(proposal.hunks)))):
        assert proposal.place(split_lines(text))[number].state is HunkState.OPEN
        text = with_hunks(proposal, text, {number})
        assert proposal.is_in(split_lines(text), {number})
        proposal.accept({number})
    assert new == text


@given(texts, texts, texts, texts)
def test_no_other_line_is_touched(base: str, new: str, above: str, below: str) -> None:
    """Accepting all hunks changes nothing of what was typed above and below the text."""
    begin, end = "1\n2\n", "3\n4\n"
    proposal = Proposal(f"{begin}{base}{end}", f"{begin}{new}{end}")
    typed = f"{above}#\n{begin}{base}{end}#\n{below}"
    placed = proposal.place(split_lines(typed))
    assert {HunkState.OPEN} >= {hunk.state for hunk in placed}
    assert f"{above}#\n{begin}{new}{end}#\n{below}" == with_hunks(proposal, typed, set(range(len(placed))))


@given(texts, texts, texts)
def test_every_hunk_lies_in_the_text(base: str, new: str, typed: str) -> None:
    """Whatever the text has become, each hunk names lines of it, and an open one the lines that it replaces."""
    lines = split_lines(typed)
    for hunk in Proposal(base, new).place(lines):
        assert 0 <= hunk.lines.start <= hunk.lines.end <= len(lines)
        if hunk.state is HunkState.OPEN:
            assert hunk.old_lines == lines[hunk.lines.start : hunk.lines.end]
        if hunk.state is HunkState.ACCEPTED:
            assert hunk.new_lines == lines[hunk.lines.start : hunk.lines.end]


def test_a_proposal_without_hunks_is_empty() -> None:
    """Equal texts propose nothing."""
    assert () == Proposal(BASE, BASE).hunks
    assert Lines(0, 0) == Proposal("", "x\n").place(())[0].lines
