"""Models on mlx, as the worker gets them; small random weights."""

from __future__ import annotations

import gc
import logging
import weakref
from pathlib import Path

import pytest

from plgd.config import Config, EngineConfig
from plgd.engine.cost import ASSUMED_COSTS
from plgd.engine.mlx.neighbours import QUIET_SHARE
from plgd.errors import ModelNotPulled
from plgd.paths import Paths
from plgd.server.app import make_mlx_backend, make_pulled_models
from plgd.server.mlx_backend import MlxBackend
from tiny_models import write_model


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A model folder."""
    return str(write_model(tmp_path / "model"))


def test_a_model_is_loaded_and_warmed_up_in_steps(folder: str, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress rises from 0 to 100, and every verify width of the policy has been run by then (reference A13)."""
    widths: list[int] = []
    monkeypatch.setattr("plgd.engine.mlx.model.MlxModel.warm_up", lambda _model, some: widths.extend(some))
    reached: list[float] = []
    backend = MlxBackend(Config(engine=EngineConfig(policy="graded", max_draft=3)), paths)
    model = backend.load(folder, reached.append)
    assert model.name == folder
    assert [1, 2, 3, 4] == widths
    assert sorted(reached) == reached
    assert (0.0, 100.0) == (reached[0], reached[-1])


def test_plain_decoding_is_warmed_up_for_one_width(folder: str, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """With drafting off nothing wider than one token is ever run."""
    widths: list[int] = []
    monkeypatch.setattr("plgd.engine.mlx.model.MlxModel.warm_up", lambda _model, some: widths.extend(some))
    MlxBackend(Config(engine=EngineConfig(policy="off")), paths).load(folder, lambda _percent: None)
    assert [1] == widths


def test_step_costs_are_measured_once(folder: str, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first load on a quiet machine measures what rounds cost here; the next one only warms the widths up."""
    monkeypatch.setattr("plgd.server.mlx_backend.Neighbours.share", lambda _: QUIET_SHARE)
    first = MlxBackend(Config(), paths).load(folder, lambda _percent: None)
    widths: list[int] = []
    monkeypatch.setattr("plgd.engine.mlx.model.MlxModel.warm_up", lambda _model, some: widths.extend(some))
    second = MlxBackend(Config(), paths).load(folder, lambda _percent: None)
    assert first.costs.table == second.costs.table
    assert [1, *first.costs.table.candidates()] == widths


def test_a_busy_machine_is_not_measured(folder: str, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside other programs a load does not wait for numbers that mean nothing: costs are assumed for this load."""
    widths: list[int] = []
    monkeypatch.setattr("plgd.engine.mlx.model.MlxModel.warm_up", lambda _model, some: widths.extend(some))
    monkeypatch.setattr("plgd.server.mlx_backend.Neighbours.share", lambda _: QUIET_SHARE + 0.01)
    model = MlxBackend(Config(), paths).load(folder, lambda _percent: None)
    assert model.costs.table is ASSUMED_COSTS
    assert [1, *ASSUMED_COSTS.candidates()] == widths
    assert not paths.step_costs_dir.exists()


def test_step_costs_that_were_disturbed_are_not_kept(
    folder: str, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was measured while other programs came up is used, and measured again by the next load."""
    shares = iter([0.0, QUIET_SHARE + 0.01])
    monkeypatch.setattr("plgd.server.mlx_backend.Neighbours.share", lambda _: next(shares))
    model = MlxBackend(Config(), paths).load(folder, lambda _percent: None)
    assert model.costs.table is not ASSUMED_COSTS
    assert not paths.step_costs_dir.exists()


def test_step_costs_that_cannot_be_kept(folder: str, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that cannot be written to costs the next load some seconds, and no edit."""
    monkeypatch.setattr("plgd.server.mlx_backend.Neighbours.share", lambda _: 0.0)
    paths.cache_dir.mkdir(parents=True)
    paths.step_costs_dir.write_text("no folder")
    assert MlxBackend(Config(), paths).load(folder, lambda _percent: None).costs.table is not ASSUMED_COSTS


def test_the_load_finds_out_how_wide_exact_replies_may_be(
    folder: str, paths: Paths, caplog: pytest.LogCaptureFixture
) -> None:
    """With `exact`, the first edit does not wait for the search: the load has made it, and the log tells the result."""
    caplog.set_level(logging.INFO)
    MlxBackend(Config(engine=EngineConfig(policy="off", exact=True)), paths).load(folder, lambda _percent: None)
    assert f"{folder}: exact replies take passes of any width" in caplog.messages


def test_a_load_can_be_abandoned(folder: str, paths: Paths) -> None:
    """What the progress callback raises ends the load."""

    def stop(percent: float) -> None:
        if percent >= 50.0:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        MlxBackend(Config(), paths).load(folder, stop)


def test_released_memory_is_really_free(folder: str, paths: Paths) -> None:
    """A model that nobody holds is gone after `release`, circles included."""
    backend = MlxBackend(Config(engine=EngineConfig(policy="off")), paths)
    model = backend.load(folder, lambda _percent: None)
    held = backend.device().active_bytes
    gone = weakref.ref(model.network)
    gc.disable()
    try:
        del model
        backend.release()
    finally:
        gc.enable()
    assert gone() is None
    assert backend.device().active_bytes < held


def test_what_is_imported_late_is_what_the_daemon_needs(folder: str, paths: Paths) -> None:
    """The names that the daemon imports at its first need exist, and they look in the user's folders."""
    assert make_mlx_backend(Config(), paths).device().kind in {"cpu", "cuda", "metal"}
    models = make_pulled_models(Config(), paths)
    assert models.find(folder) == folder
    with pytest.raises(ModelNotPulled):
        models.find(None)
    assert models.use(folder).selected
    assert models.find(None) == folder
    assert folder in {model.name for model in models.list().models}
    assert models.info(folder).pulled
