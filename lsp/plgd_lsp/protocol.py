"""pygls' protocol, without its mirror of the texts, its way to end a process and its silence about bad parameters."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import Any, Final

from cattrs import Converter
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from plgd_lsp.refusal import bad_arguments

__all__ = ("Protocol",)

_MIRRORED: Final = (
    types.TEXT_DOCUMENT_DID_OPEN,
    types.TEXT_DOCUMENT_DID_CHANGE,
    types.TEXT_DOCUMENT_DID_CLOSE,
    types.NOTEBOOK_DOCUMENT_DID_OPEN,
    types.NOTEBOOK_DOCUMENT_DID_CHANGE,
    types.NOTEBOOK_DOCUMENT_DID_CLOSE,
)


# Commands that go on after they were answered.
_WITH_PROGRESS: Final = frozenset(("plgd.edit", "plgd.retry"))


class Protocol(LanguageServerProtocol):
    """The language server protocol on one connection.

    Attributes:
        ended: set when the editor has said `exit`.
    """

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.ended = asyncio.Event()
        for method in _MIRRORED:
            # Only plgd's own handlers see these: pygls would split every line of the text anew for each change, and
            # at characters that end no line.
            del self.fm.builtin_features[method]

    @property
    def was_shut_down(self) -> bool:
        """Whether the editor said `shutdown` before it left, as it should."""
        return self._shutdown

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        """Answer with what pygls found, and what it cannot know."""
        result = yield from super().lsp_initialize(params)
        can = result.capabilities
        if can.execute_command_provider is not None:
            can.execute_command_provider.work_done_progress = True
        sync = can.text_document_sync
        if isinstance(sync, types.TextDocumentSyncOptions) and _loses_step(params.client_info):
            sync.change = types.TextDocumentSyncKind.Full
        return result

    @lsp_method(types.EXIT)
    def lsp_exit(self, *_args: object) -> Generator[Any, Any, None]:
        """End the connection; pygls would raise SystemExit in the middle of the event loop."""
        self.ended.set()
        yield from ()

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Generator[Any, Any, Any]:
        """Hand a command its arguments as they come; pygls would fit them to the handler's signature."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise bad_arguments(f"There is no command {params.command!r}.")
        arguments = tuple(params.arguments or ())
        if params.work_done_token is not None and params.command in _WITH_PROGRESS:
            arguments = ({"workDoneToken": params.work_done_token}, *arguments)
        return (yield handler, (arguments,), None)

    def structure_message(self, data: dict[str, Any]) -> object:
        """Decode a message; a request that cannot be decoded is answered, which pygls leaves out.

        Raises:
            JsonRpcException: it cannot be decoded.
        """
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), int | str):
                wrong = JsonRpcException(f"the parameters of {data['method']} are not what the protocol says", -32602)
                self._send_response(data["id"], error=wrong.to_response_error())
            raise error from error.__cause__


def _loses_step(client: types.ClientInfo | None) -> bool:
    """Say whether an editor's incremental changes make another text than it has (docs/decisions/0010)."""
    return client is not None and client.name.lower() == "neovim"
