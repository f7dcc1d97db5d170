"""File pairs: a text before and after a change that people made."""

from __future__ import annotations

import difflib
import itertools
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from plgd.edits.language import language_of
from plgd.errors import BenchError

__all__ = ("FilePair", "archive_texts", "choose_pairs", "pairs_from_archives", "pairs_from_folders")

# What people would edit with a model: not tiny, not minified, not rewritten from nothing.
LANGUAGES: Final = frozenset(("python", "javascript", "typescript", "json", "markdown", "toml", "rst", "text", "tsx"))
MIN_CHARACTERS: Final = 200
MAX_CHARACTERS: Final = 24_000
MAX_LINE: Final = 500
MIN_SIMILARITY: Final = 0.5


@dataclass(frozen=True, slots=True)
class FilePair:
    """One changed file.

    Attributes:
        package: what it is part of.
        path: its name there.
        before: the text that is rewritten.
        after: what it becomes.
    """

    package: str
    path: str
    before: str
    after: str

    @property
    def language(self) -> str:
        """The file's language, by its name."""
        return language_of(self.path)


def pairs_from_folders(folder: Path) -> list[FilePair]:
    """Return every file that differs between `before/` and `after/` below a folder, whatever its kind and size.

    Raises:
        BenchError: a folder is missing, a file cannot be read, or nothing differs.
    """
    trees = [folder / name for name in ("before", "after")]
    for tree in trees:
        if not tree.is_dir():
            raise BenchError.unreadable(str(tree), "no such folder")
    before, after = ({_shown(path.relative_to(tree)): path for path in _files(tree)} for tree in trees)
    pairs = []
    for name in sorted(before.keys() & after.keys()):
        texts = [_decode(_read(path)) for path in (before[name], after[name])]
        if texts[0] is not None and texts[1] is not None and texts[0] != texts[1]:
            pairs.append(FilePair(folder.name, name, texts[0], texts[1]))
    if not pairs:
        raise BenchError.unreadable(str(folder), "no text differs between before/ and after/")
    return pairs


def pairs_from_archives(package: str, before: Path, after: Path) -> list[FilePair]:
    """Return the changed files of two releases (wheels, sdists or npm packages) that are worth replaying.

    Raises:
        BenchError: an archive is damaged.
    """
    texts = [dict(archive_texts(path)) for path in (before, after)]
    shared = sorted(texts[0].keys() & texts[1].keys())
    pairs = (FilePair(package, name, texts[0][name], texts[1][name]) for name in shared)
    return [pair for pair in pairs if _is_worth_replaying(pair)]


def choose_pairs(pairs: Iterable[FilePair], n_each: int) -> list[FilePair]:
    """Choose at most so many pairs of each package and language, spread evenly over their names."""
    groups: dict[tuple[str, str], list[FilePair]] = {}
    for pair in pairs:
        groups.setdefault((pair.package, pair.language), []).append(pair)
    return list(itertools.chain.from_iterable(group[:: -(-len(group) // n_each)] for group in groups.values()))


def _is_worth_replaying(pair: FilePair) -> bool:
    if pair.before == pair.after or pair.language not in LANGUAGES or ".dist-info/" in pair.path:
        return False
    for text in (pair.before, pair.after):
        if not MIN_CHARACTERS <= len(text) <= MAX_CHARACTERS or max(map(len, text.split("\n"))) > MAX_LINE:
            return False
    lines = (pair.before.split("\n"), pair.after.split("\n"))
    return difflib.SequenceMatcher(None, *lines, autojunk=False).ratio() >= MIN_SIMILARITY


def _files(tree: Path) -> Iterator[Path]:
    return (path for path in sorted(tree.rglob("*")) if path.is_file())


def _shown(path: Path) -> str:
    """Return a name as text; one that is no text on this system can be told all the same."""
    return os.fsencode(path).decode("utf-8", "replace")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BenchError.unreadable(str(path), str(error.strerror)) from error


def _decode(content: bytes) -> str | None:
    """Return the text as a model is shown it; None for what is no text."""
    if b"\0" in content:
        return None
    try:
        return content.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return None


def archive_texts(archive: Path) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of an archive; in tar files without the folder that all of them lie in.

    Raises:
        BenchError: the archive is damaged.
    """
    contents: Mapping[str, bytes]
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                contents = {info.filename: wheel.read(info) for info in wheel.infolist() if not info.is_dir()}
        else:
            with tarfile.open(archive) as tar:
                files = [member for member in tar if member.isfile()]
                contents = {
                    _inner(member.name): stream.read() for member in files if (stream := tar.extractfile(member))
                }
    except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, tarfile.TarError) as error:
        raise BenchError.unreadable(str(archive), str(error)) from error
    for name, content in contents.items():
        text = _decode(content)
        if text is not None:
            yield name, text


def _inner(name: str) -> str:
    return str(PurePosixPath(*PurePosixPath(name).parts[1:]))
