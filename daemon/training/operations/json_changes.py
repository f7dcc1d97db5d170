"""Changes of JSON at one place: a member added or removed, a value replaced, an entry named."""

from __future__ import annotations

import json
import re
from collections import Counter
from random import Random
from typing import Final

from training.json_text import JsonText, Member, Value
from training.made_data import json_value
from training.spans import Replacement, indent_of
from training.words import ADJECTIVES, word

__all__ = (
    "append",
    "bare_of",
    "identify",
    "insert_after",
    "new_value",
    "other_value",
    "without",
)

MAX_SHOWN: Final = 60
_ORDINALS: Final = ("first", "second", "third", "fourth")


def append(parsed: JsonText, owner: Value, member: str) -> Replacement | None:
    """Add a member behind the last one, on a line of its own if the others are."""
    if not owner.members:
        return None
    return insert_after(parsed, owner, owner.members[-1], member)


def insert_after(parsed: JsonText, owner: Value, after: Member, member: str) -> Replacement | None:
    """Add a member behind another one, on a line of its own if the others are; None for a mixed layout."""
    end = after.value.end
    if not parsed.is_multiline(owner):
        if "\n" in parsed.source(owner):
            return None
        return Replacement(end, end, f", {member}")
    line_start = parsed.text.rfind("\n", 0, after.start) + 1
    indent = indent_of(parsed.text[line_start : after.start + 1])
    if parsed.text[line_start : after.start].strip():
        return None  # several members on one line
    return Replacement(end, end, f",\n{indent}{member}")


def without(owner: Value, index: int) -> Replacement:
    """Remove a member, and one comma with it."""
    member = owner.members[index]
    if index + 1 < len(owner.members):
        return Replacement(member.start, owner.members[index + 1].start, "")
    if index:
        return Replacement(owner.members[index - 1].value.end, member.value.end, "")
    return Replacement(member.start, member.value.end, "")


def new_value(rng: Random) -> str:
    """Return some value, as JSON has it."""
    return json.dumps(
        rng.choice(
            (
                True,
                False,
                None,
                0,
                1,
                rng.randint(2, 500),
                word(rng),
                word(rng),
                f"{rng.choice(ADJECTIVES)} {word(rng)}",
                [],
                "",
            )
        )
    )


def other_value(old: str, rng: Random) -> str | None:
    """Return a value of the same type as some JSON source."""
    value = json.loads(old)
    if isinstance(value, bool):
        return json.dumps(not value)
    if value is None:
        return new_value(rng)
    if isinstance(value, int | float):
        new: object = (
            round(value * rng.choice((0.5, 2, 1.1)) + rng.choice((0, 1, 10)), 2)
            if isinstance(value, float)
            else rng.choice((value + 1, value * 2, rng.randint(1, 999), value + 10))
        )
        return None if new == value else json.dumps(new)
    new = json_value(str(value), rng)
    return None if new == value else json.dumps(new, ensure_ascii=False)


def bare_of(value: str) -> str:
    """Return a string's words without quotes, where they cannot be taken for something else."""
    text = json.loads(value)
    plain = isinstance(text, str) and text and not re.fullmatch(r"[\d.]+|true|false|null", text) and "\\" not in value
    return str(text) if plain else value


def identify(parsed: JsonText, owner: Value, wanted: Member | None) -> dict[str, str] | None:
    """Say which entry is meant, by something in it that no other has, or by its place."""
    for name in ("name", "id", "title", "email", "key", "code", "label", "slug", "sku", "host"):
        member = next((one for one in owner.members if one.key == name and one is not wanted), None)
        if member is not None and member.value.kind in ("string", "scalar"):
            source = parsed.source(member.value)
            same = [
                one
                for one in parsed.objects()
                for item in one.members
                if item.key == name and parsed.source(item.value) == source
            ]
            if len(same) == 1 and len(source) <= MAX_SHOWN:
                return {"by": name, "which": bare_of(source)}
    if owner.path and isinstance(owner.path[-1], str) and Counter(parsed.keys())[owner.path[-1]] == 1:
        return {"object": owner.path[-1]} if wanted is not None else None
    rows = [one for one in parsed.arrays() if one.members and one.members[0].value.kind == "object"]
    if len(owner.path) and isinstance(owner.path[-1], int) and len(rows) == 1:
        place = owner.path[-1]
        if place < len(_ORDINALS):
            return {"nth": _ORDINALS[place]}
        if place == len(rows[0].members) - 1:
            return {"nth": "last"}
    return None
