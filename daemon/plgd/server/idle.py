"""What the model's thread does when nobody waits: prefill what changed, and let go of what nobody used for long."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Final

from plgd.config import WarmConfig
from plgd.documents.open import Opened
from plgd.documents.store import DocumentStore
from plgd.documents.warm import Label, WarmStore
from plgd.edits.events import JobProgress
from plgd.edits.head import document_label
from plgd.edits.warm_up import may_fit, warm_steps
from plgd.engine.model import Model
from plgd.errors import EngineError, InputError
from plgd.protocol.documents import WarmResult
from plgd.server.backend import Device

__all__ = ("IdleWork",)

# Of the device's memory, for kept KV, where the configuration does not say.
DEFAULT_SHARE: Final = 8

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Work:
    """A document that is being prefilled."""

    revision: int
    label: Label
    displaces: bool
    steps: Generator[JobProgress, None, WarmResult]


class IdleWork:
    """Keeps open documents warm, one slice of prefill at a time, so that a request waits for a slice at most.

    A document is prefilled once for each text that it holds long enough. When it then has to go for others, it stays
    away until it changes or is asked for: documents that do not fit together must not chase each other. Only the one
    that was changed last displaces others; the rest take the room that is left.

    Everything but `documents` belongs to the worker's thread.

    Args:
        documents: those that are open.
        store: where states are kept.
        config: what is kept, and for how long.
        clock: seconds from any start; the one of `documents`.
    """

    def __init__(
        self,
        documents: DocumentStore,
        store: WarmStore,
        config: WarmConfig,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._documents = documents
        self._store = store
        self._config = config
        self._clock = clock
        self._done: dict[str, int] = {}
        self._too_long: dict[str, int] = {}
        self._work: _Work | None = None

    def loaded(self, device: Device) -> None:
        """Begin with a model that has just been loaded."""
        if self._config.enabled:
            self._store.resize(self._config.kv_bytes or device.memory_bytes // DEFAULT_SHARE)

    def unloaded(self) -> None:
        """Let go of everything: the model leaves memory."""
        self._store.clear()
        self._done.clear()
        self._too_long.clear()
        self._work = None

    def due_in(self) -> float | None:
        """Return the seconds until there is something to do; None when there is nothing."""
        now = self._clock()
        waits = [opened.changed_at + self._config.quiet_s - now for opened in self._cold()]
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
        quiet = (opened for opened in self._cold() if opened.changed_at + self._config.quiet_s <= now)
        opened = next(quiet, None)
        if opened is not None:
            self._prefill(opened, model)
        return False

    def _cold(self) -> Iterator[Opened]:
        """Yield the documents whose text was not prefilled yet, changed last first."""
        if not self._store.limit_bytes:
            return
        for opened in self._documents.open.all():
            too_long = self._too_long.get(opened.key)
            if self._done.get(opened.key) != opened.revision and (too_long is None or len(opened.text) < too_long):
                yield opened

    def _prefill(self, opened: Opened, model: Model) -> None:
        """Prefill one slice; what cannot be prefilled is done with."""
        try:
            if self._work is None or self._work.revision != opened.revision:
                self._work = self._begin(opened, model)
            if self._work is not None and next(self._work.steps, None) is not None:
                if self._store.bytes_of(self._work.label):
                    return
                if self._work.displaces:
                    self._too_long[opened.key] = len(opened.text)
        except InputError as error:
            _LOG.debug("%s is not kept warm: %s", opened.name, error)
        except EngineError as error:
            _LOG.warning("%s was not made warm: %s", opened.name, error)
        self._done[opened.key] = opened.revision
        self._work = None

    def _begin(self, opened: Opened, model: Model) -> _Work | None:
        if not may_fit(opened.text, model):
            return None
        document = self._documents.of_open(opened)
        displaces = opened.revision == max(each.revision for each in self._documents.open.all())
        steps = warm_steps(
            document,
            received=0.0,
            model=model,
            warm=self._store,
            slice_tokens=self._config.slice,
            displaces=displaces,
            clock=self._clock,
        )
        return _Work(opened.revision, document_label(document), displaces, steps)
