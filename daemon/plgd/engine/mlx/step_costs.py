"""Step costs of a model on this machine: measured once for each combination that changes them, kept, used again."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from mlx.utils import tree_flatten

from plgd.engine.calibration import measure_costs
from plgd.engine.cost import StepCosts
from plgd.engine.mlx.device import DeviceInfo, describe_device
from plgd.engine.mlx.model import MlxModel

__all__ = ("keep_step_costs", "measure_step_costs", "read_step_costs", "verify_widths")

# The widths at which kernels change, as far as they are known, and a few between (kind of device -> widths).
WIDTHS: Final = {
    "cpu": (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64),
    "metal": (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 48, 64),
    "cuda": (1, 2, 4, 8, 16, 32, 64, 128),
}
# A short context and a long one; between and beyond, costs are read along a line.
CONTEXTS: Final = (256, 2048)
N_REPEATS: Final = 3

# A pass costs at most what its tokens cost in narrower ones; tiles of kernels make it half as dear again, as far as is
# known. A table that says more than twice that is damaged, or of a machine that was busy with something else. Rounds
# would not correct it: what is dear is never run.
MOST_BEYOND_LINEAR: Final = 2.0


def verify_widths(model: MlxModel) -> tuple[int, ...]:
    """Return the verify widths that are worth knowing on this device: the fixed ones where the model keeps to such."""
    widths = WIDTHS[describe_device().kind]
    if model.shapes is not None:
        widths = (1, *(width for width in model.shapes.widths if width <= max(widths)))
    return tuple(width for width in widths if 2 * width < model.context_limit)


def read_step_costs(model: MlxModel, folder: Path) -> StepCosts | None:
    """Return what was measured earlier; None when nothing was, or when what was kept is not such a table.

    Args:
        model: the loaded model.
        folder: where tables are kept.
    """
    try:
        data = json.loads(_file(model, folder).read_text(encoding="utf-8"))
        costs = StepCosts.from_data(data) if isinstance(data, dict) else None
    except (OSError, ValueError, RecursionError):
        # A table is measured again within seconds; no reason to bother anyone.
        return None
    return costs if costs is not None and _is_of(costs, model) and _is_plausible(costs) else None


def measure_step_costs(
    model: MlxModel,
    *,
    clock: Callable[[], float] = time.perf_counter,
    on_progress: Callable[[float], None] = lambda _: None,
) -> StepCosts:
    """Measure rounds of every width with a moving context; what they need is compiled on the way.

    Args:
        model: the loaded model.
        clock: seconds from any start.
        on_progress: gets percent, 0 to 100.

    Raises:
        EngineError: the model failed.
    """
    widths = verify_widths(model)
    contexts = _contexts(model, widths)
    n_turns = len(contexts) * (N_REPEATS + 1)
    costs = measure_costs(
        model.target,
        widths=widths,
        contexts=contexts,
        n_repeats=N_REPEATS,
        clock=clock,
        on_progress=lambda context, repeat: on_progress(
            100.0 * (contexts.index(context) * (N_REPEATS + 1) + repeat) / n_turns
        ),
    )
    if model.shapes is not None:
        costs = StepCosts.from_data({**costs.to_data(), "padded": True})
    on_progress(100.0)
    return costs


def keep_step_costs(model: MlxModel, folder: Path, costs: StepCosts) -> None:
    """Keep a table for the next loads.

    Args:
        model: the loaded model, which was measured.
        folder: where tables are kept; created if missing.
        costs: what was measured.

    Raises:
        OSError: the table could not be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        written = Path(work) / "costs.json"
        written.write_text(json.dumps(costs.to_data()), encoding="utf-8")
        written.replace(_file(model, folder))


def _contexts(model: MlxModel, widths: Sequence[int]) -> tuple[int, ...]:
    """Return the context lengths that are measured: those of the fixed ones for which there is room."""
    room = model.context_limit - max(widths) - (len(widths) + 8) * (N_REPEATS + 1)
    return tuple(n for n in CONTEXTS if n <= room) or (max(1, room // 2),)


def _is_of(costs: StepCosts, model: MlxModel) -> bool:
    """Tell whether a table has the rows and columns that a measurement of the model would have.

    Each of its widths is run at load, and one that the model has no room for would fail.
    """
    widths = verify_widths(model)
    is_measured = (costs.widths, costs.contexts) == (widths, _contexts(model, widths))
    return is_measured and costs.max_width == max(widths) and costs.padded == (model.shapes is not None)


def _is_plausible(costs: StepCosts) -> bool:
    """Tell whether no width is far dearer than the same tokens in narrower rounds."""
    for row in costs.costs_ms:
        per_token_ms = row[0]
        for width, cost_ms in zip(costs.widths, row, strict=True):
            if cost_ms > MOST_BEYOND_LINEAR * width * per_token_ms:
                return False
            per_token_ms = min(per_token_ms, cost_ms / width)
    return True


def _file(model: MlxModel, folder: Path) -> Path:
    return folder / f"{_key(model, describe_device())}.json"


def _key(model: MlxModel, device: DeviceInfo) -> str:
    """Hash all that step costs depend on: the shapes and types of the weights, device, libraries and KV mode."""
    facts = {
        "weights": [
            (path, weight.shape, str(weight.dtype)) for path, weight in tree_flatten(model.network.parameters())
        ],
        "device": (device.kind, device.name, device.blas, os.cpu_count()),
        "versions": device.versions,
        "kv_bits": model.kv_bits,
        "shapes": None if model.shapes is None else (model.shapes.widths, model.shapes.kv_step),
        "method": (WIDTHS[device.kind], CONTEXTS, N_REPEATS),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
