"""Edits of JSON that leave every other character as it is."""

from __future__ import annotations

import json
import re
from collections import Counter
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.json_text import JsonText, Member, Value, parse_json
from training.made_data import json_value
from training.spans import Replacement, indent_of, replace_spans
from training.words import ADJECTIVES, camel, snake, title_words, word

__all__ = (
    "OPERATIONS",
    "add_entry",
    "add_field",
    "add_item",
    "add_key",
    "change_indent",
    "remove_entry",
    "remove_key",
    "rename_key",
    "set_value",
    "sort_array",
    "sort_keys",
)

JSON: Final = ("json",)
MAX_SHOWN: Final = 60
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
    value = _new_value(rng)
    spans = [_append(parsed, item.value, f"{json.dumps(key)}: {value}") for item in array.members]
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
    value = _new_value(rng)
    counts = Counter(parsed.keys())
    if parsed.root.kind != "object" or not parsed.root.members or key is None:
        return None
    member = f"{json.dumps(key)}: {value}"
    slots = {"key": key, "value": _bare(value, rng)}
    draw = rng.random()
    if draw < 0.4:
        span = _append(parsed, parsed.root, member)
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
        span = _append(parsed, target, member)
        return (
            Edit("json_add_key_to", replace_spans(parsed.text, [span]), {**slots, "object": str(target.path[-1])})
            if span
            else None
        )
    owners = [(one, item) for one in parsed.objects() for item in one.members if counts[item.key] == 1]
    if not owners:
        return None
    owner, after = rng.choice(owners)
    span = _insert_after(parsed, owner, after, member)
    return (
        Edit("json_add_key_after", replace_spans(parsed.text, [span]), {**slots, "after": after.key}) if span else None
    )


def rename_key(passage: Passage, rng: Random) -> Edit | None:
    """Rename a key wherever it occurs; values that read the same stay."""
    parsed = parse_json(passage.text)
    if parsed is None or not parsed.keys():
        return None
    old = rng.choice(sorted(set(parsed.keys())))
    new = _new_key(parsed, rng, old)
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
    owner, item = rng.choice(found)
    old = parsed.source(item.value)
    new = _other_value(old, rng)
    if new is None:
        return None
    text = replace_spans(parsed.text, [Replacement(item.value.start, item.value.end, new)])
    shown = rng.random() < 0.7
    slots = {"name": item.key, "new": _bare_of(new) if shown else new}
    hints = {"old": _bare_of(old) if shown else old}
    if counts[item.key] == 1:
        return Edit("json_set_value", text, slots, hints)
    where = _identify(parsed, owner, item)
    if where is None:
        return None
    return Edit("json_set_value_of", text, {**slots, **where}, hints, ordinal="nth" in where)


def remove_key(passage: Passage, rng: Random) -> Edit | None:
    """Remove a key, from every object that has it."""
    parsed = parse_json(passage.text)
    if parsed is None or not parsed.keys():
        return None
    counts = Counter(parsed.keys())
    key = rng.choice(sorted(counts))
    spans: list[Replacement] = []
    for one in parsed.objects():
        for index, item in enumerate(one.members):
            if item.key == key:
                if len(one.members) == 1 or any(other.start <= item.start < other.end for other in spans):
                    return None
                spans.append(_without(one, index))
    return Edit(
        "json_remove_keys" if counts[key] > 1 else "json_remove_key", replace_spans(parsed.text, spans), {"name": key}
    )


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
    text = replace_spans(parsed.text, [_without(array, index)])
    if item.kind == "object":
        where = _identify(parsed, item, None)
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
    return Edit("json_remove_item", text, {"item": _bare_of(source) if rng.random() < 0.7 else source}, hints)


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
    item = _other_value(parsed.source(array.members[-1].value), rng)
    if item is None or item in parsed.text:
        return None
    span = _append(parsed, array, item)
    return (
        Edit(
            "json_add_item", replace_spans(parsed.text, [span]), {"item": _bare_of(item), "array": str(array.path[-1])}
        )
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
        (item.key, _other_value(parsed.source(item.value), rng) or parsed.source(item.value)) for item in last.members
    ]
    pattern = parsed.source(last)
    at = last.start
    spans = [
        Replacement(item.value.start - at, item.value.end - at, value)
        for item, (_, value) in zip(last.members, values, strict=True)
    ]
    span = _append(parsed, array, replace_spans(pattern, spans))
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


