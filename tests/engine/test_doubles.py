"""The doubles keep the target's contract, so that what passes on them means something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doubles import HistoryTarget, ScriptedTarget
from session_replies import reference_reply


@given(
    prompt=st.lists(st.integers(0, 3), min_size=1, max_size=6),
    acts=st.lists(st.tuples(st.sampled_from(["advance", "verify", "prefill"]), st.integers(0, 5)), max_size=12),
)
def test_any_sequence_of_calls_keeps_the_history(prompt: list[int], acts: list[tuple[str, int]]) -> None:
    """After any calls, pipelined or not, the next choice is that of a fresh target fed the same history."""
    target = HistoryTarget()
    target.prefill(prompt)
    history = list(prompt)
    for act, n in acts:
        (expected,) = reference_reply(history, 1)
        if act == "advance":
            assert expected == target.advance()
            history.append(expected)
        elif act == "verify":
            draft = [expected, *range(n)][:n]
            choices = target.verify(draft)
            assert expected == choices[0]
            assert n + 1 == len(choices)
            kept = min(1, n)
            target.rollback(n - kept)
            history += [*draft[:kept], choices[kept]]
        else:
            target.prefill([n])
            history.append(n)
        assert len(history) - 1 == target.offset


def test_a_misled_script_goes_off() -> None:
    """A scripted target that was fed a wrong token does not return to its script by itself."""
    target = ScriptedTarget([10, 11, 12])
    target.prefill([1])
    choices = target.verify([10, 99, 12])
    assert [10, 11] == list(choices[:2])
    assert set(choices[2:]).isdisjoint({10, 11, 12})
    target.rollback(2)
    assert [12, 0, 0] == [target.advance(), target.advance(), target.advance()]


@pytest.mark.parametrize("n", [-1, 3])
def test_rollback_is_bounded_by_the_last_draft(n: int) -> None:
    """A rollback of more than the last draft, or of less than nothing, is refused."""
    target = HistoryTarget()
    target.prefill([1])
    target.verify([1, 2])
    with pytest.raises(ValueError, match=f"rollback of {n}"):
        target.rollback(n)


def test_rollback_follows_verify_only() -> None:
    """There is nothing to roll back after a prefill, a pipelined round or another rollback."""
    target = HistoryTarget()
    target.prefill([1])
    with pytest.raises(ValueError, match="rollback of 0"):
        target.rollback(0)
    target.verify([1])
    target.rollback(1)
    with pytest.raises(ValueError, match="rollback of 0"):
        target.rollback(0)
    target.advance()
    with pytest.raises(ValueError, match="rollback of 0"):
        target.rollback(0)
