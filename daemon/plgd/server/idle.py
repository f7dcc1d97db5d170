"""What the model's thread does when nobody waits: prefill what changed, and let go of what nobody used for long."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from plgd.config import WarmConfig
from plgd.documents.document import Document
from plgd.documents.open import Opened
from plgd.documents.spill import Spill
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.documents.watched import WatchedFile
from plgd.edits.events import JobProgress
from plgd.edits.head import document_label
from plgd.edits.warm_up import may_fit, warm_steps
from plgd.engine.model import Model
from plgd.errors import InputError
from plgd.protocol.documents import WarmResult
from plgd.server.backend import Device

__all__ = ("IdleWork",)

# Of the device's memory, for kept KV, where the configuration does not say.
DEFAULT_SHARE: Final = 8

_LOG: Final = logging.getLogger(__name__)


# Where a text is, the first part of its revision.
_IN_EDITOR: Final = "editor"
_ON_DISK: Final = "disk"
_Revision: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Text:
    """A text that may become warm.

    Attributes:
        key: tells it from other texts.
        revision: tells it from the text before.
        changed_at: when it changed.
        length: in characters; 0 when that is not known without reading it.
        read: reads it.
    """

    key: str
    revision: _Revision
    changed_at: float
    length: int
    read: Callable[[], Document]


@dataclass(frozen=True, slots=True)
class _Work:
    """A text that is being prefilled."""

    revision: _Revision
    label: str
    displaces: bool
    steps: Generator[JobProgress, None, WarmResult]


class IdleWork:
    """Keeps open documents and changed files warm, in slices of prefill; a request waits for one slice at most.

    A document is prefilled once for each text that it holds long enough. When it then has to go for others, it stays
    away until it changes or is asked for: documents that do not fit together must not chase each other. Only the one
    that was changed last displaces others; the rest take the room that is left.

    Everything but `documents` belongs to the worker's thread.

    Args:
        documents: those that are open.
        store: where states are kept.
        config: what is kept, and for how long.
        clock: seconds from any start; the one of `documents`.
        spill_folder: for states that leave memory, should the configuration want that.
    """

    def __init__(
        self,
        documents: DocumentStore,
        store: WarmStore,
        config: WarmConfig,
        clock: Callable[[], float] = time.monotonic,
        *,
        spill_folder: Path | None = None,
    ) -> None:
        self._documents = documents
        self._store = store
        self._config = config
        self._clock = clock
        self._spill_folder = spill_folder
        self._done: dict[str, _Revision] = {}
        self._too_long: dict[str, int] = {}
        self._work: _Work | None = None

    def loaded(self, model: Model, device: Device) -> None:
        """Begin with a model that has just been loaded."""
        if self._config.enabled:
            self._store.resize(self._config.kv_bytes or device.memory_bytes // DEFAULT_SHARE)
            if self._spill_folder is not None and self._config.spill_bytes:
                counts = self._store.counts.spill
                self._store.spill_to(Spill(self._spill_folder, self._config.spill_bytes, model.state_key, counts))

    def unloaded(self) -> None:
        """Let go of everything: the model leaves memory."""
        self._store.clear()
        self._store.spill_to(None)
        self._done.clear()
        self._too_long.clear()
        self._work = None

    def due_in(self) -> float | None:
        """Return the seconds until there is something to do; None when there is nothing."""
        now = self._clock()
        waits = [text.changed_at + self._config.quiet_s - now for text in self._cold()]
        if self._config.drop_after_s and (oldest := self._store.oldest_use) is not None:
            waits.append(oldest + self._config.drop_after_s - now)
        return max(0.0, min(waits)) if waits else None

    def step(self, model: Model) -> bool:
        """Do a piece of it.

        Returns:
            Whether memory was let go.
        """
        now = self._clock()
        if self._config.drop_after_s and self._store.expire(now - self._config.drop_after_s):
            return True
        text = next((text for text in self._cold() if text.changed_at + self._config.quiet_s <= now), None)
        if text is not None:
            self._prefill(text, model)
        return False

    def _cold(self) -> Iterator[_Text]:
        """Yield the texts that were not prefilled yet, changed last first, those that editors hold before others."""
        if not self._store.limit_bytes:
            return
        opened = map(self._of_editor, self._documents.open.all())
        seen: set[str] = set()
        for text in (*opened, *map(self._of_disk, self._documents.watched.changed())):
            if text.key in seen:
                continue  # two editors hold it, or an editor and the disk: there is one state, for the first of them
            seen.add(text.key)
            too_long = self._too_long.get(text.key)
            if self._done.get(text.key) != text.revision and (not too_long or text.length < too_long):
                yield text

    def _of_editor(self, opened: Opened) -> _Text:
        revision = (_IN_EDITOR, opened.revision)
        read = partial(self._documents.of_open, opened)
        return _Text(opened.key, revision, opened.changed_at, len(opened.text), read)

    def _of_disk(self, file: WatchedFile) -> _Text:
        revision = (_ON_DISK, file.revision)
        return _Text(str(file.path), revision, file.changed_at, 0, partial(self._documents.read, file.path))

    def _prefill(self, text: _Text, model: Model) -> None:
        """Prefill one slice; what cannot be prefilled is done with."""
        try:
            if self._work is None or self._work.revision != text.revision:
                self._work = self._begin(text, model)
            if self._work is not None and next(self._work.steps, None) is not None:
                if self._store.bytes_of(self._work.label):
                    return
                if self._work.displaces and text.length:
                    self._too_long[text.key] = text.length
        except InputError as error:
            self._store.forget(text.key)
            _LOG.debug("%s is not kept warm: %s", text.key, error)
        except Exception:  # noqa: BLE001  # nobody waits for it, and it must not be tried again and again
            _LOG.exception("%s was not made warm", text.key)
        self._done[text.key] = text.revision
        self._work = None

    def _begin(self, text: _Text, model: Model) -> _Work | None:
        if not may_fit(text.length, model):
            return None
        document = text.read()
        opened = self._documents.open.all()
        displaces = text.revision == (_IN_EDITOR, max(each.revision for each in opened)) if opened else True
        steps = warm_steps(
            document,
            received=0.0,
            model=model,
            warm=self._store,
            slice_tokens=self._config.slice,
            displaces=displaces,
            clock=self._clock,
        )
        return _Work(text.revision, document_label(document), displaces, steps)
