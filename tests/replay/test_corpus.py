"""The corpus is what its list says, byte for byte."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from plgd.bench.material.corpus import Package, Release, fetch_release, load_corpus, read_listing
from plgd.errors import BenchError
from releases import CHANGED, LONG, make_archives

SAID: list[str] = []


def listed(folder: Path, kind: str = "wheel", suffix: str = ".whl") -> Package:
    """List two archives that lie in a folder."""
    releases = []
    for release in (0, 1):
        path = folder / f"p-{release}{suffix}"
        releases.append(Release(str(release), path.name, hashlib.sha256(path.read_bytes()).hexdigest()))
    return Package("p", kind, "tuning", *releases)  # type: ignore[arg-type]  # kinds are checked where they are read


def test_the_list_covers_what_people_edit() -> None:
    """At least twelve Python and six npm packages, two releases each, in two parts."""
    packages = read_listing()
    assert len([package for package in packages if package.kind != "npm"]) >= 12
    assert len([package for package in packages if package.kind == "npm"]) >= 6
    assert all(package.before.version != package.after.version for package in packages)
    assert {"tuning", "held-out"} == {package.part for package in packages}
    assert len(packages) == len({package.name for package in packages})


def test_kept_archives_are_not_fetched_again(tmp_path: Path) -> None:
    """What is in the folder and has the right hash is used without the network."""
    make_archives(tmp_path, {"m/a.py": (LONG, CHANGED)})
    said: list[str] = []
    pairs = load_corpus((listed(tmp_path),), tmp_path, n_each=3, say=said.append)
    assert [(LONG, CHANGED)] == [(pair.before, pair.after) for pair in pairs]
    assert [] == said


def test_another_file_under_the_same_name_is_refused(tmp_path: Path) -> None:
    """A wrong hash is an error that names the file and both hashes, and says what to do."""
    make_archives(tmp_path, {"m/a.py": (LONG, CHANGED)})
    package = listed(tmp_path)
    (tmp_path / "p-1.whl").write_bytes(b"something else")
    with pytest.raises(BenchError, match=f"{package.after.sha256}; delete it, and it is fetched again"):
        load_corpus((package,), tmp_path, n_each=3, say=SAID.append)


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    """A file in the folder's place, or a folder in an archive's, is an error that says so."""
    make_archives(tmp_path, {"m/a.py": (LONG, CHANGED)})
    package = listed(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(BenchError, match="file was not written"):
        load_corpus((package,), tmp_path / "file", n_each=3, say=SAID.append)
    (tmp_path / "p-0.whl").unlink()
    (tmp_path / "p-0.whl").mkdir()
    with pytest.raises(BenchError, match=r"p-0\.whl cannot be used"):
        load_corpus((package,), tmp_path, n_each=3, say=SAID.append)


@pytest.mark.parametrize("said", ["", " \n"])
def test_a_client_that_fails_without_a_word_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """The index's client need not say why it failed."""

    def fail(command: list[str], **_: object) -> None:
        raise subprocess.CalledProcessError(7, command, stderr=said)

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(BenchError, match=r"p 0 cannot be used.* 7"):
        fetch_release("p", "wheel", Release("0", "p-0.whl", ""), tmp_path, SAID.append)


def test_npm_packages_are_left_out_without_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without npm replays the rest and says what it left out."""
    make_archives(tmp_path, {"m/a.py": (LONG, CHANGED)})
    monkeypatch.setattr(shutil, "which", lambda _: None)
    said: list[str] = []
    assert [] == load_corpus((listed(tmp_path, "npm", ".tgz"),), tmp_path, n_each=3, say=said.append)
    assert ["p is left out: npm is not installed"] == said


def test_a_list_that_is_none_is_refused(tmp_path: Path) -> None:
    """An unknown key or kind is an error that names the file."""
    path = tmp_path / "corpus.toml"
    path.write_text('[[packages]]\nname = "x"\n', encoding="utf-8")
    with pytest.raises(BenchError, match=r"corpus\.toml"):
        read_listing(path)
