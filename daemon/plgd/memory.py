"""The memory of this process."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

__all__ = ("resident_bytes",)


def resident_bytes() -> int:
    """Return the memory of this process; on macOS, where the present figure needs a library, the most it ever had."""
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_bytes().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    else:  # noqa: RET505  # mypy looks at one platform at a time
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
