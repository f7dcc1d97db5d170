"""An edit's progress as one rising number."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from plgd.protocol.edits import EditProgress, Stage
from plgd_mcp.progress import Progress


@given(notes=st.lists(st.tuples(st.sampled_from(Stage), st.floats(0, 100))))
def test_progress_only_rises(notes: list[tuple[Stage, float]]) -> None:
    """Whatever stages come, again after the daemon went away too, each number told is greater than the one before."""
    progress = Progress()
    told = [progress.next(EditProgress(id=1, stage=stage, percent=percent)) for stage, percent in notes]
    numbers = [number for number in told if number is not None]
    assert sorted(set(numbers)) == numbers
    assert all(0 <= number <= 100 for number in numbers)


def test_every_stage_of_an_edit_is_told() -> None:
    """Each stage is told from its beginning, and the last one ends at 100 percent."""
    progress = Progress()
    stages = (Stage.LOADING, Stage.PREFILL, Stage.DECODE, Stage.APPLY)
    notes = [EditProgress(id=1, stage=stage, percent=percent) for stage in stages for percent in (0.0, 100.0)]
    assert [1.0, 19.0, 20.0, 40.0, 41.0, 98.0, 99.0, 100.0] == list(map(progress.next, notes))
