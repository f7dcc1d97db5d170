"""The process behind `plgd bench`: finds what is to be measured, measures it, reports."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from rich.console import Console

from plgd.errors import BenchError, Cancelled

__all__ = ("RUNNERS", "run_bench")

# Each runs in `run(arguments, console)`. Only the one that is asked for is imported: a replay needs no mlx.
RUNNERS: Final = {
    "compare": "plgd.bench.compare.command",
    "divergences": "plgd.bench.divergence",
    "edits": "plgd.bench.edits",
    "host": "plgd.bench.host.command",
    "load": "plgd.bench.load.command",
    "replay": "plgd.bench.replay.command",
    "traces": "plgd.bench.traces.command",
    "warm": "plgd.bench.warm",
    "widths": "plgd.bench.widths",
}

# Tables are as wide as they need to be in a pipe, where nobody wraps them.
PIPE_WIDTH: Final = 160


def run_bench(arguments: argparse.Namespace) -> int:
    """Run one measurement and print its result.

    Args:
        arguments: parsed with `plgd.bench.options`.

    Returns:
        The exit status, 0.

    Raises:
        PlgdError: it cannot be measured or told here, or was interrupted; the message says why.
    """
    try:
        run: Callable[[argparse.Namespace, Console], None] = importlib.import_module(RUNNERS[arguments.mode]).run
        # The command line holds Ctrl-C back until here: while modules are imported, it may come as any error.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        run(arguments, Console(width=None if sys.stdout.isatty() else PIPE_WIDTH))
        sys.stdout.flush()
    except KeyboardInterrupt as error:
        raise Cancelled("Interrupted.") from error
    except OSError as error:
        if error.filename is not None:  # it is not of what is printed
            raise
        with suppress(OSError):
            sys.stdout.close()  # else Python would try once more at its end, and say so
        raise BenchError.unwritable("The result", str(error.strerror)) from error
    return 0
