"""Asks the daemon for an edit of a document that may change, over a connection that may break."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from plgd.client import Client
from plgd.errors import ConnectionLost, DocumentNotOpen, OutOfSync, PlgdError, ShuttingDown
from plgd.protocol.drafting import DraftingParams
from plgd.protocol.edits import EditParams, EditProgress, EditResult, EditStatus, LineRange
from plgd.protocol.methods import EDIT
from plgd.text.fingerprint import fingerprint
from plgd_lsp.link import Link
from plgd_lsp.mirror import Mirror
from plgd_lsp.options import Options
from plgd_lsp.session import Session
from plgd_lsp.sync import Sync

__all__ = ("Asking",)

# A text that changes between every look and its request, or daemons that go away one after the other.
_TRIES: Final = 5


class Asking:
    """Asks for edits.

    Args:
        mirror: the editor's texts.
        link: the way to the daemon.
        sync: what the daemon knows of the texts.
        options: what the editor set.
    """

    def __init__(self, mirror: Mirror, link: Link, sync: Sync, options: Options) -> None:
        self._mirror = mirror
        self._link = link
        self._sync = sync
        self._options = options

    async def ask(self, session: Session, on_progress: Callable[[EditProgress], None]) -> EditResult:
        """Ask until there is an answer for the text that the editor has when it is asked.

        The session's request is moved to that text.

        Raises:
            PlgdError: the daemon cannot be reached, refused, failed or went away.
        """
        has_begun = False

        def note(message: msgspec.Struct) -> None:
            nonlocal has_begun
            if isinstance(message, EditProgress):
                has_begun = True
                on_progress(message)

        refusal: PlgdError = ConnectionLost()
        for _ in range(_TRIES):
            client = await self._link.client()
            try:
                result = await self._ask_once(client, session, note)
            except (ConnectionLost, ShuttingDown) as error:
                # A daemon in its last moments; what it had begun with may be what ended it.
                if has_begun:
                    raise
                refusal = error
                await client.wait_closed()
            except (OutOfSync, DocumentNotOpen) as error:
                refusal = error
                self._sync.note_open(session.request.uri)
            else:
                if result.status is not EditStatus.CONFLICT:
                    return result
                refusal = OutOfSync.of_text(session.request.uri)
        raise refusal

    async def _ask_once(self, client: Client, session: Session, note: Callable[[msgspec.Struct], None]) -> EditResult:
        uri = session.request.uri
        await self._sync.push(client, uri)
        document = self._mirror.get(uri)
        if document is None:
            raise DocumentNotOpen.named(uri)
        session.move_to(document.text)
        lines = session.request.lines
        params = EditParams(
            instruction=session.request.instruction,
            uri=document.uri,
            range=LineRange(first=lines.start + 1, last=lines.end) if lines is not None else None,
            base_fingerprint=fingerprint(document.text.encode()),
            model=self._options.model,
            drafting=DraftingParams(policy=self._options.policy) if self._options.policy is not None else None,
        )
        return await client.call(EDIT, params, note)
