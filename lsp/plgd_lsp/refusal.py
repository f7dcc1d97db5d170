"""A request of the editor that cannot be carried out, as JSON-RPC says it."""

from __future__ import annotations

from typing import Final

from pygls.exceptions import JsonRpcException

__all__ = ("bad_arguments", "refused")

_INVALID_PARAMS: Final = -32602
_REQUEST_FAILED: Final = -32803


def bad_arguments(message: str) -> JsonRpcException:
    """Make the error for arguments that mean nothing."""
    return JsonRpcException(message, _INVALID_PARAMS)


def refused(message: str) -> JsonRpcException:
    """Make the error for a request that cannot be carried out now."""
    return JsonRpcException(message, _REQUEST_FAILED)
