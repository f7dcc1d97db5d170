"""The overlay: places of the sources where the reply is expected to differ from them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("Overlay", "Patch")


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A replacement that is expected.

    Attributes:
        start: where the replaced tokens begin in the sources.
        end: where they end.
        tokens: what is expected in their place; at least one.
        rules: the substitutions that it comes from, by number.
        n_confirmed: how often the least confirmed of them came true.
    """

    start: int
    end: int
    tokens: tuple[int, ...]
    rules: tuple[int, ...]
    n_confirmed: int


class Overlay:
    """Patches by place. Laid over a stretch once, and anew from there on when the substitutions change."""

    def __init__(self) -> None:
        self._patches: dict[int, Patch] = {}

    def __len__(self) -> int:
        return len(self._patches)

    def patch_at(self, place: int) -> Patch | None:
        """Return the patch that begins at a place."""
        return self._patches.get(place)

    def lay(self, patch: Patch) -> None:
        """Put a patch over its place, instead of one that is there."""
        self._patches[patch.start] = patch

    def clear(self) -> None:
        """Take all patches away. Hypotheses inside one read it to its end."""
        self._patches.clear()
