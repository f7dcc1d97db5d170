"""Edits of settings in TOML, INI, YAML and environment files, line by line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.made_data import json_value
from training.new_names import new_key, plain_name
from training.spans import indent_of, is_blank, word_pattern
from training.spoken import said
from training.values import new_number
from training.words import word

__all__ = (
    "OPERATIONS",
    "add_key",
    "add_section",
    "comment_out",
    "remove_key",
    "remove_section",
    "rename_key",
    "rename_section",
    "set_value",
    "sort_keys",
)

SETTINGS: Final = ("toml", "ini", "yaml", "bash")
SECTIONED: Final = ("toml", "ini", "yaml")
_SECTION: Final = re.compile(r"\[+([\w.\"' -]+)\]+\s*$")
_PAIR: Final = re.compile(r"([A-Za-z_][\w.-]*)(\s*=\s*)(\S.*?)\s*$")
_EXPORT: Final = re.compile(r"([A-Z_][A-Z0-9_]*)(=)(\S+|\"[^\"]*\"|'[^']*')\s*$")
_YAML_SECTION: Final = re.compile(r"([A-Za-z_][\w-]*):\s*$")
_YAML_PAIR: Final = re.compile(r"  ([A-Za-z_][\w-]*)(: +)([^\s#&*!|>{\[].*?)\s*$")
_YAML_TOP: Final = re.compile(r"([A-Za-z_][\w-]*)(: +)([^\s#&*!|>{\[].*?)\s*$")
MAX_VALUE: Final = 50
# How often a setting is told by the words of its key.
SPOKEN: Final = 0.35


@dataclass(frozen=True, slots=True)
class _Pair:
    """A setting: where it stands, in which section, its key, what is between, its value."""

    index: int
    section: str
    key: str
    between: str
    value: str


def set_value(passage: Passage, rng: Random) -> Edit | None:
    """Give a key another value; the section is named when several have the key."""
    lines, pairs, sections = _read(passage)
    usable = [one for one in pairs if _other(one.value, passage.language, rng) and len(one.value) <= MAX_VALUE]
    if not usable:
        return None
    one = rng.choice(usable)
    new = _other(one.value, passage.language, rng)
    if new is None or new == one.value:
        return None
    head = lines[one.index].index(one.between, lines[one.index].index(one.key) + len(one.key)) + len(one.between)
    lines[one.index] = lines[one.index][:head] + new + lines[one.index][head + len(one.value) :]
    slots = {"name": one.key, "new": _bare(new)}
    hints = {"old": _bare(one.value)}
    words = said(one.key, {other.key for other in pairs} | set(sections))
    if words and rng.random() < SPOKEN and sum(other.key == one.key for other in pairs) == 1:
        return Edit("config_set", "".join(lines), {"spoken": words, "new": _bare(new)}, hints)
    return _in_section("config_set", "".join(lines), slots, one, pairs, hints)


def add_key(passage: Passage, rng: Random) -> Edit | None:
    """Add a setting at the end of a section, or of the file that has none."""
    lines, pairs, sections = _read(passage)
    if not pairs:
        return None
    key = _like_keys(pairs, rng)
    value = _new_value(passage.language, rng)
    if key in passage.text:
        return None
    if passage.language == "bash":
        one = pairs[-1]
        if one.index != len(lines) - 1:
            return None
        return Edit("config_add_last", "".join([*lines, f"{key}={value}\n"]), {"key": key, "value": _bare(value)})
    named = [one for one in pairs if one.section and sections.count(one.section) == 1]
    if not named:
        return None
    section = rng.choice(sorted({one.section for one in named}))
    last = max((one for one in named if one.section == section), key=lambda one: one.index)
    after = lines[last.index + 1] if last.index + 1 < len(lines) else ""
    if not (is_blank(after) or _SECTION.match(after) or (passage.language == "yaml" and not after.startswith(" "))):
        return None
    new = f"{indent_of(lines[last.index])}{key}{last.between}{value}\n"
    text = "".join([*lines[: last.index + 1], new, *lines[last.index + 1 :]])
    return Edit("config_add", text, {"key": key, "value": _bare(value), "section": section})


def remove_key(passage: Passage, rng: Random) -> Edit | None:
    """Remove a setting."""
    lines, pairs, _ = _read(passage)
    if len(pairs) < 2:
        return None
    one = rng.choice(pairs)
    if sum(other.section == one.section for other in pairs) < 2:
        return None
    return _in_section(
        "config_remove", "".join([*lines[: one.index], *lines[one.index + 1 :]]), {"name": one.key}, one, pairs, {}
    )


def rename_key(passage: Passage, rng: Random) -> Edit | None:
    """Rename a setting."""
    lines, pairs, _ = _read(passage)
    if not pairs:
        return None
    one = rng.choice(pairs)
    new = new_key(one.key, passage.text, rng)
    if new is None:
        return None
    start = lines[one.index].index(one.key)
    lines[one.index] = lines[one.index][:start] + new + lines[one.index][start + len(one.key) :]
    return _in_section("config_rename", "".join(lines), {"old": one.key, "new": new}, one, pairs, {})


def rename_section(passage: Passage, rng: Random) -> Edit | None:
    """Rename a section."""
    lines, _, sections = _read(passage)
    unique = [name for name in sections if name and sections.count(name) == 1 and re.fullmatch(r"[\w-]+", name)]
    if not unique:
        return None
    old, new = rng.choice(unique), word(rng)
    if new in passage.text or len(word_pattern(old).findall(passage.text)) != 1:
        return None
    heads = [index for index, line in enumerate(lines) if line.rstrip() in (f"[{old}]", f"{old}:")]
    if len(heads) != 1:
        return None
    lines[heads[0]] = lines[heads[0]].replace(old, new, 1)
    return Edit("config_rename_section", "".join(lines), {"old": old, "new": new})


def remove_section(passage: Passage, rng: Random) -> Edit | None:
    """Remove a section with all that is in it."""
    lines, _, sections = _read(passage)
    heads = [index for index, line in enumerate(lines) if _head(line, passage.language)]
    if len(heads) < 2:
        return None
    place = rng.randrange(len(heads))
    start = heads[place]
    name = _head(lines[start], passage.language) or ""
    if sections.count(name) != 1 or (start and lines[start - 1].startswith(("#", ";"))):
        return None
    end = heads[place + 1] if place + 1 < len(heads) else len(lines)
    if passage.language == "yaml":
        end = next(
            (index for index in range(start + 1, len(lines)) if lines[index][:1] not in (" ", "\n", "-")), len(lines)
        )
    while end < len(lines) and end > start + 1 and lines[end - 1].startswith(("#", ";")):
        end -= 1
    kept = [*lines[:start], *lines[end:]]
    text = "".join(kept) if end < len(lines) else "".join(kept).rstrip("\n") + "\n"
    return Edit("config_remove_section", text, {"name": name}) if text.strip() else None


def add_section(passage: Passage, rng: Random) -> Edit | None:
    """Add a given section at the end."""
    _lines, pairs, sections = _read(passage)
    if not sections or not pairs or passage.language not in SECTIONED:
        return None
    name = word(rng)
    rows = {_like_keys(pairs, rng): _new_value(passage.language, rng) for _ in range(rng.randint(1, 3))}
    if name in passage.text:
        return None
    if passage.language == "yaml":
        code = "\n".join([f"{name}:", *(f"  {key}: {value}" for key, value in rows.items())])
        joint = "\n\n" if len(sections) > 1 and "\n\n" in passage.text else "\n"
    else:
        code = "\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in rows.items())])
        joint = "\n\n"
    return Edit("add_section", passage.text.rstrip("\n") + joint + code + "\n", {"code": "\n" + code})


def sort_keys(passage: Passage, rng: Random) -> Edit | None:
    """Sort the settings of one section."""
    lines, pairs, sections = _read(passage)
    named = sorted({one.section for one in pairs if one.section and sections.count(one.section) == 1})
    if not named:
        return None
    section = rng.choice(named)
    own = [one for one in pairs if one.section == section]
    indexes = [one.index for one in own]
    if (
        len(own) < 3
        or indexes != list(range(indexes[0], indexes[0] + len(own)))
        or len({one.key for one in own}) < len(own)
    ):
        return None
    before = lines[indexes[0] - 1] if indexes[0] else ""
    after = lines[indexes[-1] + 1] if indexes[-1] + 1 < len(lines) else "\n"
    if _head(before, passage.language) != section or not (is_blank(after) or _head(after, passage.language)):
        return None
    for index, one in zip(indexes, sorted(own, key=lambda one: one.key), strict=True):
        lines[index] = split_lines(passage.text)[one.index]
    return Edit("config_sort", "".join(lines), {"section": section})


def comment_out(passage: Passage, rng: Random) -> Edit | None:
    """Turn a setting into a comment, or a comment that was a setting back."""
    lines, pairs, _ = _read(passage)
    if not pairs:
        return None
    one = rng.choice(pairs)
    line = lines[one.index]
    indent = indent_of(line)
    commented = [*lines[: one.index], f"{indent}# {line[len(indent) :]}", *lines[one.index + 1 :]]
    if rng.random() < 0.65:
        return _in_section("comment_out", "".join(commented), {"name": one.key}, one, pairs, {})
    edit = _in_section("uncomment", passage.text, {"name": one.key}, one, pairs, {})
    return Edit(edit.kind, edit.new_text, edit.slots, edit.hints, shown="".join(commented)) if edit else None


def _read(passage: Passage) -> tuple[list[str], list[_Pair], list[str]]:
    """Return the lines, the settings and the sections."""
    lines = list(split_lines(passage.text))
    pairs, sections = [], []
    section = ""
    if re.search(r"'''|\"\"\"|<<|\|\s*$|>\s*$", passage.text, re.MULTILINE):
        return lines, [], []
    for index, line in enumerate(lines):
        name = _head(line, passage.language)
        if name is not None:
            section = name
            sections.append(name)
            continue
        if passage.language == "yaml" and (top := _YAML_TOP.match(line)) is not None:
            section = ""
            pairs.append(_Pair(index, "", top[1], top[2], top[3]))
            continue
        pattern = {"yaml": _YAML_PAIR, "bash": _EXPORT}.get(passage.language, _PAIR)
        match = pattern.match(line)
        if match is not None and not match[3].endswith(("[", "{", "(", "\\", ",")):
            pairs.append(_Pair(index, section, match[1], match[2], match[3]))
    return lines, pairs, sections


def _head(line: str, language: str) -> str | None:
    if language == "bash":
        return None
    match = (_YAML_SECTION if language == "yaml" else _SECTION).match(line)
    return match[1] if match else None


def _in_section(
    kind: str, text: str, slots: dict[str, str], one: _Pair, pairs: list[_Pair], hints: dict[str, str]
) -> Edit | None:
    """Name the section where the key alone does not say which setting is meant."""
    same = [other for other in pairs if other.key == one.key]
    if any(other.section == one.key for other in pairs):
        return None  # a section and a key of one name: nobody knows which is meant
    if len(same) > 1:
        if not one.section or sum(other.section == one.section for other in same) > 1:
            return None
        return Edit(kind, text, {**slots, "section": one.section}, hints)
    return Edit(kind, text, slots, hints | ({"section": one.section} if one.section else {}))


def _other(value: str, language: str, rng: Random) -> str | None:
    """Return another value of the same type; None for what is no plain value."""
    if value in ("true", "false", "yes", "no", "on", "off", "True", "False"):
        pairs = {"true": "false", "yes": "no", "on": "off", "True": "False"}
        return pairs.get(value) or {new: old for old, new in pairs.items()}[value]
    if re.fullmatch(r"\d+|\d+\.\d+", value) and len(value) < 9:
        return new_number(value, rng)
    if re.fullmatch(r"\"[^\"\\]*\"|'[^'\\]*'", value):
        return value[0] + json_value(value[1:-1], rng) + value[0]
    if language == "toml" or not re.fullmatch(r"[\w./@:-]+(?: [\w./@-]+)?", value):
        return None
    return json_value(value, rng)


def _bare(value: str) -> str:
    if (
        len(value) > 2
        and value[0] in "'\""
        and value[-1] == value[0]
        and re.search(r"[A-Za-z]", value)
        and value[1:-1] not in ("true", "false")
    ):
        return value[1:-1]
    return value


def _like_keys(pairs: list[_Pair], rng: Random) -> str:
    model = pairs[0].key
    name = plain_name(rng)
    if model.isupper():
        return name.upper()
    return name.replace("_", "-") if "-" in model else name


def _new_value(language: str, rng: Random) -> str:
    plain = rng.choice(("true", "false", str(rng.randint(0, 999)), str(rng.randint(1, 60)), word(rng), word(rng)))
    return f'"{plain}"' if language == "toml" and plain[0].isalpha() and plain not in ("true", "false") else plain


OPERATIONS: Final = (
    Operation("config_set", set_value, SETTINGS, 9),
    Operation("config_add", add_key, SETTINGS, 5, makes=("config_add", "config_add_last")),
    Operation("config_remove", remove_key, SETTINGS, 4),
    Operation("config_rename", rename_key, SETTINGS, 2.5),
    Operation("config_rename_section", rename_section, SECTIONED, 0.8),
    Operation("config_remove_section", remove_section, SECTIONED, 2),
    Operation("config_add_section", add_section, SECTIONED, 1, makes=("add_section",)),
    Operation("config_sort", sort_keys, SECTIONED, 0.4),
    Operation("comment_out", comment_out, SETTINGS, 1.5, makes=("comment_out", "uncomment")),
)
