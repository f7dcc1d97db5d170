"""Steps are submitted ahead where that saves more than it costs."""

from __future__ import annotations

from plgd.engine.pipeline import PipelineChoice


def after(landings: list[bool]) -> PipelineChoice:
    """Make a choice that has seen such rounds."""
    choice = PipelineChoice()
    for landed in landings:
        choice.observe(landed=landed)
    return choice


def test_long_plain_stretches_are_pipelined() -> None:
    """Where no draft lands, the next step is submitted ahead, even for a small bubble."""
    assert after([False] * 100).submits_ahead(10.0, 9.5)


def test_between_landing_drafts_nothing_is_submitted_ahead() -> None:
    """Where drafts keep landing, a step ahead would only make the next draft wait."""
    assert not after([True] * 20).submits_ahead(10.0, 8.0)
    assert not after([True, False] * 20).submits_ahead(10.0, 8.0)


def test_the_rhythm_of_landings_is_learnt() -> None:
    """Where drafts land in every other round, with long gaps, steps go ahead in the gaps and not between landings."""
    rhythm = ([True, False] * 6 + [False] * 30) * 20
    assert after([*rhythm, *[False] * 6]).submits_ahead(10.0, 8.0)
    assert not after([*rhythm, True]).submits_ahead(10.0, 8.0)


def test_a_device_without_a_bubble_never_submits_ahead() -> None:
    """Where a pipelined round saves nothing, none is run."""
    assert not after([False] * 1000).submits_ahead(10.0, 10.0)
