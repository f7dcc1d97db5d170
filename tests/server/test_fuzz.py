"""Hostile messages of every kind; `PYTHONPATH=tests python -m server.fuzz --cases N` throws as many as wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from plgd.paths import Paths
from server.files import names_in, text_of
from server.fuzz import fuzz
from server.hostile import Hostile

pytestmark = pytest.mark.anyio

N_CASES = 400


async def test_no_message_harms_the_daemon(paths: Paths, tmp_path: Path) -> None:
    """Whatever arrives, the daemon answers or closes the connection, and serves the next client."""
    folder, beside = tmp_path / "work", tmp_path / "beside.py"
    folder.mkdir()
    beside.touch()
    report = await fuzz(paths, folder, n_cases=N_CASES, seed=1)
    assert [] == report.faults
    # Requests got as far as the model and into the protocol's every corner.
    assert {"result", "proposed", "closed", "-32700", "-32600", "-32602"} <= set(report.outcomes)
    assert (["beside.py", "work"], "") == (names_in(tmp_path), text_of(beside))
    assert [] == [name for name in names_in(folder) if name.endswith(".plgd")]


def test_a_seed_gives_the_same_cases(tmp_path: Path) -> None:
    """What went wrong once can be made to go wrong again."""
    one, same, other = (Hostile(seed, tmp_path) for seed in (1, 1, 2))
    cases = [one.case() for _ in range(50)]
    assert cases == [same.case() for _ in range(50)]
    assert cases != [other.case() for _ in range(50)]
