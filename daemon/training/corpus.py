"""`python -m training.corpus FOLDER`: fetch public packages and lay out their texts, split by package.

The folder gets `train/PACKAGE/...`, `held-out/PACKAGE/...` and `index.jsonl`, one line for each text. Texts are UTF-8,
at most 300 lines long, and no two are equal; of a longer file, pieces are kept that were cut at the borders of its top
level.
The running interpreter's standard library is a package of the training split.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import sysconfig
import tarfile
import tomllib
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final, Literal

import msgspec

from plgd.bench.material.corpus import Kind, Release, fetch_release
from plgd.bench.material.pairs import archive_texts
from plgd.edits.language import language_of
from plgd.errors import BenchError, PlgdError
from training.cutting import cut_to_pieces

__all__ = ("SOURCES", "CorpusText", "Source", "Split", "build_corpus", "main", "read_corpus", "read_sources")

SOURCES: Final = Path(__file__).parent / "sources.toml"
INDEX: Final = "index.jsonl"
STANDARD_LIBRARY: Final = "python-standard-library"

Split = Literal["train", "held-out"]

MAX_LINES: Final = 300
# About what 3,000 tokens hold.
MAX_CHARACTERS: Final = 12_000
MIN_CHARACTERS: Final = 120
# Longer lines are data, not text; prose may stand on one line a paragraph.
MAX_LINE: Final = 200
MAX_PROSE_LINE: Final = 900
# Texts of one package and language: no package should be heard more than the others.
MAX_TEXTS: Final = 220
PROSE: Final = ("markdown", "rst", "text")
LANGUAGES: Final = frozenset(
    (
        "python",
        "javascript",
        "typescript",
        "json",
        "toml",
        "yaml",
        "markdown",
        "rst",
        "text",
        "css",
        "scss",
        "html",
        "bash",
        "ini",
    )
)
# Folders of other projects' code, of built or translated files.
_NOT_OURS: Final = frozenset(
    (
        "_vendor",
        "vendor",
        "vendored",
        "_vendored",
        "third_party",
        "externals",
        "extern",
        "node_modules",
        "dist",
        "min",
        "umd",
        "cjs",
    )
)
_NOT_TEXT: Final = (
    "license",
    "licence",
    "copying",
    "notice",
    "authors",
    "record",
    "sources.txt",
    "top_level.txt",
    "requires.txt",
    "entry_points.txt",
)


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One archive of a package.

    Attributes:
        name: of the package.
        kind: of the archive.
        split: whether its texts are for training.
        licence: what the package may be used under.
        version: of the package.
        file: the archive's name.
        sha256: the archive's hash.
    """

    name: str
    kind: Kind
    split: Split
    licence: str
    version: str
    file: str
    sha256: str


class _Listing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sources: tuple[Source, ...]


class CorpusText(msgspec.Struct, frozen=True):
    """A text of the corpus.

    Attributes:
        package: that it comes from.
        path: in the package, with a number before the suffix for a piece of a longer file.
        language: as `plgd.edits.language` names it.
        text: itself; empty in the index, where the file has it.
    """

    package: str
    path: str
    language: str
    text: str = ""


def read_sources(path: Path = SOURCES) -> tuple[Source, ...]:
    """Read the list of sources.

    Raises:
        BenchError: the file is no such list.
    """
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _Listing).sources
    except (OSError, ValueError) as error:
        raise BenchError.unreadable(str(path), str(error)) from error


def read_corpus(folder: Path, split: Split) -> list[CorpusText]:
    """Read the texts of one split, in the order of the index.

    Raises:
        BenchError: the folder holds no corpus.
    """
    try:
        lines = (folder / split / INDEX).read_bytes().splitlines()
        entries = [msgspec.json.decode(line, type=CorpusText) for line in lines]
        return [
            msgspec.structs.replace(entry, text=(folder / split / entry.package / entry.path).read_bytes().decode())
            for entry in entries
        ]
    except (OSError, ValueError) as error:
        raise BenchError.unreadable(str(folder), str(error)) from error


