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
    """

    def __init__(self, draft: Draft, fate: Fate) -> None:
        self.draft = draft
        self.fate = fate
        self.n_agreed = 0
        self.n_tested = 0

    def check(self, tokens: Sequence[int]) -> bool:
        """Compare the next emitted tokens; True once the probe is settled."""
        foretold = self.draft.tokens[:LONGEST]
        for token in tokens:
            self.n_tested += 1
            if token != foretold[self.n_agreed]:
                return True
            self.n_agreed += 1
            if self.n_agreed == len(foretold):
                return True
        return False
