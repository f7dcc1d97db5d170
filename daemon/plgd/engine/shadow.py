"""Shadow probes: proposals that are not verified, checked against what plain decoding emits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from plgd.engine.evidence import Fate
from plgd.engine.proposer import Draft

__all__ = ("ShadowProbe",)

# A probe that came true so far has told enough; the next one begins with the evidence it left.
LONGEST: Final = 8


class ShadowProbe:
    """One proposal waiting for the tokens that it foretells. It costs no pass of the target.

    Args:
        draft: the proposal.
        fate: what had become of the proposal before it.

    Attributes:
        draft: the same.
        fate: the same.
        n_agreed: tokens that came true so far.
    """

    def __init__(self, draft: Draft, fate: Fate) -> None:
        self.draft = draft
        self.fate = fate
        self.n_agreed = 0
        self._foretold = draft.tokens[:LONGEST]
        self._settled = False

    @property
    def n_tested(self) -> int:
        """Tokens put to the test: those that came true so far, and all that were foretold once it is settled."""
        return len(self._foretold) if self._settled else self.n_agreed

    def check(self, tokens: Sequence[int]) -> bool:
        """Compare the next emitted tokens; True once the probe is settled."""
        for token in tokens:
            if token != self._foretold[self.n_agreed]:
                self._settled = True
                return True
            self.n_agreed += 1
            if self.n_agreed == len(self._foretold):
                self._settled = True
                return True
        return False
