"""Facts in columns, and numbers for people. Plain text, so that it can be cut and searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ("columns", "duration", "fields", "size")


def fields(rows: Iterable[tuple[str, str]]) -> str:
    """Set names and values in two columns; a row with an empty value is left out."""
    return columns([row for row in rows if row[1]])


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Set rows in columns as wide as their widest cell, two blanks between them.

    Args:
        rows: equally many cells each.

    Returns:
        One line per row, none of them with blanks at its end.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def size(n_bytes: int) -> str:
    """Say a size in decimal units, as disks and downloads are sold."""
    if n_bytes >= 1e9:
        return f"{n_bytes / 1e9:.1f} GB"
    if n_bytes >= 1e6:
        return f"{n_bytes / 1e6:.0f} MB"
    return f"{n_bytes / 1e3:.1f} kB" if n_bytes >= 1e3 else f"{n_bytes} bytes"


def duration(seconds: float) -> str:
    """Say a time in its two largest units, such as `3 h 12 min`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
