"""The corpus: public packages at two releases each, fetched by the index's own clients, checked, and kept."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

import msgspec

from plgd.bench.material.pairs import FilePair, choose_pairs, pairs_from_archives
from plgd.errors import BenchError

__all__ = (
    "LISTING",
    "Listing",
    "Package",
    "Part",
    "Release",
    "fetch_release",
    "load_corpus",
    "read_listing",
)

LISTING: Final = Path(__file__).parents[1] / "data" / "corpus.toml"

Part = Literal["tuning", "held-out"]
Kind = Literal["wheel", "sdist", "npm"]

# Longest wait for one download; a source package's metadata may have to be built.
FETCH_LIMIT_S: Final = 600


class Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One release: its version, the name of its file and that file's SHA-256."""

    version: str
    file: str
    sha256: str


class Package(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A package at two releases.

    Attributes:
        name: in its index.
        kind: what is fetched of it, which says from which index.
        part: constants are tuned on one part and judged on the other.
        before: the older release.
        after: the newer release.
    """

    name: str
    kind: Kind
    part: Part
    before: Release
    after: Release


class Listing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file that lists the corpus."""

    packages: tuple[Package, ...]


def read_listing(path: Path = LISTING) -> tuple[Package, ...]:
    """Read the list of packages.

    Raises:
        BenchError: the file is no such list.
    """
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Listing).packages
    except (OSError, ValueError) as error:
        raise BenchError.unreadable(str(path), str(error)) from error


def load_corpus(
    packages: tuple[Package, ...], folder: Path, *, n_each: int, say: Callable[[str], None]
) -> list[FilePair]:
    """Fetch what is not there yet and return its pairs.

    Args:
        packages: what to fetch.
        folder: where archives are kept.
        n_each: most pairs of one package and language.
        say: told what is being done, and what is left out.

    Raises:
        BenchError: an archive cannot be fetched, kept or read, or is not the listed one.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BenchError.unwritable(str(folder), str(error.strerror)) from error
    pairs: list[FilePair] = []
    for package in packages:
        if package.kind == "npm" and shutil.which("npm") is None:
            say(f"{package.name} is left out: npm is not installed")
            continue
        releases = (package.before, package.after)
        archives = [fetch_release(package.name, package.kind, release, folder, say) for release in releases]
        pairs += choose_pairs(pairs_from_archives(package.name, *archives), n_each)
    return pairs


def fetch_release(name: str, kind: Kind, release: Release, folder: Path, say: Callable[[str], None]) -> Path:
    """Return a release's archive, fetched by the index's own client unless it is in the folder.

    Args:
        name: of the package.
        kind: of the archive.
        release: which.
        folder: where archives are kept; it exists.
        say: told what is being done.

    Raises:
        BenchError: it cannot be fetched, or is not the listed one.
    """
    kept = folder / release.file
    if not kept.exists():
        say(f"fetching {name} {release.version}")
        with tempfile.TemporaryDirectory(dir=folder) as work:
            _download(name, kind, release, Path(work))
            found = Path(work) / release.file
            if not found.exists():
                names = ", ".join(sorted(path.name for path in Path(work).iterdir()))
                raise BenchError.unreadable(release.file, f"the index gave {names or 'nothing'} instead")
            _check(found, release)
            found.replace(kept)
    _check(kept, release, "; delete it, and it is fetched again")
    return kept


def _download(name: str, kind: Kind, release: Release, folder: Path) -> None:
    if kind == "npm":
        command = ["npm", "pack", "--silent", f"{name}@{release.version}"]
    else:
        only = "--only-binary=:all:" if kind == "wheel" else f"--no-binary={name}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", only]
        command.append(f"{name}=={release.version}")
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, timeout=FETCH_LIMIT_S)
    except (subprocess.SubprocessError, OSError) as error:
        said = (getattr(error, "stderr", None) or "").strip() or str(error)
        raise BenchError.unreadable(f"{name} {release.version}", said.splitlines()[-1]) from error


def _check(archive: Path, release: Release, remedy: str = "") -> None:
    try:
        with archive.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise BenchError.unreadable(str(archive), str(error.strerror)) from error
    if found != release.sha256:
        raise BenchError.unreadable(str(archive), f"its SHA-256 is {found}, not {release.sha256}{remedy}")
