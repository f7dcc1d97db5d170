"""The outcomes of edits as a table for people."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.table import Table

from plgd.bench.edits_results import EditsResult, Tally
from plgd.bench.report import describe_environment

__all__ = ("show_edits",)

# Edits that did not come out right, of which the names are shown.
_N_NAMED: Final = 20


def show_edits(result: EditsResult, console: Console) -> None:
    """Print a row for each group, and what holds for all."""
    if result.environment is not None:
        console.print(describe_environment(result.environment), highlight=False)
    table = Table(title=f"suite {result.suite}: {result.everything.n} edits", title_justify="left")
    table.add_column("edits")
    for heading in ("n", "exact", "ended by itself", "parses", "collateral damage"):
        table.add_column(heading, justify="right")
    for groups in result.groups.values():
        if len(groups) > 1:
            table.add_section()
            for name, counts in groups.items():
                table.add_row(name, *_cells(counts))
    table.add_section()
    table.add_row("all", *_cells(result.everything))
    console.print(table)
    console.print(_summary(result), highlight=False)
    wrong = [outcome.name for outcome in result.outcomes if not outcome.exact]
    if wrong:
        more = f" and {len(wrong) - _N_NAMED} more" if len(wrong) > _N_NAMED else ""
        console.print(f"Not exact: {', '.join(wrong[:_N_NAMED])}{more}", highlight=False)


def _cells(counts: Tally) -> tuple[str, ...]:
    return (
        str(counts.n),
        _percent(counts.n_exact, counts.n),
        _percent(counts.n_ended, counts.n),
        _percent(counts.n_parsed, counts.n_parsable) if counts.n_parsable else "",
        _percent(counts.n_damaged, counts.n),
    )


def _percent(part: int, whole: int) -> str:
    return f"{100.0 * part / whole:.1f} %" if whole else ""


def _summary(result: EditsResult) -> str:
    parts = []
    if result.n_no_change:
        parts.append(f"{result.n_kept} of {result.n_no_change} texts without anything to do were left as they were")
    if result.median_s:
        parts.append(f"median {result.median_s:.2f} s an edit, {result.tokens_per_round:.2f} tokens per round")
    if (speedup := result.speedup) is not None:
        parts.append(
            f"{speedup.n_edits} edits against plain decoding: {speedup.plain_decode_ms / speedup.decode_ms:.2f} times "
            f"as fast ({speedup.plain_total_ms / speedup.total_ms:.2f} with prompts), "
            f"{speedup.tokens_per_round:.2f} tokens per round, {speedup.n_same} with the same text"
        )
    return "\n".join(parts)
