"""One question to the daemon from a program that is not asynchronous itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import anyio
import msgspec

from plgd.client import connect
from plgd.paths import Paths
from plgd.protocol.methods import Method

__all__ = ("CLIENT_NAME", "ask")

CLIENT_NAME: Final = "plgd-cli"

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)


def ask(
    method: Method[ParamsT, ResultT],
    params: ParamsT,
    *,
    start: bool = True,
    on_notification: Callable[[msgspec.Struct], None] | None = None,
) -> ResultT:
    """Send one request to the user's daemon and wait for its answer.

    Ctrl-C cancels the request in the daemon before it surfaces here.

    Args:
        method: an entry of `plgd.protocol.methods`.
        params: what to ask.
        start: start the daemon when none runs.
        on_notification: called with each notification that belongs to the request.

    Raises:
        PlgdError: what the daemon answered, or why it could not be asked.
        KeyboardInterrupt: the user pressed Ctrl-C.
    """

    async def one_request() -> ResultT:
        async with connect(Paths.from_environment(), client=CLIENT_NAME, start=start) as client:
            return await client.call(method, params, on_notification=on_notification)

    return anyio.run(one_request)
