"""The weights that the odds begin with, fitted to replays by `python -m plgd.bench.replay.fit`."""

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
        (0.23, 1.91, 2.1, 2.08, 2.2, 2.3, 2.86),
        (-4.59, -1.39, 0.32, 0.9, 1.33, 1.14, 1.66),
        (-5.56, -1.55, 0.57, 0.73, 0.77, 1.24, 1.73),
        (-6.9, -0.71, 0.33, 0.08, 0.57, 0.58, 1.03),
        (-0.5, -1.98, 0.19, 1.03, 1.21, 1.07, 1.91),
        (-0.5, -3.06, -1.26, -0.29, -0.68, 0.21, 1.26),
        (-0.5, -2.2, -1.01, -0.67, -0.96, -0.42, 0.17),
        (-0.5, -0.5, -0.5, -0.5, -0.5, -0.44, 0.18),
        (-0.5, -0.5, -0.61, -0.29, -0.65, -0.54, 0.39),
    ),
    by_run=(1.76, 2.47, 3.04, 4.65),
    by_patch=(-3.76, -2.4, -1.29, 1.38),
    by_age=(-0.56, -0.56, -0.46, -0.43, -0.42),
    by_share=(0.69, 0.63, 1.31, 1.68, 1.95),
)
