"""A JSON text with the place of every value, so that an edit leaves all other characters alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Literal

__all__ = ("JsonText", "Member", "Value", "parse_json")

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")


@dataclass(slots=True)
class Member:
    """A key and its value, or an item of an array, whose key is empty.

    Attributes:
        key: decoded.
        start: of the key, or of the item.
        key_end: after the key; equal to `start` for an item.
        value: the value.
    """

    key: str
    start: int
    key_end: int
    value: Value


@dataclass(slots=True)
class Value:
    """A value.

    Attributes:
        kind: what it is.
        start: of its first character.
        end: after its last.
        members: of an object or an array.
        path: the keys that lead to it; items of arrays have their number, from 0.
    """

    kind: Literal["object", "array", "string", "scalar"]
    start: int
    end: int
    members: list[Member] = field(default_factory=list)
    path: tuple[str | int, ...] = ()


class JsonText:
    """A parsed JSON text.

    Attributes:
        text: the source.
        root: the outermost value.
    """

    def __init__(self, text: str) -> None:
        """Parse.

        Raises:
            ValueError: the text is not strict JSON.
        """
        json.loads(text)
        self.text = text
        self.root = self._value(self._skip(0), ())

    def values(self) -> Iterator[Value]:
        """Yield every value, outer ones first."""
        todo = [self.root]
        while todo:
            value = todo.pop(0)
            yield value
            todo += [member.value for member in value.members]

    def objects(self) -> list[Value]:
        """Return all objects."""
        return [value for value in self.values() if value.kind == "object"]

    def arrays(self) -> list[Value]:
        """Return all arrays."""
        return [value for value in self.values() if value.kind == "array"]

    def source(self, value: Value) -> str:
        """Return a value's text."""
        return self.text[value.start : value.end]

    def keys(self) -> list[str]:
        """Return every key, as often as it occurs."""
        return [member.key for value in self.objects() for member in value.members]

    def is_multiline(self, value: Value) -> bool:
        """Tell whether the members of a value stand on lines of their own."""
        return bool(value.members) and "\n" in self.text[value.start : value.members[0].start]

    def _skip(self, at: int) -> int:
        match = _BLANKS.match(self.text, at)
        return match.end() if match else at

    def _value(self, at: int, path: tuple[str | int, ...]) -> Value:
        opening = self.text[at]
        if opening == '"':
            return Value("string", at, self._string_end(at), path=path)
        if opening not in "{[":
            match = _SCALAR.match(self.text, at)
            if match is None:
                raise ValueError(f"no value at {at}")
            return Value("scalar", at, match.end(), path=path)
        members: list[Member] = []
        at_member = self._skip(at + 1)
        while self.text[at_member] not in "}]":
            start = at_member
            key, key_end = "", start
            if opening == "{":
                key_end = self._string_end(start)
                key = json.loads(self.text[start:key_end])
                at_member = self._skip(self._skip(key_end) + 1)
            value = self._value(at_member, (*path, key if opening == "{" else len(members)))
            members.append(Member(key, start, key_end, value))
            at_member = self._skip(value.end)
            if self.text[at_member] == ",":
                at_member = self._skip(at_member + 1)
        return Value("object" if opening == "{" else "array", at, at_member + 1, members, path)

    def _string_end(self, at: int) -> int:
        match = _STRING.match(self.text, at)
        if match is None:
            raise ValueError(f"no string at {at}")
        return match.end()


@lru_cache(maxsize=64)
def parse_json(text: str) -> JsonText | None:
    """Parse a text; None for what is not strict JSON, such as JSON with comments."""
    try:
        return JsonText(text)
    except (ValueError, IndexError, RecursionError):
        return None
