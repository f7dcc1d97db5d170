"""Entries of JSON arrays, and the order and layout of JSON."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.json_text import JsonText, Member, Value, parse_json
from training.operations.json_changes import append, bare_of, identify, other_value, without
from training.spans import Replacement, indent_of, replace_spans

__all__ = (
    "OPERATIONS",
    "add_entry",
    "add_item",
    "change_indent",
    "remove_entry",
    "sort_array",
    "sort_keys",
)

JSON: Final = ("json",)
MAX_SHOWN: Final = 60
_ORDINALS: Final = ("first", "second", "third", "fourth")


def remove_entry(passage: Passage, rng: Random) -> Edit | None:
    """Remove an entry of an array: an object by its name or place, or a plain value."""
    parsed = parse_json(passage.text)
    if parsed is None:
        return None
    arrays = [one for one in parsed.arrays() if len(one.members) > 1]
    if not arrays:
        return None
    array = rng.choice(arrays)
    index = rng.randrange(len(array.members))
    item = array.members[index].value
    text = replace_spans(parsed.text, [without(array, index)])
    if item.kind == "object":
        where = identify(parsed, item, None)
        if where is None or (
            "nth" in where
            and len([one for one in parsed.arrays() if one.members and one.members[0].value.kind == "object"]) > 1
        ):
            return None
        return Edit("json_remove_entry", text, where, ordinal="nth" in where)
    source = parsed.source(item)
    if item.kind not in ("string", "scalar") or parsed.text.count(source) != 1 or len(source) > MAX_SHOWN:
        return None
    hints = {"array": str(array.path[-1])} if array.path and isinstance(array.path[-1], str) else {}
    return Edit("json_remove_item", text, {"item": bare_of(source) if rng.random() < 0.7 else source}, hints)


def add_item(passage: Passage, rng: Random) -> Edit | None:
    """Add a plain value at the end of an array that a key names."""
    parsed = parse_json(passage.text)
    if parsed is None:
        return None
    counts = Counter(parsed.keys())
    arrays = [
        one
        for one in parsed.arrays()
        if one.members and one.path and isinstance(one.path[-1], str) and counts[one.path[-1]] == 1
    ]
    arrays = [one for one in arrays if one.members[-1].value.kind in ("string", "scalar")]
    if not arrays:
        return None
    array = rng.choice(arrays)
    item = other_value(parsed.source(array.members[-1].value), rng)
    if item is None or item in parsed.text:
        return None
    span = append(parsed, array, item)
    return (
        Edit("json_add_item", replace_spans(parsed.text, [span]), {"item": bare_of(item), "array": str(array.path[-1])})
        if span
        else None
    )


def add_entry(passage: Passage, rng: Random) -> Edit | None:
    """Add a given object at the end of an array of objects, written as its neighbours are."""
    parsed = parse_json(passage.text)
    if parsed is None:
        return None
    arrays = [
        one for one in parsed.arrays() if one.members and all(item.value.kind == "object" for item in one.members)
    ]
    if len(arrays) != 1:
        return None
    array = arrays[0]
    last = array.members[-1].value
    if not 1 <= len(last.members) <= 6 or any(item.value.kind in ("object", "array") for item in last.members):
        return None
    values = [
        (item.key, other_value(parsed.source(item.value), rng) or parsed.source(item.value)) for item in last.members
    ]
    pattern = parsed.source(last)
    at = last.start
    spans = [
        Replacement(item.value.start - at, item.value.end - at, value)
        for item, (_, value) in zip(last.members, values, strict=True)
    ]
    span = append(parsed, array, replace_spans(pattern, spans))
    given = "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in values) + "}"
    return Edit("json_add_entry", replace_spans(parsed.text, [span]), {"entry": given}) if span else None


def sort_keys(passage: Passage, rng: Random) -> Edit | None:
    """Sort the keys of every object, or of a flat one."""
    parsed = parse_json(passage.text)
    if parsed is None or parsed.root.kind != "object":
        return None
    if any(len({item.key for item in one.members}) < len(one.members) for one in parsed.objects()):
        return None
    nested = [one for one in parsed.objects() if one is not parsed.root and len(one.members) > 1]
    if nested and rng.random() < 0.5:
        return Edit("json_sort_top", _sorted(parsed, deep=False)) if _is_regular(parsed) else None
    if not _is_regular(parsed):
        return None
    return Edit("json_sort_keys", _sorted(parsed, deep=True))


def sort_array(passage: Passage, rng: Random) -> Edit | None:
    """Sort an array of strings that a key names, or the only array of objects by a key."""
    parsed = parse_json(passage.text)
    if parsed is None:
        return None
    arrays = [one for one in parsed.arrays() if len(one.members) > 1]
    rows = [one for one in arrays if all(item.value.kind == "object" for item in one.members)]
    if len(rows) == 1 and rng.random() < 0.6:
        return _sort_rows(parsed, rows[0], rng)
    counts = Counter(parsed.keys())
    plain = [one for one in arrays if all(item.value.kind == "string" for item in one.members)]
    plain = [one for one in plain if one.path and isinstance(one.path[-1], str) and counts[one.path[-1]] == 1]
    if not plain:
        return None
    array = rng.choice(plain)
    texts = [str(json.loads(parsed.source(item.value))) for item in array.members]
    if len({text[:1].isupper() for text in texts}) > 1:
        return None
    ranks = sorted(range(len(texts)), key=texts.__getitem__)
    text = _reordered(parsed, array, [array.members[rank] for rank in ranks])
    return Edit("json_sort_array", text, {"array": str(array.path[-1])})


def _sort_rows(parsed: JsonText, array: Value, rng: Random) -> Edit | None:
    keys = [item.key for item in array.members[0].value.members if item.value.kind in ("string", "scalar")]
    if not keys:
        return None
    key = rng.choice(keys)
    members = [next((one for one in item.value.members if one.key == key), None) for item in array.members]
    values: list[object] = [None if one is None else json.loads(parsed.source(one.value)) for one in members]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    words = [value for value in values if isinstance(value, str)]
    if len(values) not in (len(set(numbers)), len(set(words))):
        return None
    down = rng.random() < 0.25
    ranks = sorted(range(len(values)), key=(numbers or words).__getitem__, reverse=down)
    text = _reordered(parsed, array, [array.members[rank] for rank in ranks])
    return Edit("json_sort_by_down" if down else "json_sort_by", text, {"key": key})


def change_indent(passage: Passage, rng: Random) -> Edit | None:
    """Write the whole text with another indent."""
    parsed = parse_json(passage.text)
    if parsed is None:
        return None
    data = json.loads(passage.text)
    for width in (2, 4):
        if json.dumps(data, indent=width, ensure_ascii=False) + "\n" == passage.text:
            other = 6 - width
            return Edit(
                "json_indent",
                json.dumps(data, indent=other, ensure_ascii=False) + "\n",
                {"width": str(other)},
                {"old": str(width)},
            )
    if json.dumps(data, ensure_ascii=False) + "\n" == passage.text and len(passage.text) < 800:
        width = rng.choice((2, 4))
        return Edit("json_pretty", json.dumps(data, indent=width, ensure_ascii=False) + "\n", {"width": str(width)})
    return None


def _reordered(parsed: JsonText, owner: Value, order: list[Member]) -> str:
    places = owner.members
    spans = [
        Replacement(place.start, place.value.end, parsed.text[item.start : item.value.end])
        for place, item in zip(places, order, strict=True)
    ]
    return replace_spans(parsed.text, spans)


def _sorted(parsed: JsonText, *, deep: bool) -> str:
    data = json.loads(parsed.text)
    width = len(indent_of(parsed.text[parsed.text.find("\n") + 1 :])) if "\n" in parsed.text.strip() else None
    if not deep:
        data = {key: data[key] for key in sorted(data)}
    return json.dumps(data, indent=width, sort_keys=deep, ensure_ascii=False) + "\n"


def _is_regular(parsed: JsonText) -> bool:
    data = json.loads(parsed.text)
    return any(json.dumps(data, indent=width, ensure_ascii=False) + "\n" == parsed.text for width in (None, 2, 4))


OPERATIONS: Final = (
    Operation("json_remove_entry", remove_entry, JSON, 6, makes=("json_remove_entry", "json_remove_item")),
    Operation("json_add_item", add_item, JSON, 2.5),
    Operation("json_add_entry", add_entry, JSON, 3),
    Operation("json_sort_keys", sort_keys, JSON, 0.6, makes=("json_sort_keys", "json_sort_top")),
    Operation("json_sort_array", sort_array, JSON, 0.8, makes=("json_sort_array", "json_sort_by", "json_sort_by_down")),
    Operation("json_indent", change_indent, JSON, 1, makes=("json_indent", "json_pretty")),
)
