"""Hypotheses: places in the sources where the reply may go on."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from plgd.engine.overlay import Overlay, Patch

__all__ = ("Hypothesis", "Origin")


class Origin(IntEnum):
    """How a hypothesis came up. Of two that are equally likely the earlier in this list is believed."""

    START = 0
    """A source is copied from its beginning."""
    REPLACED = 1
    """As many tokens were replaced as the reply has written since it left the source."""
    SHORTENED = 2
    """One token was replaced by those that the reply has written since."""
    INSERTED = 3
    """What the reply has written since was inserted."""
    AHEAD = 4
    """The last tokens stand within a few tokens behind the place where the reply left the source."""
    NEAR = 5
    """They stand further on, but near."""
    BEHIND = 6
    """They stand a little before it."""
    FAR = 7
    """The last eight tokens stand somewhere."""
    RECENT = 8
    """The last few tokens stand somewhere, here latest."""


@dataclass(slots=True, eq=False)
class Hypothesis:
    """One place that may be right, and how long it has been.

    Attributes:
        place: in the sources; of a patch, where it begins.
        streak: tokens that agreed so far.
        origin: how it came up.
        patch: the patch that is being read, None between patches.
        n_read: tokens of the patch that agreed.
        is_raw: what the patch at this place replaces is expected, not the patch.
    """

    place: int
    streak: int
    origin: Origin
    patch: Patch | None = None
    n_read: int = 0
    is_raw: bool = False

    def next_patch(self, overlay: Overlay) -> Patch | None:
        """Return the patch that the next token is read from, None when it is the source's own."""
        if self.patch is not None or self.is_raw:
            return self.patch
        return overlay.patch_at(self.place)

    def expects(self, tokens: list[int], overlay: Overlay) -> int:
        """Return the token it foretells."""
        patch = self.next_patch(overlay)
        return tokens[self.place] if patch is None else patch.tokens[self.n_read]

    def advance(self, overlay: Overlay) -> Patch | None:
        """Step over the token that came true; return the patch that this completed, if it did."""
        patch = self.next_patch(overlay)
        self.streak += 1
        self.is_raw = False
        if patch is None:
            self.place += 1
            return None
        self.patch = patch
        self.n_read += 1
        if self.n_read < len(patch.tokens):
            return None
        self.place, self.patch, self.n_read = patch.end, None, 0
        return patch
