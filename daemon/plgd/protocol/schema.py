"""The protocol as JSON Schema, made from the table of methods."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import inspect as types

from plgd.protocol.daemon import PROTOCOL_VERSION
from plgd.protocol.envelope import ErrorObject
from plgd.protocol.meanings import field_meanings, first_sentence
from plgd.protocol.methods import METHODS, NOTIFICATIONS, Method, Notification

__all__ = ("Json", "describe_types", "message_schema")

# A JSON object of somebody else's vocabulary.
Json = dict[str, Any]

_ID: Final[Json] = {"anyOf": [{"type": "integer", "minimum": -(2**53), "maximum": 2**53}, {"type": "string"}]}


def message_schema() -> Json:
    """Return a schema that every line of the protocol fits, sent by either side.

    `$defs` has a schema for each type, and for each message: `edit.request`, `edit.result`, `edit/progress`, `error`.
    """
    names, definitions = describe_types("#/$defs/{name}")
    messages: Json = {}
    for method in METHODS.values():
        messages[f"{method.name}.request"] = _request(method, names[method.params])
        messages[f"{method.name}.result"] = _message({"id": _ID, "result": names[method.result]})
    for note in NOTIFICATIONS.values():
        messages[note.name] = _notification(note, names[note.params])
    messages["error"] = _message({"id": {"anyOf": [*_ID["anyOf"], {"type": "null"}]}, "error": names[ErrorObject]})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"plgd protocol {PROTOCOL_VERSION}",
        "description": "One line of the protocol: JSON-RPC 2.0, one message per line.",
        "anyOf": [{"$ref": f"#/$defs/{_pointer(name)}"} for name in messages],
        "$defs": definitions | messages,
    }


def describe_types(ref_template: str) -> tuple[dict[type, Json], Json]:
    """Describe every type of the protocol.

    Args:
        ref_template: where the schemas will stand, with `{name}` for the type's name.

    Returns:
        A reference to each type that a message consists of, and the schemas by name.
    """
    roots = [part for method in METHODS.values() for part in (method.params, method.result)]
    roots += [note.params for note in NOTIFICATIONS.values()]
    roots = [*dict.fromkeys(roots), ErrorObject]
    references, schemas = msgspec.json.schema_components(roots, ref_template=ref_template)
    for struct in _structs(roots):
        _explain(struct, schemas[struct.__name__])
    return dict(zip(roots, references, strict=True)), schemas


def _structs(roots: list[type[msgspec.Struct]]) -> set[type]:
    found: set[type] = set()
    pending: list[types.Type] = [types.type_info(root) for root in roots]
    while pending:
        match pending.pop():
            case types.StructType(cls=cls, fields=fields) if cls not in found:
                found.add(cls)
                pending += [each.type for each in fields]
            case types.VarTupleType(item_type=item):
                pending.append(item)
            case types.DictType(value_type=value):
                pending.append(value)
            case types.UnionType(types=members):
                pending += members
    return found


def _explain(struct: type, schema: Json) -> None:
    """Say of the type what its docstring says first, and of each field what the docstring says of it."""
    schema["description"] = first_sentence(struct)
    meanings = field_meanings(struct)
    for each in msgspec.structs.fields(struct):
        if each.name in meanings:
            schema["properties"][each.encode_name]["description"] = meanings[each.name]


def _request(method: Method[msgspec.Struct, msgspec.Struct], params: Json) -> Json:
    schema = _message({"id": _ID, "method": {"const": method.name}, "params": params})
    schema["description"] = method.summary
    if not any(each.required for each in msgspec.structs.fields(method.params)):
        schema["required"].remove("params")
    return schema


def _notification(note: Notification[msgspec.Struct], params: Json) -> Json:
    return _message({"method": {"const": note.name}, "params": params}) | {"description": note.summary}


def _message(members: Json) -> Json:
    return {
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, **members},
        "required": ["jsonrpc", *members],
    }


def _pointer(name: str) -> str:
    """Write a name as a part of a JSON pointer in a fragment (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
