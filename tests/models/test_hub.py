"""Models of the Hugging Face hub, against a local server that speaks its API."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants

from hub import COMMIT, TOKEN, Hub
from plgd.config import Config
from plgd.errors import (
    Cancelled,
    DamagedModel,
    HashMismatch,
    ModelNotPulled,
    NoSpace,
    PullFailed,
    UnknownModel,
    UnsupportedModel,
)
from plgd.models import hub as hub_module
from plgd.models.catalog import list_models, resolve
from plgd.models.pull import pull
from plgd.paths import Paths
from tiny import convert, model_files

CONFIG = Config()
FILES = model_files() | {"README.md": b"# A model\n", "modeling.py": b"raise SystemExit\n", "chat_template.jinja": b"x"}
WANTED = set(FILES) - {"README.md", "modeling.py"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """Run a hub with one model, in the place of the real one, and an empty cache."""
    with Hub({"someone/tiny-4bit": FILES, "someone/other": {"README.md": b"", "config.json": b"{}"}}) as running:
        point_at(monkeypatch, running.url, tmp_path)
        yield running


def point_at(monkeypatch: pytest.MonkeyPatch, url: str, home: Path) -> None:
    """Do what HF_ENDPOINT and HF_HOME do; huggingface_hub reads those once, at import."""
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(home / "token"))
    monkeypatch.delenv("HF_TOKEN", raising=False)


@pytest.mark.usefixtures("server")
def test_pull_fetches_what_is_loaded(paths: Paths) -> None:
    """Weights, configuration, tokenizer and template come; the model's own code does not. Progress is in bytes."""
    progress: list[tuple[str, int, int]] = []
    folder = pull("someone/tiny-4bit", paths, convert=convert, on_progress=lambda *step: progress.append(step))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {name: FILES[name] for name in WANTED}
    total = sum(len(FILES[name]) for name in WANTED)
    done = [done for step, done, n_bytes in progress if step == "download" and n_bytes == total]
    assert done == sorted(done)
    assert done[-1] == total


def test_pulled_model_resolves_without_network(paths: Paths, server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the cache is found offline, by name and by revision, and listed."""
    folder = pull("someone/tiny-4bit@v1", paths, convert=convert)
    n_asked = len(server.asked)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    found = resolve("someone/tiny-4bit@v1", paths, CONFIG)
    assert (found.name, found.folder, found.adapter) == ("someone/tiny-4bit@v1", folder, None)
    assert found.context_limit == 128
    assert resolve(f"someone/tiny-4bit@{COMMIT}", paths, CONFIG).folder == folder
    with pytest.raises(ModelNotPulled):
        resolve("someone/tiny-4bit", paths, CONFIG)
    assert len(server.asked) == n_asked


@pytest.mark.usefixtures("server")
def test_cached_models_are_listed(paths: Paths) -> None:
    """A model that another tool put into the cache is offered like any pulled one."""
    pull("someone/tiny-4bit", paths, convert=convert)
    listed = {model.name: model for model in list_models(paths, CONFIG).models}
    assert listed["someone/tiny-4bit"].pulled
    assert listed["someone/tiny-4bit"].source == "Hugging Face"


@pytest.mark.usefixtures("server")
def test_file_in_the_caches_place(paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the hub's cache would be is a file: the catalog is still listed, and a pull says so."""
    place = tmp_path / "file"
    place.write_text("")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(place))
    assert "builtin" in {model.name for model in list_models(paths, CONFIG).models}
    with pytest.raises(PullFailed, match=f"the folder {place}/.* cannot be made"):
        pull("someone/tiny-4bit", paths, convert=convert)


