"""What memory does over random requests on many documents, of which the budget holds some."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Final

from plgd.bench.first_token import begin_edit
from plgd.bench.keystrokes import long_text
from plgd.bench.results import Record
from plgd.config import EngineConfig
from plgd.documents.warm import WarmStore
from plgd.engine.model import Model
from plgd.memory import give_back, resident_bytes

__all__ = ("Growth", "measure_growth")

N_DOCUMENTS: Final = 100
BUDGET_BYTES: Final = 64 * 2**20
# A text that grows by a line with every change keeps its length.
MAX_CHARACTERS: Final = 800


class Growth(Record, frozen=True):
    """Memory over random requests on many documents under a small budget.

    Attributes:
        n_documents: documents that were edited.
        n_requests: edits begun.
        n_warm: those that began warm.
        limit_bytes: what kept states might take.
        most_kept_bytes: the most that they took.
        n_kept: the most documents of which a state was kept at once.
        resident_growth_bytes: of the process at rest, from a tenth of the requests on.
        device_growth_bytes: of the model's arrays, from a tenth of the requests on.
    """

    n_documents: int
    n_requests: int
    n_warm: int
    limit_bytes: int
    most_kept_bytes: int
    n_kept: int
    resident_growth_bytes: int
    device_growth_bytes: int


def measure_growth(
    model: Model,
    engine: EngineConfig,
    *,
    n_requests: int,
    active_bytes: Callable[[], int],
    limit_bytes: int = BUDGET_BYTES,
    on_progress: Callable[[str], None] = lambda _: None,
) -> Growth:
    """Begin edits of documents, half of them of a few documents, and change a text now and then.

    Args:
        model: in memory.
        engine: how replies are drafted.
        n_requests: edits to begin; each goes as far as its first token.
        active_bytes: says what the model's arrays take.
        limit_bytes: what kept states may take.
        on_progress: told how far it is.
    """
    chance = random.Random(6)  # noqa: S311  # the same requests in every run
    texts = [long_text(chance.randrange(6, 18)) for _ in range(N_DOCUMENTS)]
    warm = WarmStore(time.monotonic)
    warm.resize(limit_bytes)
    most_kept, n_kept, resident, device = 0, 0, 0, 0
    for number in range(n_requests):
        if number % 10 == 0:
            on_progress(f"random requests: {number} of {n_requests}")
        if number == n_requests // 10:
            resident, device = _resident_bytes(), active_bytes()
        place = chance.randrange(N_DOCUMENTS) if chance.random() < 0.5 else chance.randrange(5)
        if chance.random() < 0.3:
            texts[place] = f"# {number}\n{texts[place]}"[-MAX_CHARACTERS:]
        begin_edit(model, texts[place], f"Rename item {number}.", warm, engine, name=f"shop_{place}.py")
        n_kept, most_kept = max(n_kept, warm.counts.n_states), max(most_kept, warm.counts.n_bytes)
    return Growth(
        n_documents=N_DOCUMENTS,
        n_requests=n_requests,
        n_warm=warm.counts.n_hits,
        limit_bytes=limit_bytes,
        most_kept_bytes=most_kept,
        n_kept=n_kept,
        resident_growth_bytes=_resident_bytes() - resident,
        device_growth_bytes=active_bytes() - device,
    )


def _resident_bytes() -> int:
    """Return the memory of this process as it is when the daemon rests."""
    give_back()
    return resident_bytes()
