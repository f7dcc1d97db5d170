"""The process `plgd lsp`: one editor on standard input and output, until either end is gone."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from typing import TYPE_CHECKING, BinaryIO, Final

import anyio
from anyio.abc import TaskGroup
from pygls.io_ import run_async

from plgd.config import Config, load_config
from plgd.errors import ConfigError
from plgd.paths import Paths
from plgd_lsp.parent import is_alive
from plgd_lsp.server import Server
from plgd_lsp.stdio import Reader, Writer, claim_stdout

if TYPE_CHECKING:
    from pygls.io_ import AsyncReader  # pygls defines it for type checkers alone

__all__ = ("main", "serve")

_LOG: Final = logging.getLogger(__name__)

# Between two looks whether the editor still lives; its end of the pipe usually says so at once.
_PARENT_CHECK_S: Final = 1.0


def main(*, verbose: bool = False) -> int:
    """Serve one editor.

    Args:
        verbose: log every message to standard error.

    Returns:
        0 when the editor said that it leaves, 1 when it was gone without a word.
    """
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, stream=sys.stderr)
    if not verbose:
        # pygls logs what the editor is told in any case.
        logging.getLogger("pygls").setLevel(logging.CRITICAL)
    return anyio.run(_serve_stdio, claim_stdout())


async def serve(reader: AsyncReader, writer: Writer, paths: Paths, config: Config, complaints: tuple[str, ...]) -> int:
    """Serve one editor until it leaves or is gone.

    Args:
        reader: what it says.
        writer: where it listens.
        paths: the user's folders.
        config: the user's settings.
        complaints: sentences about the configuration that the user should see.

    Returns:
        What `main` returns.
    """
    async with anyio.create_task_group() as group:
        server = Server(paths, group, config.editor.presets, complaints, frame_limit=config.daemon.frame_limit)
        protocol = server.protocol
        protocol.set_writer(writer)
        stop = threading.Event()  # what pygls looks at between two messages
        group.start_soon(_watch_parent, server, writer)
        group.start_soon(_stop_when, protocol.ended, stop, group)
        group.start_soon(_stop_when, writer.closed, stop, group)
        await run_async(stop, reader, protocol, logger=_LOG, error_handler=server.pygls.report_server_error)
        group.cancel_scope.cancel()
    return 0 if protocol.was_shut_down else 1


async def _serve_stdio(output: BinaryIO) -> int:
    paths = Paths.from_environment()
    reader = Reader(0, output)
    await reader.open()
    return await serve(reader, Writer(output), paths, *_read_config(paths))


async def _stop_when(happened: asyncio.Event, stop: threading.Event, group: TaskGroup) -> None:
    await happened.wait()
    stop.set()
    group.cancel_scope.cancel()


async def _watch_parent(server: Server, writer: Writer) -> None:
    """End the process when the editor has died and something else holds its end of the pipe."""
    await server.introduced.wait()
    process_id = server.editor_process
    while process_id is not None and is_alive(process_id):  # noqa: ASYNC110  # the system tells nobody but the parent
        await anyio.sleep(_PARENT_CHECK_S)
    if process_id is not None:
        _LOG.warning("the editor, process %d, is gone", process_id)
        writer.closed.set()


def _read_config(paths: Paths) -> tuple[Config, tuple[str, ...]]:
    try:
        return load_config(paths.config_file), ()
    except ConfigError as error:
        return Config(), (f"plgd: {error.message}",)
