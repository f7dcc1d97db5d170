"""Lets in who is on this machine and knows the token, before anything of a request is read."""

from __future__ import annotations

import re
import secrets
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from plgd.http.errors import Refused, error_response

__all__ = ("Guard",)

# A page of another site whose name was made to lead here would be named in `Host` (DNS rebinding).
_LOOPBACK: Final = re.compile(rb"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE)


class Guard:
    """Stands before an application.

    Args:
        app: what is guarded.
        token: what `Authorization: Bearer ...` has to show.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = b"Bearer " + token.encode("ascii")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, or answer it with 403 or 401."""
        refused = self._refusal(scope)
        app = self._app if refused is None else error_response(refused)
        await app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refused | None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or _LOOPBACK.fullmatch(hosts[0]) is None:
            return Refused(403, "Address this endpoint as 127.0.0.1 or localhost.", code="wrong_host")
        shown = b"".join(value for name, value in scope["headers"] if name == b"authorization")
        scheme, _, credentials = shown.partition(b" ")
        if not secrets.compare_digest(scheme.title() + b" " + credentials.strip(), self._expected):
            return Refused(
                401,
                "The token is wrong or missing; `plgd` keeps it in the file http-token beside its socket.",
                kind="authentication_error",
                code="invalid_api_key",
            )
        return None
