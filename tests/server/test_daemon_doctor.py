"""What the daemon finds out about its machine."""

from __future__ import annotations

import os

import pytest

from plgd.paths import Paths
from plgd.server.backend import Device
from plgd.server.doctor import check_daemon
from server.machine import Machine, Shelf

pytestmark = pytest.mark.anyio


async def device() -> Device:
    """Look at the device of a double."""
    return Machine().device()


@pytest.mark.parametrize(("load", "level"), [(0.0, "ok"), (4.0, "ok"), (4.1, "slow")])
async def test_a_busy_machine_is_said(load: float, level: str, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    """When more programs want a processor than there are, edits are slow, and the doctor says why."""
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    findings = {finding.subject: finding for finding in await check_daemon(paths, Shelf("m"), device())}
    found = findings["processors"]
    assert (level, f"4, and {load} programs") == (found.level, found.fact[: found.fact.index(" wanted")])
    assert bool(found.advice) == (level == "slow")
