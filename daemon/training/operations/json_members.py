"""Members of JSON objects: added, renamed, removed, set, with every other character as it was."""

from __future__ import annotations

import json
import re
from collections import Counter
from random import Random
from typing import Final

from training.alike import among
from training.edit import Edit, Operation, Passage
from training.json_text import JsonText, Value, parse_json
from training.new_names import new_key
from training.operations.json_changes import append, bare_of, identify, insert_after, new_value, other_value, without
from training.spans import Replacement, replace_spans
from training.spoken import said
from training.words import camel, snake, title_words

__all__ = (
    "OPERATIONS",
    "add_field",
    "add_key",
    "remove_key",
    "rename_key",
    "set_value",
)

JSON: Final = ("json",)
MAX_SHOWN: Final = 60
# How often a key is told by its words.
SPOKEN: Final = 0.3
_ORDINALS: Final = ("first", "second", "third", "fourth")


def add_field(passage: Passage, rng: Random) -> Edit | None:
    """Add a member to each object of an array."""
    parsed = parse_json(passage.text)
    if parsed is None:
        return None
    arrays = [
        one
        for one in parsed.arrays()
        if len(one.members) > 1 and all(item.value.kind == "object" for item in one.members)
    ]
    arrays = [one for one in arrays if all(item.value.members for item in one.members)]
    outer = [one for one in arrays if not any(other is not one and _contains(other, one) for other in arrays)]
    if len(outer) != 1:
        return None
    array = outer[0]
    key = _new_key(parsed, rng)
    value = new_value(rng)
    spans = [append(parsed, item.value, f"{json.dumps(key)}: {value}") for item in array.members]
    if any(span is None for span in spans) or key is None:
        return None
    text = replace_spans(parsed.text, [span for span in spans if span is not None])
    slots, hints = {"key": key, "value": _bare(value, rng)}, {}
    if array.path:
        hints["array"] = str(array.path[-1])
        if any(not _contains(array, one) for one in parsed.objects() if one is not parsed.root):
            slots["array"] = hints.pop("array")  # there are objects that are not meant
    return Edit("json_add_field", text, slots, hints)


def add_key(passage: Passage, rng: Random) -> Edit | None:
    """Add a member at the end of an object, or after a key."""
    parsed = parse_json(passage.text)
    if parsed is None:
        return None
    key = _new_key(parsed, rng)
    value = new_value(rng)
    counts = Counter(parsed.keys())
    if parsed.root.kind != "object" or not parsed.root.members or key is None:
        return None
    member = f"{json.dumps(key)}: {value}"
    slots = {"key": key, "value": _bare(value, rng)}
    draw = rng.random()
    if draw < 0.4:
        span = append(parsed, parsed.root, member)
        return Edit("json_add_key", replace_spans(parsed.text, [span]), slots) if span else None
    if draw < 0.7:
        named = [
            one
            for one in parsed.objects()
            if one.path and isinstance(one.path[-1], str) and counts[one.path[-1]] == 1 and one.members
        ]
        if not named:
            return None
        target = rng.choice(named)
        span = append(parsed, target, member)
        return (
            Edit("json_add_key_to", replace_spans(parsed.text, [span]), {**slots, "object": str(target.path[-1])})
            if span
            else None
        )
    owners = [(one, item) for one in parsed.objects() for item in one.members if counts[item.key] == 1]
    if not owners:
        return None
    owner, after = rng.choice(owners)
    span = insert_after(parsed, owner, after, member)
    return (
        Edit("json_add_key_after", replace_spans(parsed.text, [span]), {**slots, "after": after.key}) if span else None
    )


def rename_key(passage: Passage, rng: Random) -> Edit | None:
    """Rename a key wherever it occurs; values that read the same stay."""
    parsed = parse_json(passage.text)
    if parsed is None or not parsed.keys():
        return None
    old = rng.choice(sorted(set(parsed.keys())))
    new = new_key(old, parsed.text, rng)
    if new is None or not re.fullmatch(r"[\w-]+", old):
        return None
    members = [item for one in parsed.objects() for item in one.members if item.key == old]
    spans = [Replacement(item.start, item.key_end, json.dumps(new)) for item in members]
    return Edit("json_rename_key", replace_spans(parsed.text, spans), {"old": old, "new": new})


def set_value(passage: Passage, rng: Random) -> Edit | None:
    """Give a key another value: one that occurs once, or that of the entry with some name or id."""
    parsed = parse_json(passage.text)
    if parsed is None:
        return None
    counts = Counter(parsed.keys())
    found = [(one, item) for one in parsed.objects() for item in one.members if item.value.kind in ("string", "scalar")]
    found = [one for one in found if len(parsed.source(one[1].value)) <= MAX_SHOWN]
    if not found:
        return None
    key = among({item.key for _, item in found}, rng)[0]
    owner, item = rng.choice([one for one in found if one[1].key == key])
    old = parsed.source(item.value)
    new = other_value(old, rng)
    if new is None:
        return None
    text = replace_spans(parsed.text, [Replacement(item.value.start, item.value.end, new)])
    shown = rng.random() < 0.7
    slots = {"name": item.key, "new": bare_of(new) if shown else new}
    hints = {"old": bare_of(old) if shown else old}
    words = said(item.key, counts) if rng.random() < SPOKEN else None
    if words and counts[item.key] == 1:
        return Edit("json_set_value", text, {"spoken": words, "new": slots["new"]}, hints)
    if counts[item.key] == 1:
        return Edit("json_set_value", text, slots, hints)
    where = identify(parsed, owner, item)
    if where is None:
        return None
    return Edit("json_set_value_of", text, {**slots, **where}, hints, ordinal="nth" in where)


def remove_key(passage: Passage, rng: Random) -> Edit | None:
    """Remove a key, from every object that has it."""
    parsed = parse_json(passage.text)
    if parsed is None or not parsed.keys():
        return None
    counts = Counter(parsed.keys())
    key = among(counts, rng)[0]
    spans: list[Replacement] = []
    for one in parsed.objects():
        for index, item in enumerate(one.members):
            if item.key == key:
                if len(one.members) == 1 or any(other.start <= item.start < other.end for other in spans):
                    return None
                spans.append(without(one, index))
    words = said(key, counts) if rng.random() < SPOKEN else None
    slots = {"spoken": words} if words else {"name": key}
    return Edit("json_remove_keys" if counts[key] > 1 else "json_remove_key", replace_spans(parsed.text, spans), slots)


def _contains(outer: Value, inner: Value) -> bool:
    return outer.start < inner.start and inner.end < outer.end


def _new_key(parsed: JsonText, rng: Random) -> str | None:
    style = next(iter(parsed.keys()), "")
    words = title_words(rng, rng.choice((1, 1, 2)))
    key = camel(words) if re.search(r"[a-z][A-Z]", style) else "-".join(words) if "-" in style else snake(words)
    return None if f'"{key}"' in parsed.text else key


def _bare(value: str, rng: Random) -> str:
    return bare_of(value) if rng.random() < 0.6 else value


OPERATIONS: Final = (
    Operation("json_add_field", add_field, JSON, 8),
    Operation("json_add_key", add_key, JSON, 4, makes=("json_add_key", "json_add_key_to", "json_add_key_after")),
    Operation("json_rename_key", rename_key, JSON, 4),
    Operation("json_set_value", set_value, JSON, 7, makes=("json_set_value", "json_set_value_of")),
    Operation("json_remove_key", remove_key, JSON, 8, makes=("json_remove_key", "json_remove_keys")),
)
