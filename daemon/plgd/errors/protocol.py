"""What is wrong with a message on the socket."""

from __future__ import annotations

from plgd.errors.base import PlgdError

__all__ = (
    "FrameTooLarge",
    "HelloFirst",
    "InvalidParams",
    "InvalidRequest",
    "MethodNotFound",
    "ParseError",
    "ProtocolError",
)


class ProtocolError(PlgdError):
    """A message on the socket is not what the protocol says."""

    code = -32099


class ParseError(ProtocolError):
    """The line is not JSON."""

    code = -32700


class InvalidRequest(ProtocolError):
    """The JSON is not a JSON-RPC 2.0 message."""

    code = -32600


class MethodNotFound(ProtocolError):
    """The daemon has no such method."""

    code = -32601

    @classmethod
    def named(cls, method: str, nearest: str | None = None) -> MethodNotFound:
        hint = f" Did you mean {nearest!r}?" if nearest else ""
        return cls(f"There is no method {method!r}.{hint}")


class InvalidParams(ProtocolError):
    """The parameters are not of the method's type."""

    code = -32602
    exit_code = 2


class FrameTooLarge(ProtocolError):
    """A message is longer than the limit; the connection is closed."""

    code = -32070

    @classmethod
    def of(cls, limit: int) -> FrameTooLarge:
        return cls(f"The message is longer than {limit:,} bytes; the connection was closed.")


class HelloFirst(ProtocolError):
    """The first request of a connection must be `hello`."""

    code = -32071

    def __init__(self, message: str = "The first request of a connection must be `hello`.") -> None:
        super().__init__(message)
