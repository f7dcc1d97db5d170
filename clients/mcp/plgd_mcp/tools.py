"""The tools."""

from __future__ import annotations

from typing import Annotated, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from plgd.protocol.documents import WarmParams
from plgd.protocol.edits import EditMode, EditParams, LineRange, Priority
from plgd.protocol.methods import DOCUMENT_WARM, EDIT_ACCEPT
from plgd.protocol.sessions import AcceptParams
from plgd_mcp.asking import ask, edit, find_session
from plgd_mcp.results import Accepted, EditOutcome, SessionState, Warmth, told
from plgd_mcp.state import AskedRoots, Call, State, roots_of

__all__ = ("accept_hunks", "add_tools", "apply_sketch", "edit_file", "edit_status", "warm")

_Path = Annotated[str, Field(description="the file; absolute, or relative to the only root")]
_First = Annotated[int | None, Field(ge=1, description="first line that may change, counted from 1")]
_Last = Annotated[int | None, Field(ge=1, description="last line that may change")]
_Apply = Annotated[bool, Field(description="write the file; otherwise the edit waits for accept_hunks")]
_Key = Annotated[
    str | None,
    Field(min_length=1, max_length=256, description="any text for this request; a repeat gets the first one's result"),
]
_Session = Annotated[str, Field(max_length=64, description="as an edit's answer names it")]

_WRITES: Final = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def add_tools(server: MCPServer[State]) -> None:
    """Give a server all tools."""
    server.add_tool(edit_file, annotations=_WRITES)
    server.add_tool(apply_sketch, annotations=_WRITES)
    server.add_tool(edit_status, annotations=_READS)
    server.add_tool(accept_hunks, annotations=_WRITES)
    server.add_tool(warm, annotations=_READS)


async def edit_file(
    ctx: Call,
    asked: AskedRoots,
    path: _Path,
    instruction: Annotated[str, Field(description="what to change, in plain words")],
    first_line: _First = None,
    last_line: _Last = None,
    apply: _Apply = True,
    prediction: Annotated[
        str | None, Field(description="the new text if you know it; it only speeds things up")
    ] = None,
    idempotency_key: _Key = None,
) -> EditOutcome:
    """Let the model on this machine rewrite a file, or some lines of it, as instructed.

    Lines that the model does not change keep every byte. What somebody else changed meanwhile is not overwritten.
    """
    roots = roots_of(ctx, asked)
    params = EditParams(
        path=roots.find(path),
        instruction=instruction,
        range=_range(first_line, last_line),
        mode=_mode(apply),
        prediction=prediction,
        idempotency_key=idempotency_key,
        priority=Priority.BATCH,
    )
    return told(EditOutcome, await edit(ctx, roots, params))


async def apply_sketch(
    ctx: Call,
    asked: AskedRoots,
    path: _Path,
    code_edit: Annotated[
        str,
        Field(
            min_length=1,
            description="the new text with a comment such as `# ... existing code ...` for lines that stay",
        ),
    ],
    instruction: Annotated[str, Field(description="what the sketch is about, where it needs saying")] = "",
    first_line: _First = None,
    last_line: _Last = None,
    apply: _Apply = True,
    idempotency_key: _Key = None,
) -> EditOutcome:
    """Merge a sketch of new code into a file: what changes is written out, markers stand for lines that stay."""
    roots = roots_of(ctx, asked)
    params = EditParams(
        path=roots.find(path),
        instruction=instruction,
        range=_range(first_line, last_line),
        mode=_mode(apply),
        code_edit=code_edit,
        idempotency_key=idempotency_key,
        priority=Priority.BATCH,
    )
    return told(EditOutcome, await edit(ctx, roots, params))


async def edit_status(ctx: Call, asked: AskedRoots, session: _Session) -> SessionState:
    """Say what became of an edit, and what its file holds at this moment."""
    return told(SessionState, await find_session(ctx, roots_of(ctx, asked), session))


async def accept_hunks(
    ctx: Call,
    asked: AskedRoots,
    session: _Session,
    hunks: Annotated[list[int] | None, Field(description="their ids; all that are open when left out")] = None,
    dry_run: Annotated[bool, Field(description="make every check and write nothing")] = False,
) -> Accepted:
    """Write hunks of a proposed edit to its file."""
    await find_session(ctx, roots_of(ctx, asked), session)
    params = AcceptParams(session=session, hunks=None if hunks is None else tuple(hunks), dry_run=dry_run)
    result = await ask(ctx, EDIT_ACCEPT, params)
    return told(Accepted, result)


async def warm(ctx: Call, asked: AskedRoots, path: _Path) -> Warmth:
    """Let the model read a file, so that the next edit of it begins at once."""
    params = WarmParams(path=roots_of(ctx, asked).find(path))
    result = await ask(ctx, DOCUMENT_WARM, params)
    return told(Warmth, result)


def _mode(apply: bool) -> EditMode:
    return EditMode.APPLY if apply else EditMode.PROPOSE


def _range(first: int | None, last: int | None) -> LineRange | None:
    if first is None and last is None:
        return None
    if first is None or last is None:
        raise ToolError("first_line and last_line come together.")
    return LineRange(first=first, last=last)
