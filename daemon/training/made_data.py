"""Data and settings made up here: records as JSON, sections as TOML, INI, YAML and environment variables."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Final

from training.words import ADJECTIVES, NOUNS, VERBS, parts_of, sentence, title_words, word, word_list

__all__ = ("Json", "json_value", "make_json", "make_settings")

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None

_KINDS: Final = tomllib.loads((Path(__file__).parent / "made_data.toml").read_text(encoding="utf-8"))
RECORDS: Final = {name: keys.split() for name, keys in _KINDS["records"].items()}
SECTIONS: Final = {name: keys.split() for name, keys in _KINDS["sections"].items()}
PEOPLE: Final = word_list("people")
CITIES: Final = word_list("cities")
GOODS: Final = word_list("goods")
MAX_CHARACTERS: Final = 9000

_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "name": PEOPLE + GOODS,
    "city": CITIES,
    "status": ("active", "inactive", "pending", "done", "open", "closed", "draft", "archived"),
    "color": ("red", "green", "blue", "black", "white", "yellow", "grey"),
    "role": ("admin", "user", "guest", "editor", "owner", "viewer"),
    "language": ("en", "de", "fr", "es", "it", "nl"),
    "currency": ("EUR", "USD", "GBP", "CHF"),
    "level": ("debug", "info", "warning", "error"),
    "priority": ("low", "medium", "high", "urgent"),
    "unit": ("kg", "g", "ml", "piece", "cup", "celsius"),
    "category": ("books", "food", "tools", "garden", "toys", "office"),
    "backend": ("memory", "redis", "file", "postgres", "s3"),
    "theme": ("light", "dark", "solarized", "contrast"),
    "region": ("eu-west", "eu-central", "us-east", "us-west", "ap-south"),
    "timezone": ("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"),
    "environment": ("production", "staging", "development", "testing"),
    "license": ("MIT", "Apache-2.0", "BSD-3-Clause", "ISC"),
    "schedule": ("hourly", "daily", "weekly", "monthly", "0 3 * * *"),
}
_ALIASES: Final[dict[str, str]] = _KINDS["aliases"]
_FLAGS: Final = word_list("flag_keys")
_COUNTS: Final = word_list("count_keys")
_AMOUNTS: Final = word_list("amount_keys")


def json_value(old: str, rng: Random) -> str:
    """Return another string like one in a JSON text: a city for a city, a version for a version."""
    for values in (PEOPLE, GOODS, *_CHOICES.values()):
        if old in values:
            return rng.choice(values)
    if re.match(r"\d+\.\d", old):
        return _version(rng)
    if "@" in old:
        return f"{rng.choice(PEOPLE).lower()}@example.com"
    if old.startswith("http"):
        return _url(rng)
    phrase = f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}" if " " in old else word(rng)
    return phrase.capitalize() if old[:1].isupper() else phrase


def make_json(rng: Random) -> str:
    """Return a JSON text in one of the usual layouts."""
    data = _data(rng)
    draw = rng.random()
    if draw < 0.12 and isinstance(data, list):
        return "[\n" + ",\n".join("  " + json.dumps(row) for row in data) + "\n]\n"
    return json.dumps(data, indent=None if draw < 0.2 else 4 if draw < 0.5 else 2) + "\n"


def make_settings(language: str, rng: Random, n_lines: int) -> str:
    """Return settings in TOML, INI, YAML or as environment variables (`bash`), about so long."""
    lines: list[str] = []
    for name in rng.sample(sorted(SECTIONS), len(SECTIONS)):
        if len(lines) >= n_lines:
            break
        if rng.random() < 0.2:
            lines.append(f"# {sentence(rng)}")
        keys = rng.sample(SECTIONS[name], rng.randint(min(2, len(SECTIONS[name])), len(SECTIONS[name])))
        lines += _WRITERS[language](name, {key: _field(key, rng) for key in keys}, rng)
    return "\n".join(lines).rstrip("\n") + "\n"


def _data(rng: Random) -> Json:
    name = rng.choice(sorted(RECORDS))
    keys = RECORDS[name][: rng.randint(2, len(RECORDS[name]))]
    if rng.random() < 0.3:
        keys = [*keys, "_".join(title_words(rng, rng.choice((1, 2))))]
    n_rows = rng.choice((2, 3, 3, 4, 5, 6, 8, 12, 20, 30))
    rows: list[Json] = [_row(keys, rng, number) for number in range(1, n_rows + 1)]
    name = name.split("_")[0]
    draw = rng.random()
    if draw < 0.4:
        return rows
    if draw < 0.6:
        extra = rng.sample(("page", "total", "version", "date", "source", "count", "next"), rng.randint(0, 3))
        return {**{key: _field(key, rng) for key in extra}, name: rows}
    if draw < 0.85:
        sections = rng.sample(sorted(SECTIONS), rng.randint(1, 4))
        top: dict[str, Json] = {
            key: _field(key, rng) for key in rng.sample(("name", "version", "debug", "tags", "url", "language"), 3)
        }
        return top | {section: _row(SECTIONS[section], rng, 1) for section in sections}
    if draw < 0.93:
        return {other: _row(keys, rng, number) for number, other in enumerate(rng.sample(NOUNS, rng.randint(2, 5)), 1)}
    return _row(keys, rng, 1)


def _row(keys: list[str], rng: Random, number: int) -> dict[str, Json]:
    return {key: number if key == "id" else _field(key, rng) for key in keys}


def _field(key: str, rng: Random) -> Json:
    """Return a value such as a key of that name usually has; the last word of the key decides."""
    base = _ALIASES.get(key) or parts_of(key)[-1]
    base = _ALIASES.get(base, base)
    if base in _CHOICES:
        return rng.choice(_CHOICES[base])
    if base in _FLAGS:
        return rng.random() < 0.5
    if base in _COUNTS:
        return rng.choice((rng.randint(1, 20), rng.randint(1, 2000), rng.choice((8080, 5432, 30, 60, 3600))))
    if base in _AMOUNTS:
        return round(rng.random() * 100, 2)
    if base in _MAKERS:
        return _MAKERS[base](rng)
    draw = rng.random()
    if draw < 0.12:
        return None
    return f"{rng.choice(ADJECTIVES)} {word(rng)}" if draw < 0.4 else word(rng)


def _version(rng: Random) -> str:
    return f"{rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}"


def _url(rng: Random) -> str:
    return f"https://{word(rng)}.example.com/{word(rng)}"


def _tags(rng: Random) -> list[Json]:
    return [*rng.sample(NOUNS, rng.randint(1, 5))]


_MAKERS: Final[dict[str, Callable[[Random], Json]]] = {
    "email": lambda rng: f"{rng.choice(PEOPLE).lower()}@example.com",
    "sender": lambda rng: f"{rng.choice(PEOPLE).lower()}@example.com",
    "date": lambda rng: f"20{rng.randint(10, 29)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    "tags": _tags,
    "version": _version,
    "url": _url,
    "host": lambda rng: rng.choice(("localhost", "127.0.0.1", f"{word(rng)}.example.com")),
    "phone": lambda rng: f"+49 30 {rng.randint(100000, 999999)}",
    "hex": lambda rng: f"#{rng.randrange(0x1000000):06x}",
    "path": lambda rng: f"/{rng.choice(('var', 'srv', 'home', 'api', 'tmp'))}/{word(rng)}",
    "file": lambda rng: f"{word(rng)}.log",
    "title": lambda rng: " ".join(title_words(rng, rng.randint(1, 3))).capitalize(),
    "description": sentence,
    "text": sentence,
    "subject": sentence,
    "label": lambda rng: f"{rng.choice(VERBS)} {word(rng)}".capitalize(),
    "key": lambda rng: f"{rng.choice(NOUNS)}-{rng.randint(100, 999)}",
}


def _scalar(value: Json, *, quoted: bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return '""' if quoted else ""
    if isinstance(value, list):
        return json.dumps(value)
    return json.dumps(value) if quoted and isinstance(value, str) else str(value)


def _as_table(name: str, rows: dict[str, Json], *, quoted: bool) -> list[str]:
    return [f"[{name}]", *(f"{key} = {_scalar(value, quoted=quoted)}".rstrip() for key, value in rows.items()), ""]


def _as_yaml(name: str, rows: dict[str, Json], rng: Random) -> list[str]:
    lines = [f"{name}:"]
    for key, value in rows.items():
        if isinstance(value, list) and value:
            lines += [f"  {key}:", *(f"    - {item}" for item in value)]
        else:
            lines.append(f"  {key}: {_scalar(value, quoted=False)}".rstrip())
    return [*lines, ""] if rng.random() < 0.4 else lines


def _as_variables(name: str, rows: dict[str, Json], rng: Random) -> list[str]:
    lines = []
    for key, value in rows.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else _scalar(value, quoted=False)
        lines.append(f"{name}_{key}".upper() + "=" + (json.dumps(text) if " " in text else text))
    return [*lines, ""] if rng.random() < 0.7 else lines


_WRITERS: Final[dict[str, Callable[[str, dict[str, Json], Random], list[str]]]] = {
    "toml": lambda name, rows, _: _as_table(name, rows, quoted=True),
    "ini": lambda name, rows, _: _as_table(name, rows, quoted=False),
    "yaml": _as_yaml,
    "bash": _as_variables,
}
