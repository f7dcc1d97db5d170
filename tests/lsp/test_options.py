"""What editors set, the presets, and names of buffers."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types

from plgd.config import PresetConfig, load_config
from plgd.errors import ConfigError
from plgd_lsp.abilities import Abilities
from plgd_lsp.names import file_name
from plgd_lsp.options import Options, read_options
from plgd_lsp.presets import presets_for


def test_options_are_read() -> None:
    """Every option of an editor is taken over."""
    preset = {"id": "haiku", "title": "Haiku", "instruction": "Make it a haiku."}
    given = {"review": "preview", "model": "m", "policy": "off", "presets": [preset], "comment_marker": "AI:"}
    decoded = PresetConfig(id="haiku", title="Haiku", instruction="Make it a haiku.")
    expected = Options("preview", "m", "off", (decoded,), "AI:")
    assert (expected, ()) == read_options(given)
    assert (Options(), ()) == read_options(None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"reviw": "apply"}, "`reviw` is unknown and was ignored; did you mean `review`?"),
        ({"review": "sometimes"}, "`review` cannot be used and was ignored"),
        ({"policy": "fastest"}, "`policy` cannot be used"),
        ({"presets": [{"id": "a b", "title": "x", "instruction": "y"}]}, "`presets` cannot be used"),
        ({"presets": [{"id": "a", "title": "x", "instruktion": "y"}]}, "`presets` cannot be used"),
        ({"comment_marker": " "}, "`comment_marker` is blank"),
        (["review"], "must be an object"),
    ],
)
def test_bad_options_are_told_and_replaced_by_defaults(given: object, words: str) -> None:
    """An option that cannot be used is named, and the others and the defaults hold."""
    options, (complaint,) = read_options(given)
    assert Options() == options
    assert words in complaint


def test_one_bad_option_spoils_no_other() -> None:
    """What can be used is used."""
    options, complaints = read_options({"review": 3, "model": "m"})
    assert ("apply", "m", 1) == (options.review, options.model, len(complaints))


def test_presets_depend_on_the_language() -> None:
    """Code is not shortened, prose gets no types, data no documentation."""
    python, markdown, json = (
        {preset.id for preset in presets_for(name, ())} for name in ("python", "markdown", "json")
    )
    assert {"document", "types", "typos"} <= python
    assert {"typos", "shorten"} == markdown
    assert {"typos"} == json


def test_own_presets_join_and_replace() -> None:
    """A user's preset is offered for its languages, in place of plgd's of the same name."""
    own = (
        PresetConfig(id="typos", title="Spelling", instruction="Fix the spelling."),
        PresetConfig(id="sql", title="Upper case", instruction="Upper case.", languages=("sql",)),
    )
    assert ["Shorten", "Spelling"] == [preset.title for preset in presets_for("markdown", own)]
    assert "sql" in {preset.id for preset in presets_for("sql", own)}
    assert "sql" not in {preset.id for preset in presets_for("python", own)}


def test_presets_are_read_from_the_configuration(tmp_path: Path) -> None:
    """`[[editor.presets]]` are the user's presets; a misspelt key is an error that says where."""
    file = tmp_path / "config.toml"
    file.write_text('[[editor.presets]]\nid = "a"\ntitle = "A"\ninstruction = "Do it."\n')
    assert (PresetConfig(id="a", title="A", instruction="Do it."),) == load_config(file).editor.presets
    file.write_text('[[editor.presets]]\nid = "a"\ntitel = "A"\ninstruction = "Do it."\n')
    with pytest.raises(ConfigError, match="titel"):
        load_config(file)


@pytest.mark.parametrize(
    ("uri", "language", "name"),
    [
        ("file:///a/b%20c.py", "python", "b c.py"),
        ("file:///a/Makefile", "makefile", "Makefile"),
        ("untitled:Untitled-1", "typescript", "Untitled-1.ts"),
        ("untitled:/home/me/new.go", "go", "new.go"),
        ("vscode-notebook-cell:/a/model.ipynb#W0sZmlsZQ", "python", "model.py"),
        ("vscode-notebook-cell:/a/model.ipynb#W1", "markdown", "model.md"),
        ("untitled:x", "klingon", "x.txt"),
        ("file:///", "python", "text"),
    ],
)
def test_the_model_is_told_what_is_written(uri: str, language: str, name: str) -> None:
    """A file has its own name; a buffer and a cell get the ending of their language."""
    assert name == file_name(uri, language)


def test_an_editor_without_capabilities_can_do_the_least() -> None:
    """Nothing is assumed of an editor that says nothing."""
    assert Abilities() == Abilities.of(types.ClientCapabilities())
    odd = types.ClientCapabilities(experimental="yes")
    assert Abilities() == Abilities.of(odd)
