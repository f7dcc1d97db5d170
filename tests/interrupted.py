"""A process that installs the tiny model and is killed in the middle: `python interrupted.py URL CACHE STEP BYTES`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from plgd.models.builtin import install
from plgd.models.index import URL_VARIABLE
from plgd.models.steps import Pulling
from plgd.paths import Paths
from tiny import SOURCE, convert

__all__ = ("main",)


def main(url: str, cache: str, step: str, n_bytes: int) -> None:
    """Install, and die without a word as soon as a step has come so far."""

    def on_progress(now: str, done_bytes: int, _total: int) -> None:
        if now == step and done_bytes >= n_bytes:
            os.kill(os.getpid(), signal.SIGKILL)

    os.environ[URL_VARIABLE] = url
    place = Path(cache)
    install(SOURCE, Paths(place, place, place), Pulling("tiny", on_progress, lambda: False), convert=convert)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
