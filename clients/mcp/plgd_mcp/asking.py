"""Asks the daemon for a tool: told as it goes on, cancelled with the call, and held to the allowed folders."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from mcp.server.mcpserver.exceptions import ToolError

from plgd.errors import PlgdError
from plgd.protocol.edits import EditParams, EditProgress, EditResult
from plgd.protocol.methods import EDIT, EDIT_STATUS, Method
from plgd.protocol.sessions import SessionParams, SessionResult
from plgd.streamed import streamed
from plgd_mcp.progress import Progress
from plgd_mcp.roots import Roots
from plgd_mcp.state import Call

__all__ = ("ask", "edit", "find_session")

ParamsT = TypeVar("ParamsT", bound=msgspec.Struct)
ResultT = TypeVar("ResultT", bound=msgspec.Struct)


async def ask(ctx: Call, method: Method[ParamsT, ResultT], params: ParamsT) -> ResultT:
    """Make a request and report its progress. When the agent cancels the call, the daemon stops.

    Raises:
        ToolError: the daemon refused or failed; with its own sentence.
    """
    progress = Progress()
    try:
        async with streamed(ctx.request_context.lifespan_context.daemon, method, params) as call:
            async for note in call:
                if isinstance(note, EditProgress) and (percent := progress.next(note)) is not None:
                    await ctx.report_progress(percent, 100.0, note.stage.value)
            return await call.result()
    except PlgdError as error:
        raise ToolError(error.message) from error


async def edit(ctx: Call, roots: Roots, params: EditParams) -> EditResult:
    """Carry an edit out.

    Args:
        ctx: the call.
        roots: where its file may be.
        params: of a file by its real path.

    Raises:
        ToolError: as `ask` does, or the path led elsewhere by the time that the daemon looked.
    """
    result = await ask(ctx, EDIT, params)
    if not roots.hold(result.path):
        raise ToolError(
            f"{params.path} led to {result.path} when the daemon looked, outside the allowed folders; the edit ended "
            f"as {result.status.value}."
        )
    return result


async def find_session(ctx: Call, roots: Roots, session: str) -> SessionResult:
    """Return an edit of a file in the allowed folders.

    Raises:
        ToolError: as `ask` does, or its file is elsewhere.
    """
    found = await ask(ctx, EDIT_STATUS, SessionParams(session=session))
    if not found.path or not roots.hold(found.path):
        raise ToolError(f"The session {session!r} is about no file in the allowed folders. Nothing was done.")
    return found