def _contains(outer: Value, inner: Value) -> bool:
    return outer.start < inner.start and inner.end < outer.end


def _append(parsed: JsonText, owner: Value, member: str) -> Replacement | None:
    """Add a member behind the last one, on a line of its own if the others are."""
    if not owner.members:
        return None
    return _insert_after(parsed, owner, owner.members[-1], member)


def _insert_after(parsed: JsonText, owner: Value, after: Member, member: str) -> Replacement | None:
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


def _without(owner: Value, index: int) -> Replacement:
    """Remove a member, and one comma with it."""
    member = owner.members[index]
    if index + 1 < len(owner.members):
        return Replacement(member.start, owner.members[index + 1].start, "")
    if index:
        return Replacement(owner.members[index - 1].value.end, member.value.end, "")
    return Replacement(member.start, member.value.end, "")


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


def _new_key(parsed: JsonText, rng: Random, old: str = "") -> str | None:
    style = old or next(iter(parsed.keys()), "")
    words = title_words(rng, rng.choice((1, 1, 2)))
    if old and rng.random() < 0.2:
        words = [rng.choice(ADJECTIVES), *re.findall(r"[a-z]+", old.lower())]
    key = camel(words) if re.search(r"[a-z][A-Z]", style) else "-".join(words) if "-" in style else snake(words)
    return None if f'"{key}"' in parsed.text else key


def _new_value(rng: Random) -> str:
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


def _other_value(old: str, rng: Random) -> str | None:
    """Return a value of the same type as some JSON source."""
    value = json.loads(old)
    if isinstance(value, bool):
        return json.dumps(not value)
    if value is None:
        return _new_value(rng)
    if isinstance(value, int | float):
        new: object = (
            round(value * rng.choice((0.5, 2, 1.1)) + rng.choice((0, 1, 10)), 2)
            if isinstance(value, float)
            else rng.choice((value + 1, value * 2, rng.randint(1, 999), value + 10))
        )
        return None if new == value else json.dumps(new)
    new = json_value(str(value), rng)
    return None if new == value else json.dumps(new, ensure_ascii=False)


def _bare(value: str, rng: Random) -> str:
    return _bare_of(value) if rng.random() < 0.6 else value


def _bare_of(value: str) -> str:
    """Return a string's words without quotes, where they cannot be taken for something else."""
    text = json.loads(value)
    plain = isinstance(text, str) and text and not re.fullmatch(r"[\d.]+|true|false|null", text) and "\\" not in value
    return str(text) if plain else value


def _identify(parsed: JsonText, owner: Value, wanted: Member | None) -> dict[str, str] | None:
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
                return {"by": name, "which": _bare_of(source)}
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


OPERATIONS: Final = (
    Operation("json_add_field", add_field, JSON, 5),
    Operation("json_add_key", add_key, JSON, 4, makes=("json_add_key", "json_add_key_to", "json_add_key_after")),
    Operation("json_rename_key", rename_key, JSON, 3),
    Operation("json_set_value", set_value, JSON, 4.5, makes=("json_set_value", "json_set_value_of")),
    Operation("json_remove_key", remove_key, JSON, 4, makes=("json_remove_key", "json_remove_keys")),
    Operation("json_remove_entry", remove_entry, JSON, 3, makes=("json_remove_entry", "json_remove_item")),
    Operation("json_add_item", add_item, JSON, 1.5),
    Operation("json_add_entry", add_entry, JSON, 1.5),
    Operation("json_sort_keys", sort_keys, JSON, 2, makes=("json_sort_keys", "json_sort_top")),
    Operation("json_sort_array", sort_array, JSON, 2.5, makes=("json_sort_array", "json_sort_by", "json_sort_by_down")),
    Operation("json_indent", change_indent, JSON, 2, makes=("json_indent", "json_pretty")),
)
