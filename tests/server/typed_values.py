"""Values of any type of the protocol, by chance: of the right type, seldom sensible."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import inspect as types

__all__ = ("SESSION", "TypedValues")

# Stands for the id of a session, which only who talks to the daemon can know.
SESSION: Final = "{SESSION}"

_SAMPLES: Final[dict[type[types.Type], tuple[object, ...]]] = {
    types.IntType: (0, 1, 2, 3, 7, 100, -1, 2**31, 2**53),
    types.FloatType: (0.0, 0.5, 1.0, 2.0, -2.0, 1e300),
    types.BoolType: (False, True),
    types.NoneType: (None,),
}
_TEXTS: Final = (
    "x", "total = 1\n", "a\r\nb", "", "```\n", "\ufeffx\n", "🙂\n" * 50, "\x0c", "<|end|>", "\ud800", "k" * 300,
)  # fmt: skip
_MODELS: Final = ("m", "known", "nonsense", "")
# Optional fields that are given.
_SHARE: Final = 0.25


class TypedValues:
    """Makes values.

    Args:
        source: of chance.
        paths: those that may be named.
    """

    def __init__(self, source: random.Random, paths: Sequence[str]) -> None:
        self._random = source
        self._paths = paths

    def params(self, struct: type[msgspec.Struct]) -> dict[str, Any]:
        """Make the parameters of a method: few of those that are optional, but a text or its place."""
        fields = msgspec.structs.fields(struct)
        wanted = [each for each in fields if each.required or self._random.random() < _SHARE]
        place = next((each for each in fields if each.name in {"path", "text", "uri"}), None)
        if place is not None and place not in wanted:
            wanted.append(place)
        infos = {each.name: each.type for each in types.type_info(struct).fields}  # type: ignore[attr-defined]
        return {each.encode_name: self._of_type(infos[each.name], each.name) for each in wanted}

    def _of_type(self, info: types.Type, field: str) -> object:
        match info:
            case types.StructType(cls=cls):
                return self.params(cls)
            case types.VarTupleType(item_type=item):
                return [self._of_type(item, field) for _ in range(self._random.randrange(4))]
            case types.DictType(key_type=key, value_type=value):
                return {str(self._of_type(key, field)): self._of_type(value, field)}
            case types.UnionType(types=members):
                return self._of_type(self._random.choice(members), field)
            case types.LiteralType(values=values):
                return self._random.choice(values)
            case types.EnumType(cls=enum):
                return self._random.choice([member.value for member in enum])
            case types.StrType():
                return self.text(field)
            case _:
                return self._random.choice(_SAMPLES[type(info)])

    def text(self, field: str) -> str:
        """Make a text for a field of this name."""
        match field:
            case "path" | "uri":
                return self._random.choice(self._paths)
            case "session":
                return SESSION
            case "model":
                return self._random.choice(_MODELS)
            case _:
                return self._random.choice(_TEXTS)
