"""The endpoint as an application: its routes, and errors in the form that clients know."""

from __future__ import annotations

from typing import Final

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from plgd.errors import UnknownModel
from plgd.http.bodies import encode, model_body
from plgd.http.chat import ChatReply
from plgd.http.completer import Completer
from plgd.http.errors import Refused, error_response, refusal_of
from plgd.http.guard import Guard
from plgd.http.request import read_request

__all__ = ("make_app",)

# A client on this machine has its body ready.
_BODY_TIMEOUT_S: Final = 30.0


def make_app(completer: Completer, *, token: str, body_limit: int) -> ASGIApp:
    """Make the application.

    Args:
        completer: writes completions.
        token: what clients have to show.
        body_limit: bytes of one request.
    """

    async def chat(request: Request) -> ChatReply:
        return ChatReply(completer, read_request(await _read_body(request, body_limit)))

    async def models(_request: Request) -> Response:
        return _json({"object": "list", "data": [model_body(each) for each in await completer.models()]})

    async def model(request: Request) -> Response:
        name = request.path_params["name"]
        for each in await completer.models():
            if each.name == name:
                return _json(model_body(each))
        raise refusal_of(UnknownModel.named(name))

    routes = [
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/models", models, methods=["GET"]),
        Route("/v1/models/{name:path}", model, methods=["GET"]),
    ]
    handlers = {Refused: _answer_refused, HTTPException: _answer_http, Exception: _answer_failure}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token)


def _json(body: object) -> Response:
    return Response(encode(body), media_type="application/json")


async def _read_body(request: Request, limit: int) -> bytes:
    too_large = Refused(413, f"The request is longer than {limit:,} bytes.", code="request_too_large")
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared) > limit:
        raise too_large
    body = bytearray()
    try:
        with anyio.fail_after(_BODY_TIMEOUT_S):
            async for piece in request.stream():
                body += piece
                if len(body) > limit:
                    raise too_large
    except TimeoutError as error:
        raise Refused(408, "The request's body did not come.", code="request_timeout") from error
    return bytes(body)


async def _answer_refused(_request: Request, error: Exception) -> Response:
    if not isinstance(error, Refused):
        raise error
    return error_response(error)


async def _answer_http(_request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return error_response(Refused(error.status_code, f"{error.detail}.", code="not_supported"))


async def _answer_failure(_request: Request, error: Exception) -> Response:
    """Answer what nobody foresaw; the server raises it again for the log."""
    message = f"The daemon failed ({type(error).__name__}); `plgd logs` has the details."
    return error_response(Refused(500, message, kind="server_error"))
