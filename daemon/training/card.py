"""The model card: what the adapter is, what it was made of, and how well it does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from plgd.bench.edits_results import EditsResult, Tally

__all__ = ("CARD_FILE", "write_card")

CARD_FILE: Final = "README.md"
TEMPLATE: Final = Path(__file__).parent / "card.md"
_SCORES: Final = "<!-- scores -->\n"


def write_card(folder: Path, scores: Sequence[EditsResult]) -> Path:
    """Write the card beside an adapter.

    Args:
        folder: the adapter's.
        scores: of the suites that it was judged on.
    """
    card = folder / CARD_FILE
    tables = "\n".join(map(_table, scores)) or "Not measured yet.\n"
    card.write_text(TEMPLATE.read_text(encoding="utf-8").replace(_SCORES, tables), encoding="utf-8")
    return card


def _table(result: EditsResult) -> str:
    rows = [
        f"### {result.suite}",
        "",
        "| edits | n | exact | ended by itself | parses | collateral damage |",
        "|---|---|---|---|---|---|",
        *(
            _row(name, counts)
            for groups in result.groups.values()
            if len(groups) > 1
            for name, counts in groups.items()
        ),
        _row("all", result.everything),
    ]
    if result.n_no_change:
        rows += ["", f"With nothing to do, {result.n_kept} of {result.n_no_change} texts were left as they were."]
    return "\n".join(rows) + "\n"


def _row(name: str, counts: Tally) -> str:
    shares = (
        (counts.n_exact, counts.n),
        (counts.n_ended, counts.n),
        (counts.n_parsed, counts.n_parsable),
        (counts.n_damaged, counts.n),
    )
    cells = [f"{100.0 * part / whole:.1f} %" if whole else "" for part, whole in shares]
    return f"| {name.strip()} | {counts.n} | {' | '.join(cells)} |"
