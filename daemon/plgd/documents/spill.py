"""Spilled states: kept model states on disk, for when memory has let go of them, and for the next daemon.

A file's name says what it depends on: the model (weights, cache types, device and library versions), the document, and
the tokens. Nobody is told of what goes wrong here but the log, for everything that is lost can be prefilled again.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from plgd.engine.kept import KeepingTarget, Kept
from plgd.errors import StartFailed
from plgd.paths import private_folder

__all__ = ("Spill", "SpillCounts")

# Model and document, then tokens. Whatever else lies in the folder is somebody else's.
_OWN: Final = re.compile(r"(?P<owner>[0-9a-f]{24})-[0-9a-f]{24}\.safetensors")
_UNFINISHED: Final = "new-"

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SpillCounts:
    """How the folder fares; replaced as a whole.

    Attributes:
        n_bytes: what the files take, of all models.
        limit_bytes: what they may take; 0 when nothing is written.
        n_states: files, of all models.
        n_hits: states that came back.
        n_refused: files that were damaged or of another version, and are gone.
        n_unwritten: states that could not be written.
    """

    n_bytes: int = 0
    limit_bytes: int = 0
    n_states: int = 0
    n_hits: int = 0
    n_refused: int = 0
    n_unwritten: int = 0


class Spill:
    """A folder of kept states, read and written for one model. Those used longest ago go first when it is full.

    What cannot be written is not kept; what cannot be used is removed when it is plgd's own, and never raises.

    Args:
        folder: nobody else's; created if missing.
        limit_bytes: what the files of all models may take together.
        model_key: `plgd.engine.model.Model.state_key`.
        counts: to go on with.
    """

    def __init__(
        self,
        folder: Path,
        limit_bytes: int,
        model_key: str,
        counts: SpillCounts | None = None,
    ) -> None:
        self._counts = counts or SpillCounts()
        self._folder = folder
        self._limit = limit_bytes
        self._model_key = model_key
        try:
            private_folder(folder)
            for path in folder.glob(f"{_UNFINISHED}*"):
                if _OWN.fullmatch(path.name.removeprefix(_UNFINISHED)):
                    path.unlink()  # a daemon was killed while it wrote
            self._make_room(0)
        except (OSError, StartFailed) as error:
            _LOG.warning("kept KV is not written to %s: %s", folder, error)
            self._limit = 0
        self._count()

    @property
    def counts(self) -> SpillCounts:
        """How the folder fares."""
        return self._counts

    def write(self, document: str, kept: Kept) -> None:
        """Write a state, in the place of an older one of the same document.

        Args:
            document: tells whose state it is.
            kept: stays as it is.
        """
        if kept.n_bytes > self._limit:
            return
        owner = self._owner(document)
        path = self._folder / f"{owner}-{_digest(kept.tokens)}.safetensors"
        unfinished = path.with_name(_UNFINISHED + path.name)
        try:
            if not self._folder.is_dir():
                private_folder(self._folder)  # somebody has emptied the cache
            if path.is_file() and not path.is_symlink():
                path.touch()
                return
            self._make_room(kept.n_bytes)
            try:
                kept.save(unfinished, self._model_key)
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)
            for older in self._files(owner):
                if older != path:
                    older.unlink(missing_ok=True)
            self._make_room(0)
        except (OSError, StartFailed, ValueError) as error:
            _LOG.warning("the KV of %s was not written: %s", document, error)
            self._count(n_unwritten=1)
        else:
            self._count()

    def read(self, document: str, target: KeepingTarget) -> Kept | None:
        """Return the state of a document; None when there is none that can be used.

        Args:
            document: as it was written.
            target: of the model; it stays unused.
        """
        try:
            for path in self._files(self._owner(document)):
                try:
                    kept = target.load(path, self._model_key)
                except ValueError as error:
                    _LOG.warning("%s holds no usable KV of %s and goes: %s", path, document, error)
                    path.unlink(missing_ok=True)
                    self._count(n_refused=1)
                else:
                    path.touch()
                    self._count(n_hits=1)
                    return kept
        except OSError as error:
            _LOG.warning("the KV of %s could not be read: %s", document, error)
        return None

    def forget(self, document: str) -> None:
        """Remove what is kept of a document."""
        try:
            for path in self._files(self._owner(document)):
                path.unlink(missing_ok=True)
        except OSError as error:
            _LOG.warning("the KV of %s could not be removed: %s", document, error)
        self._count()

    def _count(self, *, n_hits: int = 0, n_refused: int = 0, n_unwritten: int = 0) -> None:
        try:
            sizes = [path.stat().st_size for path in self._files()]
        except OSError:
            sizes = []  # the folder is gone, or changes right now
        self._counts = SpillCounts(
            n_bytes=sum(sizes),
            limit_bytes=self._limit,
            n_states=len(sizes),
            n_hits=self._counts.n_hits + n_hits,
            n_refused=self._counts.n_refused + n_refused,
            n_unwritten=self._counts.n_unwritten + n_unwritten,
        )

    def _make_room(self, n_bytes: int) -> None:
        """Remove files, those used longest ago first, until there is room for so many bytes."""
        found = sorted((path.stat().st_mtime_ns, path.stat().st_size, path) for path in self._files())
        room = self._limit - sum(size for _, size, _ in found)
        for _, size, path in found:
            if room >= n_bytes:
                return
            path.unlink(missing_ok=True)
            room += size

    def _files(self, owner: str | None = None) -> list[Path]:
        """Return plgd's own files here: all of them, or those of one model and document."""
        if not self._limit or not self._folder.is_dir():
            return []
        matches = ((path, _OWN.fullmatch(path.name)) for path in self._folder.iterdir())
        own = [path for path, match in matches if match is not None and owner in {None, match["owner"]}]
        return [path for path in own if path.is_file() and not path.is_symlink()]

    def _owner(self, document: str) -> str:
        return _digest((self._model_key, document))


def _digest(parts: Sequence[object]) -> str:
    return hashlib.sha256(repr(tuple(parts)).encode()).hexdigest()[:24]
