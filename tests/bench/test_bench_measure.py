"""How arms are timed and compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.timed_arms import TimedArm, timed_reply
from plgd.bench.compare.measure import find_divergence, geometric_means, measure
from plgd.bench.results import ArmResult, WorkloadResult

TOKENS = [7, 8, 9, 7]


def run(plain: list[float], other: list[float], other_tokens: list[list[int]] | None = None) -> ArmResult:
    """Compare an arm `other` with plain, by the seconds of their calls; the first of each is the untimed one."""
    texts = other_tokens or [TOKENS] * len(other)
    arms = [
        TimedArm("plain", [timed_reply(TOKENS, seconds) for seconds in plain], []),
        TimedArm("other", [timed_reply(text, seconds) for text, seconds in zip(texts, other, strict=True)], []),
    ]
    return measure(arms, [1, 2, 3], max_tokens=4, n_repeats=len(plain) - 1).arms["other"]


def test_arms_take_turns_and_the_first_changes() -> None:
    """Each repeat runs every arm once and begins with another one, after an untimed call of each."""
    calls: list[str] = []
    arms = [TimedArm(name, [timed_reply(TOKENS, 1.0)] * 4, calls) for name in ("plain", "a", "b")]
    told: list[tuple[str, int]] = []
    measure(arms, [1], max_tokens=4, n_repeats=3, on_call=lambda name, repeat: told.append((name, repeat)))
    assert ["plain", "a", "b", "plain", "a", "b", "a", "b", "plain", "b", "plain", "a"] == calls
    assert [(name, turn // 3) for turn, name in enumerate(calls)] == told


def test_the_first_call_is_not_timed() -> None:
    """What the first call takes to compile kernels is in no figure."""
    found = run([100.0, 2.0, 2.0], [900.0, 1.0, 4.0])
    assert (4.0, 1.0) == found.tokens_per_s
    assert (500.0, 2000.0) == found.ttft_ms
    assert (500.0, 2000.0) == found.decode_ms


def test_speedup_is_a_ratio_of_medians_with_its_pairs() -> None:
    """The speed-up is the ratio of the median rates; paired speed-ups compare the calls of one repeat."""
    found = run([9.0, 2.0, 4.0, 8.0], [9.0, 4.0, 1.0, 2.0])
    assert 2.0 == found.speedup
    assert (0.5, 4.0, 4.0) == found.paired_speedups


@pytest.mark.parametrize(
    ("wrong", "at"),
    [([7, 8, 1, 7], 2), ([7, 8, 9], 3), ([7, 8, 9, 7, 7], 4), ([], 0)],
    ids=["other token", "shorter", "longer", "empty"],
)
@pytest.mark.parametrize("call", [0, 1, 2])
def test_any_differing_call_is_told(call: int, wrong: list[int], at: int) -> None:
    """One reply that differs from plain's, even the untimed one, makes an arm not identical, and says from where."""
    texts = [TOKENS, TOKENS, TOKENS]
    texts[call] = wrong
    found = run([1.0] * 3, [1.0] * 3, texts)
    assert (False, at) == (found.identical_to_plain, found.diverges_at)


def test_same_tokens_are_identical() -> None:
    """An arm that gives plain's tokens in every call is identical."""
    found = run([1.0] * 3, [1.0] * 3)
    assert (True, None) == (found.identical_to_plain, found.diverges_at)


def test_a_comparison_needs_plain() -> None:
    """Without the plain arm there is nothing to compare with."""
    with pytest.raises(ValueError, match="plain"):
        measure([TimedArm("off", [], [])], [1], max_tokens=1, n_repeats=1)


def test_counters_are_those_of_the_last_call() -> None:
    """The raw counts of a session are reported under their own names (reference A14)."""
    found = run([1.0] * 2, [1.0] * 2, [TOKENS, [7, 8]])
    assert 2 == found.counters["n_rounds"]
    assert {"n_drafted", "n_accepted", "widths", "acceptance_lengths", "n_pipelined_rounds"} < found.counters.keys()
    assert {"n_pauses", "n_shadow_confirmations"} < found.counters["governor"].keys()


def test_means_are_geometric() -> None:
    """Twice as fast here and half as fast there is no gain."""

    def workload(speedup: float) -> WorkloadResult:
        arm = ArmResult(
            tokens_per_s=(1.0,),
            speedup=speedup,
            paired_speedups=(speedup,),
            identical_to_plain=True,
            diverges_at=None,
            n_tokens=1,
            ttft_ms=(1.0,),
            decode_ms=(1.0,),
            counters={},
        )
        return WorkloadResult(recorded=False, n_prompt_tokens=1, max_tokens=1, arms={"graded": arm})

    assert {"graded": pytest.approx(1.0)} == geometric_means({"a": workload(2.0), "b": workload(0.5)})


@given(st.lists(st.integers(0, 2)), st.lists(st.integers(0, 2)))
def test_divergence_is_the_end_of_what_is_shared(one: list[int], other: list[int]) -> None:
    """Replies agree up to the divergence and not beyond it."""
    at = find_divergence(one, other)
    if at is None:
        assert one == other
    else:
        assert one[:at] == other[:at]
        assert one[at : at + 1] != other[at : at + 1]
