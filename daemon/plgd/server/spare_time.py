"""What the worker does while nobody waits; its one real implementation is `idle`."""

from __future__ import annotations

from typing import Protocol

from plgd.engine.model import Model
from plgd.server.backend import Device

__all__ = ("Idle", "Nothing")


class Idle(Protocol):
    """What there is to do while nobody waits. Called on the worker's thread; `due_in` must return at once."""

    def loaded(self, model: Model, device: Device) -> None:
        """A model is in memory now."""
        ...

    def unloaded(self) -> None:
        """The model leaves memory."""
        ...

    def due_in(self) -> float | None:
        """Return the seconds until there is something to do with the model; None when there is nothing."""
        ...

    def step(self, model: Model) -> bool:
        """Do a short piece of it and return whether memory was let go."""
        ...


class Nothing:
    """Nothing to do."""

    def loaded(self, model: Model, device: Device) -> None:
        """Take note of nothing."""

    def unloaded(self) -> None:
        """Let go of nothing."""

    def due_in(self) -> None:
        """Return None."""

    def step(self, model: Model) -> bool:  # noqa: ARG002  # there is nothing to do with it
        """Do nothing."""
        return False
