"""The three standard streams of the process."""

from __future__ import annotations

import os
import sys

__all__ = ("open_missing",)


def open_missing() -> None:
    """Open the null device in place of each standard stream that the caller closed, as with `plgd ... >&-`.

    Otherwise the next file or socket would get its number, and whatever writes to "standard output" would land in it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, number)
            if null != number:
                os.close(null)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  # for ever
