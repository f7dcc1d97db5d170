"""Texts made up here: everyday data, settings, notes and letters, of which published packages have few."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from training.corpus import CorpusText
from training.made_prose import make_letter, make_markdown, make_notes
from training.words import ADJECTIVES, NOUNS, camel, snake, title_words, word

__all__ = ("PACKAGE", "SYNTHETIC", "Synthetic", "json_value")

PACKAGE: Final = "made-up"
PEOPLE: Final = tuple(
    "Ada Alice Amir Anna Ben Carla Chen Clara David Elena Emil Eva Farid Felix Grace Hana Hugo Ida Ines Ivan Jack Jonas Julia Kai "
    "Karim Lara Lea Leo Lina Lucas Maria Marta Max Mei Mia Nadia Nina Noah Olga Omar Paul Priya Rosa Sam Sara Sofia Tara Theo Tom "
    "Uma Vera Victor Wei Yara Yuki Zoe".split()
)
CITIES: Final = tuple(
    "Amsterdam Athens Berlin Bern Bogota Boston Cairo Chicago Dublin Geneva Hanoi Helsinki Lagos Lima Lisbon London Madrid Milan "
    "Nairobi Oslo Paris Porto Prague Quito Rome Seoul Sofia Sydney Tallinn Tokyo Turin Vienna Warsaw Zurich".split()
)
GOODS: Final = tuple(
    "apple backpack bag bicycle blanket book bottle bread broom camera candle carpet chair cheese clock coat coffee cup desk drill "
    "fork glove hammer hat jacket kettle keyboard knife ladder lamp laptop mirror monitor mouse mug notebook paper pen pencil phone "
    "pillow plate printer radio rice ring rope scarf shelf shirt shoe soap sofa spoon table tea tent towel umbrella wallet watch".split()
)

_STRINGS: Final[dict[str, tuple[str, ...]]] = {
    "name": PEOPLE,
    "city": CITIES,
    "product": GOODS,
    "status": ("active", "inactive", "pending", "done", "open", "closed", "draft", "archived"),
    "color": ("red", "green", "blue", "black", "white", "yellow", "grey"),
    "role": ("admin", "user", "guest", "editor", "owner", "viewer"),
    "language": ("en", "de", "fr", "es", "it", "nl"),
    "currency": ("EUR", "USD", "GBP", "CHF"),
    "level": ("debug", "info", "warning", "error"),
    "type": ("book", "food", "tool", "service", "other"),
}


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A maker of texts.

    Attributes:
        make: makes one whose number of lines is in a bucket, or None if it did not come out so.
        share: of the texts of its language.
    """

    make: Callable[[Random, tuple[int, int]], CorpusText | None]
    share: float


def json_value(old: str, rng: Random) -> str:
    """Return another string like one in a JSON text: a name for a name, a version for a version."""
    for values in _STRINGS.values():
        if old in values:
            return rng.choice(values)
    if old[:1].isdigit() and "." in old:
        return f"{rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}"
    if "@" in old:
        return f"{rng.choice(PEOPLE).lower()}@example.com"
    if old.startswith("http"):
        return f"https://{word(rng)}.example.com/{word(rng)}"
    if " " in old:
        return (
            f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}".capitalize()
            if old[0].isupper()
            else f"{rng.choice(ADJECTIVES)} {word(rng)}"
        )
    return word(rng).capitalize() if old[:1].isupper() else word(rng)


def _field(key: str, rng: Random) -> Any:
    base = key.lower().split("_")[-1]
    if base in _STRINGS:
        return rng.choice(_STRINGS[base])
    if base in ("id", "count", "quantity", "age", "stock", "port", "number", "year", "size"):
        return rng.randint(1, 2000)
    if base in ("price", "rate", "weight", "score"):
        return round(rng.random() * 100, 2)
    if base in ("active", "enabled", "visible", "paid", "done"):
        return rng.random() < 0.5
    if base == "email":
        return f"{rng.choice(PEOPLE).lower()}@example.com"
    if base == "date":
        return f"20{rng.randint(10, 29)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    if base == "tags":
        return rng.sample(NOUNS, rng.randint(1, 4))
    if base == "version":
        return f"{rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}"
    if base == "url":
        return f"https://{word(rng)}.example.com/{word(rng)}"
    draw = rng.random()
    if draw < 0.15:
        return None
    if draw < 0.35:
        return rng.randint(0, 100)
    return f"{rng.choice(ADJECTIVES)} {word(rng)}" if draw < 0.6 else word(rng)


_KEYS: Final = tuple(
    "id name city product status color role language currency level type count quantity age stock port number year size price rate "
    "weight score active enabled visible paid done email date tags version url title note description owner category code".split()
)


def _keys(rng: Random, n_keys: int) -> list[str]:
    style = rng.random()
    keys = rng.sample(_KEYS, n_keys)
    for index in range(n_keys):
        if rng.random() < 0.2:
            words = [*title_words(rng, 1), keys[index]]
            keys[index] = camel(words) if style < 0.4 else snake(words)
    return list(dict.fromkeys(keys))


def _row(keys: list[str], rng: Random, number: int) -> dict[str, Any]:
    return {key: number if key == "id" else _field(key, rng) for key in keys}


