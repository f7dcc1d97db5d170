"""What the daemon finds out about its machine: the device, the BLAS in use, memory, the model."""

from __future__ import annotations

import os
from collections.abc import Awaitable
from typing import Final

from anyio import to_thread

from plgd.doctor import check_installation
from plgd.errors import ModelError
from plgd.memory import resident_bytes
from plgd.paths import Paths
from plgd.protocol.daemon import Finding
from plgd.server.backend import Device
from plgd.server.model_store import ModelStore

__all__ = ("check_daemon",)

_GB: Final = 10**9


async def check_daemon(paths: Paths, models: ModelStore, device: Awaitable[Device]) -> tuple[Finding, ...]:
    """Check everything; waits for the worker to look at the device between two rounds.

    Args:
        paths: the user's folders.
        models: the models of this machine.
        device: what the worker will say.
    """
    installation = await to_thread.run_sync(check_installation, paths)
    model = await to_thread.run_sync(_check_model, models)
    return (*installation, *_check_device(await device), _check_processors(), model)


def _check_device(device: Device) -> tuple[Finding, ...]:
    memory = f", {device.memory_bytes / _GB:.1f} GB" if device.memory_bytes else ""
    findings = [Finding(level="ok", subject="device", fact=f"{device.kind}: {device.name}{memory}")]
    if device.blas == "reference":
        advice = (
            "Matrix products are many times slower than they could be. Install plgd[cpu], which brings OpenBLAS, "
            "then `plgd restart`; a daemon that was not started by `plgd` needs it in LD_PRELOAD."
        )
        findings.append(Finding(level="slow", subject="BLAS in use", fact="reference", advice=advice))
    elif device.blas:
        findings.append(Finding(level="ok", subject="BLAS in use", fact=device.blas))
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    fact = (
        f"{total / _GB:.1f} GB in the machine, the daemon has {resident_bytes() / _GB:.2f} GB, "
        f"{device.active_bytes / _GB:.2f} GB of it in arrays"
    )
    findings.append(Finding(level="ok", subject="memory", fact=fact))
    return tuple(findings)


def _check_processors() -> Finding:
    n_processors, load = os.cpu_count() or 1, os.getloadavg()[0]
    fact = f"{n_processors}, and {load:.1f} programs wanted one on average in the last minute"
    if load <= n_processors:
        return Finding(level="ok", subject="processors", fact=fact)
    advice = "The machine is busy, and edits are slow while it is; `top` shows with what."
    return Finding(level="slow", subject="processors", fact=fact, advice=advice)


def _check_model(models: ModelStore) -> Finding:
    try:
        return Finding(level="ok", subject="model", fact=f"{models.find(None)} is selected and on this machine")
    except ModelError as error:
        return Finding(level="missing", subject="model", fact=error.message, advice="Edits need a model.")
