"""Texts made up here: everyday data, settings, notes and letters, of which published packages have few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final

from training.corpus import CorpusText
from training.made_code import make_code
from training.made_data import make_json, make_settings
from training.made_functions import LANGUAGES, make_functions
from training.made_prose import make_essay, make_letter, make_markdown, make_notes
from training.words import word

__all__ = ("PACKAGE", "SYNTHETIC", "Synthetic")

PACKAGE: Final = "made-up"
MAX_CHARACTERS: Final = 9000
TRIES: Final = 4
# Of made-up code: functions that use a variable many times.
FUNCTIONS: Final = 0.55

_DATA_NAMES: Final = (
    "data",
    "config",
    "settings",
    "users",
    "items",
    "orders",
    "products",
    "people",
    "inventory",
    "response",
)
_SETTINGS_NAMES: Final = {
    "toml": ("config.toml", "settings.toml", "app.toml"),
    "ini": ("settings.ini", "app.ini", "setup.cfg", "app.conf"),
    "yaml": ("config.yaml", "config.yml", "settings.yaml", "values.yaml"),
    "bash": (".env", "app.env", "settings.env"),
}


_CODE_NAMES: Final = {
    "python": (
        "main.py",
        "app.py",
        "shop.py",
        "utils.py",
        "script.py",
        "test.py",
        "bank.py",
        "untitled.py",
        "example.py",
    ),
    "javascript": ("main.js", "app.js", "index.js", "utils.js", "script.js", "server.js"),
    "html": ("index.html", "page.html", "about.html"),
    "css": ("style.css", "main.css", "styles.css"),
    "bash": ("run.sh", "build.sh", "backup.sh", "setup.sh"),
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


def _json(rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
    for _ in range(TRIES):
        text = make_json(rng)
        if bucket[0] <= max(bucket[0], text.count("\n")) <= bucket[1] and len(text) < MAX_CHARACTERS:
            name = rng.choice((*_DATA_NAMES, word(rng)))
            return CorpusText(PACKAGE, f"{name}.json", "json", text)
    return None


def _settings(language: str) -> Callable[[Random, tuple[int, int]], CorpusText | None]:
    def make(rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
        text = make_settings(language, rng, rng.randint(bucket[0], min(bucket[0] + 40, bucket[1])))
        return CorpusText(PACKAGE, rng.choice(_SETTINGS_NAMES[language]), language, text)

    return make


def _variables_or_script(rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
    return (_settings if rng.random() < 0.6 else _code)("bash")(rng, bucket)


def _markdown(rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
    if rng.random() < 0.15:
        name, text = make_essay(rng, bucket)
        return CorpusText(PACKAGE, name.replace(".txt", ".md"), "markdown", text)
    name, text = make_markdown(rng, bucket)
    return CorpusText(PACKAGE, name, "markdown", text)


def _text(rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
    name, text = rng.choice((make_letter, make_notes, make_essay))(rng, bucket)
    return CorpusText(PACKAGE, name, "text", text)


def _code(language: str) -> Callable[[Random, tuple[int, int]], CorpusText | None]:
    def make(rng: Random, bucket: tuple[int, int]) -> CorpusText | None:
        write = make_functions if language in LANGUAGES and rng.random() < FUNCTIONS else make_code
        text = write(language, rng, rng.randint(bucket[0], min(bucket[0] + 60, bucket[1])))
        if not bucket[0] <= text.count("\n") <= bucket[1]:
            return None
        return CorpusText(PACKAGE, rng.choice(_CODE_NAMES[language]), language, text)

    return make


SYNTHETIC: Final = {
    "python": Synthetic(_code("python"), 0.22),
    "javascript": Synthetic(_code("javascript"), 0.3),
    "html": Synthetic(_code("html"), 0.5),
    "css": Synthetic(_code("css"), 0.6),
    "json": Synthetic(_json, 0.75),
    "toml": Synthetic(_settings("toml"), 0.6),
    "yaml": Synthetic(_settings("yaml"), 0.6),
    "ini": Synthetic(_settings("ini"), 0.8),
    "bash": Synthetic(_variables_or_script, 0.85),
    "markdown": Synthetic(_markdown, 0.35),
    "text": Synthetic(_text, 0.5),
}