def build_corpus(folder: Path, archives: Path, sources: Iterable[Source]) -> None:
    """Fetch what is missing and write the corpus.

    Args:
        folder: of the corpus; what was there is replaced.
        archives: where fetched archives are kept.
        sources: what to fetch.

    Raises:
        BenchError: an archive cannot be fetched, is damaged, or is not the listed one.
    """
    archives.mkdir(parents=True, exist_ok=True)
    seen: set[bytes] = set()
    for split in ("held-out", "train"):  # a text that both have is held out
        shutil.rmtree(folder / split, ignore_errors=True)
        entries: list[CorpusText] = []
        packages: dict[str, list[tuple[str, str]]] = {}
        for source in sources:
            if source.split == split:
                release = Release(source.version, source.file, source.sha256)
                archive = fetch_release(source.name, source.kind, release, archives, _say)
                prefix = f"{source.name}-{source.kind}"
                packages.setdefault(source.name, []).extend((f"{prefix}/{n}", t) for n, t in archive_texts(archive))
        if split == "train":
            packages[STANDARD_LIBRARY] = list(_standard_library())
        for package, files in sorted(packages.items()):
            entries += _write_package(folder / split, package, files, seen)
        index = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
        (folder / split / INDEX).write_bytes(index)
        _say(f"{split}: {len(entries)} texts of {len(packages)} packages")


def _write_package(folder: Path, package: str, files: list[tuple[str, str]], seen: set[bytes]) -> Iterator[CorpusText]:
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, whole in sorted(files):
        if not _is_ours(PurePosixPath(name)):
            continue
        path, text = _described(PurePosixPath(name), whole)
        language = language_of(path.name)
        if language not in LANGUAGES:
            continue
        for number, piece in enumerate(cut_to_pieces(text, language, MAX_LINES, MAX_CHARACTERS)):
            digest = sha256(piece.encode()).digest()
            if _is_worth_keeping(piece, language) and digest not in seen:
                seen.add(digest)
                kept = path.with_stem(f"{path.stem}-{number}") if number else path
                groups.setdefault(language, []).append((str(kept), piece))
    for language, group in groups.items():
        for name, piece in group[:: -(-len(group) // MAX_TEXTS)]:
            target = folder / package / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(piece.encode())
            yield CorpusText(package, name, language)


def _is_ours(path: PurePosixPath) -> bool:
    name = path.name.lower()
    if set(path.parts[:-1]) & _NOT_OURS or name.startswith(_NOT_TEXT) or ".min." in name or "lock" in name:
        return False
    if language_of(path.name) == "text" and path.suffix != ".txt" and path.name not in ("METADATA", "PKG-INFO"):
        return False  # a language of its own that nobody has named
    return not any(part.startswith(".") for part in path.parts[:-1] if part != ".github")


def _described(path: PurePosixPath, text: str) -> tuple[PurePosixPath, str]:
    """Turn a package's metadata into its description, which stands behind mail headers."""
    if path.name not in ("METADATA", "PKG-INFO"):
        return path, text
    headers, _, body = text.partition("\n\n")
    return path.with_name("README.md" if "text/markdown" in headers else "README.rst"), body.lstrip("\n")


def _is_worth_keeping(text: str, language: str) -> bool:
    limit = MAX_PROSE_LINE if language in PROSE else MAX_LINE
    if not MIN_CHARACTERS <= len(text) <= MAX_CHARACTERS or "<|" in text or "\0" in text or "\f" in text:
        return False
    return max(map(len, text.split("\n"))) <= limit and not text.isspace()


def _standard_library() -> Iterator[tuple[str, str]]:
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py")):
        inner = path.relative_to(root)
        if "site-packages" not in inner.parts and "dist-packages" not in inner.parts:
            try:
                yield f"stdlib/{inner.as_posix()}", path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue  # the test suite has files in other encodings


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")


def main() -> int:
    """Build a corpus."""
    parser = argparse.ArgumentParser(prog="python -m training.corpus", description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="of the corpus")
    parser.add_argument("--archives", type=Path, help="where archives are kept (default: FOLDER-archives)")
    parser.add_argument("--pack", type=Path, metavar="FILE", help="also pack the corpus into this tar.xz")
    options = parser.parse_args()
    folder: Path = options.folder
    try:
        build_corpus(folder, options.archives or folder.with_name(folder.name + "-archives"), read_sources())
    except PlgdError as error:
        _say(str(error))
        return error.exit_code
    if options.pack:
        with tarfile.open(options.pack, "w:xz") as tar:
            tar.add(folder, arcname=folder.name)
        _say(f"{options.pack}: {options.pack.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
