"""The instructions that plgd offers by name in every editor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from plgd.config import PresetConfig

__all__ = ("PRESETS", "presets_for")

_TYPED: Final = ("python", "typescript", "typescriptreact", "ruby", "php", "lua")
_PROSE: Final = frozenset(("markdown", "plaintext", "text", "restructuredtext", "latex", "tex", "asciidoc", "org", ""))
_DATA: Final = frozenset(("json", "jsonc", "yaml", "toml", "ini", "csv", "xml"))

PRESETS: Final = (
    PresetConfig(id="document", title="Document", instruction="Add documentation comments where they are missing."),
    PresetConfig(id="types", title="Add types", instruction="Add type annotations.", languages=_TYPED),
    PresetConfig(id="simplify", title="Simplify", instruction="Simplify the code without changing what it does."),
    PresetConfig(id="names", title="Rename for clarity", instruction="Give unclear names of variables clearer ones."),
    PresetConfig(id="errors", title="Handle errors", instruction="Handle the errors that can occur here."),
    PresetConfig(id="comments", title="Remove comments", instruction="Remove the comments."),
    PresetConfig(id="typos", title="Fix typos", instruction="Fix the typos."),
    PresetConfig(
        id="shorten",
        title="Shorten",
        instruction="Say the same in fewer words.",
        languages=tuple(sorted(_PROSE - {""})),
    ),
)
# What these say makes no sense without code.
_FOR_CODE: Final = frozenset(("document", "types", "simplify", "names", "errors", "comments"))


def presets_for(language_id: str, own: Iterable[PresetConfig]) -> tuple[PresetConfig, ...]:
    """Return the presets for a language: plgd's, then the user's; one of the user's replaces plgd's of the same id."""
    by_id = {preset.id: preset for preset in PRESETS if _suits(preset, language_id)}
    for preset in own:
        by_id.pop(preset.id, None)
        if not preset.languages or language_id in preset.languages:
            by_id[preset.id] = preset
    return tuple(by_id.values())


def _suits(preset: PresetConfig, language_id: str) -> bool:
    if preset.languages:
        return language_id in preset.languages
    return preset.id not in _FOR_CODE or language_id not in _PROSE | _DATA
