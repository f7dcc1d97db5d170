"""Errors in OpenAI's form."""

from __future__ import annotations

import math
from typing import Any, Final

from starlette.responses import Response

from plgd.errors import (
    Cancelled,
    ConnectionLost,
    InputError,
    InvalidParams,
    ModelError,
    ModelNotPulled,
    PlgdError,
    QueueFull,
    ShuttingDown,
    TextTooLong,
    UnknownModel,
)
from plgd.http.bodies import encode

__all__ = ("Refused", "error_body", "error_response", "refusal_of")

# The first class that fits decides: HTTP status, OpenAI's type and code.
_TABLE: Final[tuple[tuple[type[PlgdError], int, str, str | None], ...]] = (
    (TextTooLong, 400, "invalid_request_error", "context_length_exceeded"),
    (UnknownModel, 404, "invalid_request_error", "model_not_found"),
    (ModelNotPulled, 404, "invalid_request_error", "model_not_found"),
    (InvalidParams, 400, "invalid_request_error", None),
    (InputError, 400, "invalid_request_error", None),
    (QueueFull, 429, "rate_limit_error", "queue_full"),
    (ShuttingDown, 503, "server_error", "shutting_down"),
    (Cancelled, 503, "server_error", "shutting_down"),
    (ConnectionLost, 503, "server_error", "shutting_down"),
    (ModelError, 503, "server_error", "model_unavailable"),
    (PlgdError, 500, "server_error", None),
)
# After how many seconds it is worth another try, for those who may, where the daemon does not say.
_RETRY_AFTER_S: Final = {429: 1.0, 503: 1.0}


class Refused(Exception):
    """A request that is answered with an error.

    Attributes:
        status: of HTTP.
        message: a sentence for a person.
        kind: OpenAI's `type`.
        param: the field of the request that is wrong.
        code: OpenAI's `code`.
        retry_after_s: when to try again; 0 where nobody knows.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        retry_after_s: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.param = param
        self.code = code
        self.retry_after_s = retry_after_s or _RETRY_AFTER_S.get(status, 0.0)


def refusal_of(error: PlgdError) -> Refused:
    """Return what an error of the daemon is over HTTP."""
    status, kind, code = next(row[1:] for row in _TABLE if isinstance(error, row[0]))
    message = "The daemon is shutting down." if isinstance(error, Cancelled) else error.message
    return Refused(
        status,
        message,
        kind=kind,
        code=code,
        param="model" if code == "model_not_found" else None,
        retry_after_s=error.retry_after_s if isinstance(error, QueueFull) else 0.0,
    )


def error_body(refused: Refused) -> dict[str, Any]:
    """Return the JSON of an error."""
    return {
        "error": {
            "message": refused.message,
            "type": refused.kind,
            "param": refused.param,
            "code": refused.code,
        }
    }


def error_response(refused: Refused) -> Response:
    """Return the response of an error."""
    # HTTP has whole seconds.
    headers = {"retry-after": str(math.ceil(refused.retry_after_s))} if refused.retry_after_s else {}
    if refused.status == 401:
        headers["www-authenticate"] = "Bearer"
    return Response(encode(error_body(refused)), refused.status, headers, "application/json")
