"""`python -m plgd serve` is the daemon's process, `python -m plgd bench` one that measures.

People use `plgd start` and `plgd bench`, which set the environment up for them.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn

import anyio

from plgd.bench.command import run_bench
from plgd.bench.options import add_options, find_misplaced
from plgd.config import load_config
from plgd.errors import AlreadyRunning, PlgdError
from plgd.launch import ALREADY_RUNNING_EXIT
from plgd.paths import Paths
from plgd.server.app import Daemon, make_mlx_backend, make_pulled_models
from plgd.server.instance import single_instance
from plgd.server.logs import log_to_file

__all__ = ("main",)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the daemon in this process until it stops, or a measurement until it is done.

    Returns:
        The exit status: 0; 75 when another daemon runs; the error's own otherwise.
    """
    parser = argparse.ArgumentParser(prog="python -m plgd", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="run the daemon in the foreground")
    serve.add_argument("--ready-fd", type=int, help="a pipe to tell when clients can connect; the log takes the output")
    bench = commands.add_parser("bench", prog="plgd bench", help="measure this machine", allow_abbrev=False)
    add_options(bench)
    parsed = parser.parse_args(arguments)
    try:
        if parsed.command == "bench":
            if (misplaced := find_misplaced(parsed)) is not None:
                bench.error(misplaced)
            return run_bench(parsed)
        _serve(parsed.ready_fd)
        _leave()
    except AlreadyRunning as error:
        sys.stderr.write(f"{error}\n")
        return ALREADY_RUNNING_EXIT
    except PlgdError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def _serve(ready_fd: int | None) -> None:
    paths = Paths.from_environment()
    config = load_config(paths.config_file)
    with (
        single_instance(paths) as instance,
        log_to_file(paths.log, limit=config.daemon.log_limit, take_output=ready_fd is not None),
    ):
        make_backend = partial(make_mlx_backend, config, paths)
        daemon = Daemon(config, paths, make_backend, partial(make_pulled_models, config, paths))

        async def run() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(_watch_signals, daemon)
                await daemon.serve(instance, partial(_tell_ready, ready_fd))
                group.cancel_scope.cancel()

        anyio.run(run)


def _tell_ready(ready_fd: int | None) -> None:
    if ready_fd is None:
        return
    # Whoever started the daemon may have gone; others will use it.
    with suppress(BrokenPipeError):
        os.write(ready_fd, b"\n")
    os.close(ready_fd)


async def _watch_signals(daemon: Daemon) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as received:
        async for _ in received:
            daemon.request_stop(drain=False)


def _leave() -> NoReturn:
    """End the daemon's process, all being written and closed, without what Python and C++ do at an exit.

    Threads of mlx may still run then, and taking away under them what they use has aborted a daemon that had stopped
    well ("terminate called without an active exception").
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):  # the log's disk is full; there is nobody else to tell
            stream.flush()
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
