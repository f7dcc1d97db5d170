"""What the server says to the editor and asks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import anyio
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from plgd_lsp.abilities import Abilities

__all__ = ("Editor",)

# For an answer that needs no user.
_PROGRESS_S: Final = 2.0
_LEVELS: Final = {
    "error": types.MessageType.Error,
    "warning": types.MessageType.Warning,
    "info": types.MessageType.Info,
}


class Editor:
    """The other end of the connection.

    Args:
        server: pygls' server on this connection.

    Attributes:
        abilities: what it can do; known when it has introduced itself.
    """

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self.abilities = Abilities()

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send one of plgd's own notifications; editors ignore those that they do not know."""
        self._server.protocol.notify(method, dict(params))

    def show(self, level: str, message: str) -> None:
        """Show a sentence to the user: `error`, `warning` or `info`."""
        self._server.window_show_message(types.ShowMessageParams(type=_LEVELS[level], message=message))

    def diagnose(self, uri: str, version: int | None, diagnostics: Sequence[types.Diagnostic]) -> None:
        """Show diagnostics of a document in place of those before."""
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics, version=version)
        )

    async def apply(self, edit: types.WorkspaceEdit, label: str) -> types.ApplyWorkspaceEditResult:
        """Let the editor change its buffers, and wait for its answer; an error is the answer no."""
        params = types.ApplyWorkspaceEditParams(edit=edit, label=label)
        try:
            return await self._server.workspace_apply_edit_async(params)
        except JsonRpcException as error:
            return types.ApplyWorkspaceEditResult(applied=False, failure_reason=error.message)

    async def create_progress(self, token: str) -> bool:
        """Ask the editor to show progress; false when it does not want to, or does not answer: an edit goes before."""
        if not self.abilities.progress:
            return False
        params = types.WorkDoneProgressCreateParams(token=token)
        with anyio.move_on_after(_PROGRESS_S):
            try:
                await self._server.window_work_done_progress_create_async(params)
            except JsonRpcException:
                return False
            return True
        return False

    def progress(
        self,
        token: str | int,
        value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd,
    ) -> None:
        """Report on progress that the editor shows."""
        self._server.protocol.notify(types.PROGRESS, types.ProgressParams(token=token, value=value))