def _json_data(rng: Random) -> Any:
    keys = _keys(rng, rng.randint(2, 6))
    if "id" not in keys and "name" not in keys and rng.random() < 0.7:
        keys = [rng.choice(("id", "name")), *keys]
    rows = [_row(keys, rng, number) for number in range(1, rng.choice((2, 3, 3, 4, 5, 6, 8, 12, 20, 30)) + 1)]
    draw = rng.random()
    plural = word(rng) + "s"
    if draw < 0.4:
        return rows
    if draw < 0.65:
        top = _keys(rng, rng.randint(1, 3))
        return {**{key: _field(key, rng) for key in top if key not in ("id",)}, plural: rows}
    if draw < 0.85:
        sections = rng.sample(NOUNS, rng.randint(1, 4))
        data: dict[str, Any] = {key: _field(key, rng) for key in _keys(rng, rng.randint(1, 5))}
        data |= {section: _row(_keys(rng, rng.randint(2, 5)), rng, 1) for section in sections}
        return data
    if draw < 0.95:
        return {name: _row(keys, rng, number) for number, name in enumerate(rng.sample(NOUNS, rng.randint(2, 5)), 1)}
    return {key: _field(key, rng) for key in _keys(rng, rng.randint(3, 8))}


def _make_json(rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
    for _ in range(4):
        data = _json_data(rng)
        draw = rng.random()
        if draw < 0.12 and isinstance(data, list):
            text = "[\n" + ",\n".join("  " + json.dumps(row) for row in data) + "\n]\n"
        else:
            text = json.dumps(data, indent=None if draw < 0.2 else 4 if draw < 0.5 else 2) + "\n"
        if bucket[0] <= max(2, text.count("\n")) <= bucket[1] and len(text) < 9000:
            name = rng.choice(
                ("data", "config", "settings", "users", "items", "orders", "products", "people", "inventory", word(rng))
            )
            return CorpusText(PACKAGE, f"{name}.json", "json", text)
    return None


def _scalar(value: Any, *, quoted: bool) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return '""' if quoted else ""
    if isinstance(value, list):
        return json.dumps(value)
    return json.dumps(value) if quoted and isinstance(value, str) else str(value)


def _sections(rng: Random, bucket: tuple[int, int]) -> list[tuple[str, list[tuple[str, Any]]]]:
    sections = []
    n_lines = 0
    wanted = rng.randint(max(4, bucket[0]), bucket[1])
    for name in rng.sample(NOUNS, 40):
        rows = [(key, _field(key, rng)) for key in _keys(rng, rng.randint(2, 8))]
        sections.append((name, rows))
        n_lines += len(rows) + 2
        if n_lines + 6 > wanted:
            break
    return sections


def _make_settings(language: str) -> Callable[[Random, tuple[int, int]], CorpusText | None]:
    def make(rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
        lines: list[str] = []
        for name, rows in _sections(rng, bucket):
            if rng.random() < 0.2:
                lines.append(
                    f"# {rng.choice(ADJECTIVES)} {name}".replace(
                        "# ", "; " if language == "ini" and rng.random() < 0.3 else "# "
                    )
                )
            if language == "yaml":
                lines.append(f"{name}:")
                for key, value in rows:
                    if isinstance(value, list) and value:
                        lines += [f"  {key}:", *(f"    - {item}" for item in value)]
                    else:
                        lines.append(f"  {key}: {_scalar(value, quoted=False)}".rstrip())
                if rng.random() < 0.4:
                    lines.append("")
            elif language == "bash":
                lines += [
                    f"{name}_{key}={_scalar(value, quoted=' ' in str(value) or isinstance(value, list))}".replace(
                        "[]", ""
                    )
                    for key, value in rows
                ]
                lines[-len(rows) :] = [
                    line.split("=")[0].upper() + "=" + line.split("=", 1)[1] for line in lines[-len(rows) :]
                ]
                lines.append("")
            else:
                lines += [
                    f"[{name}]",
                    *(f"{key} = {_scalar(value, quoted=language == 'toml')}".rstrip() for key, value in rows),
                    "",
                ]
        text = "\n".join(lines).rstrip("\n") + "\n"
        if not bucket[0] <= text.count("\n") <= bucket[1] + 4:
            return None
        suffix = {
            "bash": rng.choice(("settings.env", "app.env", ".env")),
            "ini": "settings.ini",
            "toml": "config.toml",
            "yaml": "config.yaml",
        }[language]
        return CorpusText(PACKAGE, suffix, language, text)

    return make


def _make_prose(language: str) -> Callable[[Random, tuple[int, int]], CorpusText | None]:
    def make(rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
        if language == "markdown":
            name, text = make_markdown(rng, bucket)
        else:
            name, text = make_letter(rng, bucket) if rng.random() < 0.5 else make_notes(rng, bucket)
        return CorpusText(PACKAGE, name, language, text)

    return make


SYNTHETIC: Final = {
    "json": Synthetic(_make_json, 0.75),
    "toml": Synthetic(_make_settings("toml"), 0.6),
    "yaml": Synthetic(_make_settings("yaml"), 0.6),
    "ini": Synthetic(_make_settings("ini"), 0.8),
    "bash": Synthetic(_make_settings("bash"), 0.6),
    "markdown": Synthetic(_make_prose("markdown"), 0.35),
    "text": Synthetic(_make_prose("text"), 0.5),
}
