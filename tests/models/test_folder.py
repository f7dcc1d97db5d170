"""Looking at model folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from plgd.errors import DamagedModel, UnsupportedModel
from plgd.models.folder import FolderFacts, check_folder
from tiny import model_files, write_model

# Deeper than any reader of JSON goes.
BOTTOMLESS = "[" * 100_000


def cut(name: str, n_bytes: int) -> Callable[[Path], None]:
    """Make a damage that cuts a file short."""

    def damage(folder: Path) -> None:
        (folder / name).write_bytes((folder / name).read_bytes()[:n_bytes])

    return damage


def write_index(content: str) -> Callable[[Path], object]:
    """Give the folder this index."""
    return lambda folder: (folder / "model.safetensors.index.json").write_text(content)


def lose_a_shard(folder: Path) -> None:
    """Write an index that names a file which is not there."""
    index = {"weight_map": {"w": "model.safetensors", "v": "model-00002-of-00002.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def test_whole_folder(tmp_path: Path) -> None:
    """A whole folder tells its size, its context and that it can chat."""
    folder = write_model(tmp_path / "m")
    n_bytes = sum(len(content) for content in model_files().values())
    assert check_folder(folder, "m") == FolderFacts(n_bytes=n_bytes, context_limit=128, can_chat=True)


def test_context_of_a_nested_configuration(tmp_path: Path) -> None:
    """Models that also see pictures keep the text's limits one level down."""
    folder = write_model(tmp_path / "m")
    (folder / "config.json").write_text(json.dumps({"text_config": {"max_position_embeddings": 77}}))
    assert check_folder(folder, "m").context_limit == 77


def test_template_in_a_file_of_its_own(tmp_path: Path) -> None:
    """A chat template beside the tokenizer's settings counts, and without one the model cannot chat."""
    folder = write_model(tmp_path / "m")
    (folder / "tokenizer_config.json").write_text("{}")
    assert not check_folder(folder, "m").can_chat
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    assert check_folder(folder, "m").can_chat


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (cut("config.json", 3), "cannot be read"),
        (cut("model.safetensors", 4), "is no safetensors file"),
        (cut("model.safetensors", 20), "is no safetensors file"),
        (cut("model.safetensors", 100_000), "has 100,000 bytes instead of 200,072"),
        (lambda folder: (folder / "config.json").write_text("[]"), "not a JSON object"),
        (lambda folder: (folder / "config.json").write_text(BOTTOMLESS), "config.json cannot be read"),
        (
            lambda folder: (folder / "model.safetensors").write_bytes(
                len(BOTTOMLESS).to_bytes(8, "little") + BOTTOMLESS.encode()
            ),
            "is no safetensors file",
        ),
        (lose_a_shard, "model-00002-of-00002.safetensors is missing"),
        (write_index('{"weight_map": ["w"]}'), "does not map weights to files"),
        (write_index('{"weight_map": {"w": 1}}'), "does not map weights to files"),
        (write_index("{}"), "does not map weights to files"),
    ],
)
def test_damage_is_named(tmp_path: Path, damage: Callable[[Path], object], reason: str) -> None:
    """A file that is missing, cut short or unreadable is named."""
    folder = write_model(tmp_path / "m")
    damage(folder)
    with pytest.raises(DamagedModel, match=reason):
        check_folder(folder, "m")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("owner/m", r"Fetch it again: plgd model pull owner/m --force"),
        ("/models/m", r"Copy or make the folder again\."),
        ("./m", r"Copy or make the folder again\."),
    ],
)
def test_damage_has_a_remedy(tmp_path: Path, name: str, remedy: str) -> None:
    """A model that was fetched can be fetched again; the user's own folder cannot."""
    folder = write_model(tmp_path / "m")
    (folder / "config.json").write_text("[]")
    with pytest.raises(DamagedModel, match=remedy):
        check_folder(folder, name)


@pytest.mark.parametrize(
    ("missing", "reason"),
    [("config.json", "no model folder"), ("model.safetensors", "no model"), ("tokenizer.json", "no tokenizer")],
)
def test_something_else_is_named(tmp_path: Path, missing: str, reason: str) -> None:
    """A folder that is no mlx-lm model says what it lacks."""
    folder = write_model(tmp_path / "m")
    (folder / missing).unlink()
    with pytest.raises(UnsupportedModel, match=reason):
        check_folder(folder, "m")
