"""The protocol as an OpenRPC document, made from the table of methods."""

from __future__ import annotations

import functools
from typing import Final

import msgspec

from plgd.errors import BY_CODE
from plgd.protocol.daemon import PROTOCOL_VERSION
from plgd.protocol.discovery import DiscoverResult
from plgd.protocol.meanings import field_meanings, first_sentence
from plgd.protocol.methods import METHODS, NOTIFICATIONS, Method, Notification
from plgd.protocol.schema import Json, describe_types
from plgd.version import __version__

__all__ = ("openrpc_document",)

_OPENRPC_VERSION: Final = "1.3.2"
_DESCRIPTION: Final = (
    f"JSON-RPC 2.0 over a Unix socket, one message per line; protocol {PROTOCOL_VERSION}. Parameters are by name."
)


@functools.cache
def openrpc_document() -> DiscoverResult:
    """Describe every method, notification, type and error."""
    _, schemas = describe_types("#/components/schemas/{name}")
    notes = NOTIFICATIONS.values()
    return DiscoverResult(
        openrpc=_OPENRPC_VERSION,
        info={"title": "plgd", "version": __version__, "description": _DESCRIPTION},
        methods=(
            *(_method(method, schemas) for method in METHODS.values()),
            *(_notification(note, schemas) for note in notes if note.sender == "client"),
        ),
        components={"schemas": schemas, "errors": _errors()},
        notifications=tuple(_notification(note, schemas) for note in notes if note.sender == "daemon"),
    )


def _method(method: Method[msgspec.Struct, msgspec.Struct], schemas: Json) -> Json:
    result = {"name": method.result.__name__, "schema": {"$ref": f"#/components/schemas/{method.result.__name__}"}}
    return {
        "name": method.name,
        "summary": method.summary,
        "paramStructure": "by-name",
        "params": _params(method.params, schemas),
        "result": result | {"summary": first_sentence(method.result)},
        "errors": [{"$ref": f"#/components/errors/{cls.__name__}"} for cls in BY_CODE.values()],
    }


def _notification(note: Notification[msgspec.Struct], schemas: Json) -> Json:
    return {
        "name": note.name,
        "summary": note.summary,
        "paramStructure": "by-name",
        "params": _params(note.params, schemas),
    }


def _params(struct: type[msgspec.Struct], schemas: Json) -> list[Json]:
    meanings = field_meanings(struct)
    properties = schemas[struct.__name__]["properties"]
    # OpenRPC wants those that are required before the others.
    fields = sorted(msgspec.structs.fields(struct), key=lambda each: not each.required)
    return [
        {
            "name": each.encode_name,
            "description": meanings.get(each.name, ""),
            "required": each.required,
            "schema": properties[each.encode_name],
        }
        for each in fields
    ]


def _errors() -> Json:
    return {cls.__name__: {"code": code, "message": first_sentence(cls)} for code, cls in sorted(BY_CODE.items())}
