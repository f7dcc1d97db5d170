"""The memory of this process."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from pathlib import Path

__all__ = ("give_back", "resident_bytes")


def resident_bytes() -> int:
    """Return the memory of this process; on macOS, where the present figure needs a library, the most it ever had."""
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    else:  # noqa: RET505  # mypy looks at one platform at a time
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def give_back() -> bool:
    """Give memory that the C library keeps free back to the system; takes milliseconds.

    glibc keeps what was freed between blocks that are still in use: tens of megabytes after some hundred edits.

    Returns:
        Whether the C library can: glibc's `malloc_trim` can, others do by themselves or not at all.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(ctypes.c_size_t(0))
            return True
    return False
