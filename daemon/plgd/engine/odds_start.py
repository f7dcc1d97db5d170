"""The weights that the odds begin with, fitted to replays by `python -m plgd.bench.fit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ("START", "StartWeights")


@dataclass(frozen=True, slots=True)
class StartWeights:
    """Log-odds to begin with; the classes are those of `plgd.engine.odds`.

    Attributes:
        by_origin: a row for each origin, a column for each class of streak below a run.
        by_run: a column for each class of streak from a run on.
        by_patch: a column for each grade of a patch, from 0.
        by_age: for each class of age, added for young streaks.
        by_share: for each class of the share of late tokens that were foretold, always added.
    """

    by_origin: tuple[tuple[float, ...], ...]
    by_run: tuple[float, ...]
    by_patch: tuple[float, ...]
    by_age: tuple[float, ...]
    by_share: tuple[float, ...]


START: Final = StartWeights(
    by_origin=(
        (0.07, 1.06, 1.33, 1.11, 1.54, 1.86, 2.34),
        (-2.35, -1.27, 0.04, 0.86, 1.1, 1.12, 2.01),
        (-4.08, -1.47, -0.09, 0.05, -0.02, 0.3, 0.51),
        (-5.02, -0.87, 0.16, 0.16, 0.52, 0.69, 1.01),
        (-0.5, -1.43, -0.65, -0.25, 0.44, 0.45, 1.93),
        (-0.5, -1.6, -1.33, -0.78, -0.38, -0.07, 1.19),
        (-0.5, -1.57, -1.31, -0.83, -0.62, -0.17, 1.22),
        (-0.5, -0.5, -0.5, -0.5, -0.5, -0.67, 0.63),
        (-0.5, -0.5, -1.62, -0.81, -1.28, -0.1, 0.64),
    ),
    by_run=(1.86, 3.14, 3.78, 5.34),
    by_patch=(0.5, 1.5, 2.5, 3.5),
    by_age=(-0.54, -0.51, -0.53, -0.51, -0.6),
    by_share=(0.11, 0.65, 1.1, 1.5, 1.54),
)
