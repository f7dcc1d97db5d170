"""The overlay: places of the sources where the reply is expected to differ from them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ("Overlay", "Patch", "Standing")


@dataclass(slots=True)
class Standing:
    """How a substitution has fared.

    Attributes:
        n_confirmed: times that the reply did it.
        n_denied: times that the reply did not do it where it was expected.
    """

    n_confirmed: int = 0
    n_denied: int = 0

    @property
    def is_good(self) -> bool:
        """Whether it is still expected: each denial takes two confirmations, but for the first."""
        return self.n_denied == 0 or self.n_confirmed >= 2 * self.n_denied - 1

    @property
    def grade(self) -> int:
        """Confirmations less what denials take."""
        return max(self.n_confirmed - 2 * self.n_denied, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A replacement that is expected.

    Attributes:
        start: where the replaced tokens begin in the sources.
        end: where they end.
        tokens: what is expected in their place; at least one.
        standings: of the substitutions that it comes from; at least one.
    """

    start: int
    end: int
    tokens: tuple[int, ...]
    standings: tuple[Standing, ...]

    @property
    def grade(self) -> int:
        """The grade of its least certain substitution."""
        return min(standing.grade for standing in self.standings)

    @property
    def was_denied(self) -> bool:
        """Whether one of its substitutions was not made somewhere."""
        return any(standing.n_denied for standing in self.standings)


class Overlay:
    """Patches by place. Laid over a stretch once, and anew when the substitutions change."""

    def __init__(self) -> None:
        self._patches: dict[int, Patch] = {}

    def __len__(self) -> int:
        return len(self._patches)

    def patch_at(self, place: int) -> Patch | None:
        """Return the patch that begins at a place."""
        return self._patches.get(place)

    def find_next(self, start: int, end: int) -> int:
        """Return the first place of a range where a patch begins, its end when there is none."""
        patches = self._patches
        if not patches:
            return end
        return next((place for place in range(start, end) if place in patches), end)

    def lay(self, patch: Patch) -> None:
        """Put a patch over its place, instead of one that is there."""
        self._patches[patch.start] = patch

    def clear(self) -> None:
        """Take all patches away. Hypotheses inside one read it to its end."""
        self._patches.clear()
