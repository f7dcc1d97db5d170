"""The protocol as JSON Schema and OpenRPC: what the daemon sends and takes fits it, and little else does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from plgd.errors import BY_CODE
from plgd.protocol.methods import METHODS, NOTIFICATIONS
from plgd.protocol.openrpc import openrpc_document
from plgd.protocol.schema import message_schema
from protocol.test_golden import LINES

SCHEMA = message_schema()
DOCUMENT: dict[str, Any] = msgspec.to_builtins(openrpc_document())


def validator(name: str) -> Draft202012Validator:
    """Return what checks one kind of message."""
    return Draft202012Validator({**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{name.replace('/', '~1')}"}]})


def test_the_schema_is_one() -> None:
    """The document is valid JSON Schema, every reference in it leads somewhere."""
    Draft202012Validator.check_schema(SCHEMA)
    assert all(name in SCHEMA["$defs"] for name in ("edit.request", "edit.result", "edit/progress", "error"))


@pytest.mark.parametrize("name", LINES)
def test_golden_messages_fit_the_schema(name: str) -> None:
    """Each golden message is valid, by the schema of its kind too."""
    message = msgspec.json.decode(LINES[name])
    Draft202012Validator(SCHEMA).validate(message)
    validator({"refusal": "error"}.get(name, name.removesuffix(".notification"))).validate(message)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("edit.request", {"id": 1, "method": "edit", "params": {"instruction": 5}}),
        ("edit.request", {"id": 1, "method": "edit", "params": {"instruction": "x", "pth": "/a"}}),
        ("edit.request", {"id": 1, "method": "edit", "params": {"mode": "overwrite"}}),
        ("edit.request", {"id": 2.5, "method": "edit", "params": {"instruction": "x"}}),
        ("edit.request", {"id": 1, "method": "ping", "params": {"instruction": "x"}}),
        ("hello.request", {"id": 1, "method": "hello"}),
        ("edit.result", {"id": 1, "result": {"session": "x"}}),
        ("edit/progress", {"method": "edit/progress", "params": {"id": 1, "stage": "nowhere"}}),
        ("error", {"id": 1, "error": {"message": "x"}}),
    ],
)
def test_other_messages_do_not(name: str, message: dict[str, object]) -> None:
    """What the daemon would refuse, or never sends, does not fit."""
    assert not validator(name).is_valid({"jsonrpc": "2.0", **message})


def test_every_field_that_is_explained_is_explained_in_the_schema() -> None:
    """Descriptions come from the types' own documentation."""
    path = SCHEMA["$defs"]["WarmParams"]["properties"]["path"]
    assert "absolute path of a file; an editor that holds it goes before the disk." == path["description"]
    assert "Attributes:" not in msgspec.json.encode(SCHEMA).decode()


def test_the_openrpc_document_has_every_method_and_error() -> None:
    """Methods, notifications and errors are those of the protocol's tables; required parameters come first."""
    from_client = [name for name, note in NOTIFICATIONS.items() if note.sender == "client"]
    assert [*METHODS, *from_client] == [method["name"] for method in DOCUMENT["methods"]]
    assert set(NOTIFICATIONS) - set(from_client) == {note["name"] for note in DOCUMENT["x-notifications"]}
    assert set(BY_CODE) == {error["code"] for error in DOCUMENT["components"]["errors"].values()}
    for method in DOCUMENT["methods"]:
        required = [param["required"] for param in method["params"]]
        assert sorted(required, reverse=True) == required
        assert ("result" in method) == (method["name"] in METHODS)


def references(value: object) -> set[str]:
    """Find every `$ref` at any depth."""
    match value:
        case dict():
            own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
            return own.union(*(references(each) for each in value.values()))
        case list() | tuple():
            return set[str]().union(*(references(each) for each in value))
        case _:
            return set()


def test_references_of_the_openrpc_document_lead_somewhere() -> None:
    """Each reference names a schema or an error of the same document."""
    components = DOCUMENT["components"]
    known = {f"#/components/{kind}/{name}" for kind, named in components.items() for name in named}
    assert references(DOCUMENT) <= known
    for schema in components["schemas"].values():
        Draft202012Validator.check_schema(schema)
