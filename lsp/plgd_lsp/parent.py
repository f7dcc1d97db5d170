"""The process that started the server, or that wanted it started."""

from __future__ import annotations

import os

__all__ = ("is_alive",)


def is_alive(process_id: int) -> bool:
    """Say whether a process runs."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # another user's
    return True
