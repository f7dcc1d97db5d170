"""Cost tables by name: the devices that replays are run on."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import msgspec

from plgd.engine.cost import StepCosts
from plgd.errors import BenchError

__all__ = ("SHIPPED", "Measured", "Row", "load_cost_tables")

SHIPPED: Final = Path(__file__).parents[1] / "data" / "cost-tables.toml"

# The widest round of a table that does not say where it ends: the longest draft of the `cost` policy and its head.
MAX_WIDTH: Final = 129


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One device of a TOML file: costs by width in plain one-token rounds."""

    widths: tuple[int, ...]
    costs: tuple[float, ...]
    max_width: int = MAX_WIDTH


class Measured(msgspec.Struct, frozen=True):
    """What `plgd bench --widths --json` prints."""

    costs: dict[str, object]


def load_cost_tables(path: Path = SHIPPED) -> dict[str, StepCosts]:
    """Read cost tables.

    Args:
        path: a TOML file of tables, or the output of `plgd bench --widths --json` (a `.json` file), which makes one
            table called by the file's name.

    Raises:
        BenchError: the file cannot be read or holds no tables.
    """
    try:
        if path.suffix == ".json":
            measured = msgspec.json.decode(path.read_bytes(), type=Measured)
            return {path.stem: StepCosts.from_data(measured.costs)}
        rows = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), dict[str, Row])
        tables = {name: _make_table(row) for name, row in rows.items()}
    except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BenchError.unreadable(str(path), str(error)) from error
    if not tables:
        raise BenchError.unreadable(str(path), "it holds no tables")
    return tables


def _make_table(row: Row) -> StepCosts:
    return StepCosts(
        widths=row.widths,
        contexts=(0,),
        costs_ms=(row.costs,),
        pipelined_ms=row.costs[:1],
        max_width=row.max_width,
    )