def test_broken_connection_is_taken_up(paths: Paths, server: Hub) -> None:
    """A connection that breaks in a large file goes on with the rest of it."""
    server.cuts.append(70_000)
    folder = pull("someone/tiny-4bit", paths, convert=convert)
    assert (folder / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert weights_starts(server) == [0, 70_000]


def test_cancelled_pull_is_resumed(paths: Paths, server: Hub) -> None:
    """A cancelled pull is no model and keeps what arrived; the next pull fetches the rest."""
    reached: list[int] = []
    with pytest.raises(Cancelled):
        pull(
            "someone/tiny-4bit",
            paths,
            convert=convert,
            on_progress=lambda _step, done, _total: reached.append(done),
            cancelled=lambda: bool(reached) and reached[-1] >= 70_000,
        )
    with pytest.raises(ModelNotPulled):
        resolve("someone/tiny-4bit", paths, CONFIG)
    folder = pull("someone/tiny-4bit", paths, convert=convert)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {name: FILES[name] for name in WANTED}
    first, second = weights_starts(server)
    assert first == 0
    assert second >= reached[-1] > 0


def weights_starts(server: Hub) -> list[int]:
    """Return where each download of a large file began."""
    return [asked.start for asked in server.asked if asked.path.startswith("/cdn/") and asked.method == "GET"]


def test_another_file_is_refused(paths: Paths, server: Hub) -> None:
    """Weights that are not the ones the hub names are deleted, and the model is not pulled."""
    for path, content in server.files.items():
        server.files[path] = content[:-1] + b"?"
    with pytest.raises(HashMismatch, match=r"model\.safetensors"):
        pull("someone/tiny-4bit", paths, convert=convert)
    with pytest.raises(ModelNotPulled):
        resolve("someone/tiny-4bit", paths, CONFIG)


def test_force_fetches_again(paths: Paths, server: Hub) -> None:
    """A pull with force replaces weights that are there; one without asks for none."""
    folder = pull("someone/tiny-4bit", paths, convert=convert)
    (folder / "model.safetensors").resolve().write_bytes(b"damaged")
    with pytest.raises(DamagedModel):
        pull("someone/tiny-4bit", paths, convert=convert)
    assert weights_starts(server) == [0]
    pull("someone/tiny-4bit", paths, convert=convert, force=True)
    assert (folder / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert weights_starts(server) == [0, 0]


@pytest.mark.usefixtures("server")
def test_half_a_snapshot_is_not_pulled(paths: Paths) -> None:
    """A snapshot that lacks a file counts as not pulled."""
    folder = pull("someone/tiny-4bit", paths, convert=convert)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelNotPulled):
        resolve("someone/tiny-4bit", paths, CONFIG)


@pytest.mark.parametrize("name", ["nobody/nothing", "someone/tiny-4bit@v2"])
def test_unknown_id(paths: Paths, server: Hub, name: str) -> None:
    """An id or revision that the hub does not have is an unknown model."""
    with pytest.raises(UnknownModel):
        pull(name, paths, convert=convert)
    assert server.asked


def test_gated_model_says_what_to_do(paths: Paths, server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that wants consent says so; with the token it comes."""
    server.gated.add("someone/tiny-4bit")
    with pytest.raises(PullFailed, match=r"Accept the terms.*HF_TOKEN"):
        pull("someone/tiny-4bit", paths, convert=convert)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert pull("someone/tiny-4bit", paths, convert=convert).is_dir()
    assert {asked.authorization for asked in server.asked if asked.path.startswith("/cdn/")} == {""}


def test_forbidden_model_says_what_to_do(paths: Paths, server: Hub) -> None:
    """A model that may not be read names the status and the token."""
    server.private.add("someone/tiny-4bit")
    with pytest.raises(PullFailed, match="403; set HF_TOKEN"):
        pull("someone/tiny-4bit", paths, convert=convert)


def test_no_network(paths: Paths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a network the pull fails with the reason."""
    point_at(monkeypatch, "http://127.0.0.1:9", tmp_path)
    with pytest.raises(PullFailed, match="cannot be reached"):
        pull("someone/tiny-4bit", paths, convert=convert)


def test_too_little_space_is_known_before(paths: Paths, server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes are compared with the free space before a file is asked for."""

    def full(folder: Path, needed_bytes: int) -> None:
        raise NoSpace.at(str(folder), needed_bytes, 0)

    monkeypatch.setattr(hub_module, "check_space", full)
    with pytest.raises(NoSpace, match="are needed"):
        pull("someone/tiny-4bit", paths, convert=convert)
    assert not any("/resolve/" in asked.path for asked in server.asked)


@pytest.mark.usefixtures("server")
def test_something_else_is_refused(paths: Paths) -> None:
    """A repository without weights that can be loaded is refused with the reason."""
    with pytest.raises(UnsupportedModel, match="safetensors"):
        pull("someone/other", paths, convert=convert)


def test_environment_counts(server: Hub, tmp_path: Path) -> None:
    """HF_ENDPOINT, HF_HOME and HF_TOKEN of the daemon's environment are the ones used."""
    server.gated.add("someone/tiny-4bit")
    code = (
        "import sys, tiny; from pathlib import Path; from plgd.models.pull import pull; from plgd.paths import Paths;"
        "print(pull('someone/tiny-4bit', Paths.from_environment(), convert=tiny.convert))"
    )
    home = tmp_path / "hf"
    environment = os.environ | {
        "HF_ENDPOINT": server.url,
        "HF_HOME": str(home),
        "HF_TOKEN": TOKEN,
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True, timeout=120
    )
    folder = Path(done.stdout.strip())
    assert home in folder.parents
    assert json.loads((folder / "config.json").read_bytes()) == json.loads(FILES["config.json"])
