"""The protocol, told by the daemon itself."""

from __future__ import annotations

from typing import Any

import msgspec

from plgd.protocol.base import Reply

__all__ = ("DiscoverResult",)


class DiscoverResult(Reply, frozen=True):
    """An OpenRPC document (<https://spec.open-rpc.org>).

    Attributes:
        openrpc: the version of OpenRPC.
        info: title, version of plgd, and a description.
        methods: each with its parameters by name, its result and its errors; `$/cancelRequest`, a notification, has
            no result.
        components: the schemas of all types.
        notifications: what the daemon sends by itself while a request is under way, in the same form.
    """

    openrpc: str
    info: dict[str, Any]
    methods: tuple[dict[str, Any], ...]
    components: dict[str, Any]
    notifications: tuple[dict[str, Any], ...] = msgspec.field(name="x-notifications")
