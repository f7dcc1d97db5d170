"""Loans: kept states that edits are using, and what others may copy of them meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from plgd.engine.kept import KeepingTarget, Kept
from plgd.errors import EngineError
from plgd.text.overlap import common_prefix

__all__ = ("Loan", "Loans")

_LOG = logging.getLogger(__name__)


class Loan:
    """A state in use; a context that gives it back when the work is done or cancelled, and drops it when it failed.

    Args:
        loans: those that are out.
        give_back: takes what is worth keeping.

    Attributes:
        label: whose state it is.
        target: what uses it.
        prompt: what the target reads first.
        n_warm: tokens of the prompt that the target had seen already.
    """

    def __init__(
        self,
        loans: Loans,
        give_back: Callable[[str, Kept | None], None],
        *,
        label: str,
        target: KeepingTarget,
        prompt: Sequence[int],
        n_warm: int,
    ) -> None:
        self.label = label
        self.target = target
        self.prompt = prompt
        self.n_warm = n_warm
        self._loans = loans
        self._give_back = give_back

    def __enter__(self) -> Self:
        self._loans.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loans.remove(self)
        # A generator that is closed is a cancelled edit: its target is as whole as after a round.
        if kind is not None and kind is not GeneratorExit:
            return
        try:
            self._give_back(self.label, self.target.keep(len(self.prompt)))
        except EngineError as failure:
            # The reply is whole all the same; the next edit begins cold.
            _LOG.warning("the KV of %s was not kept: %s", self.label, failure)

    def shares(self, prompt: Sequence[int]) -> int:
        """Count the tokens of another prompt, the last one excepted, that are or will be in this state."""
        return min(common_prefix(self.prompt, prompt), len(self.prompt) - 1, len(prompt) - 1)


class Loans:
    """The loans that are out. All edits take turns on one thread, so each is between two steps when it is looked at."""

    def __init__(self) -> None:
        self._out: list[Loan] = []

    def add(self, loan: Loan) -> None:
        """Note that a state is in use."""
        self._out.append(loan)

    def remove(self, loan: Loan) -> None:
        """Note that it no longer is."""
        self._out.remove(loan)

    def has(self, label: str) -> bool:
        """Whether a state is in use."""
        return any(loan.label == label for loan in self._out)

    def copy(self, label: str, target: KeepingTarget, prompt: Sequence[int]) -> Kept | None:
        """Copy as much of a prompt as one of the loans has read.

        Args:
            label: whose state.
            target: not used yet; it still is not then.
            prompt: what it is to read.
        """
        found = [(min(loan.shares(prompt), loan.target.offset), loan) for loan in self._out if loan.label == label]
        n_shared, loan = max(found, key=lambda each: each[0], default=(0, None))
        return target.copy(loan.target, n_shared) if loan is not None and n_shared > 0 else None

    def find_reader(self, label: str, prompt: Sequence[int], n_warm: int) -> Loan | None:
        """Return the loan that is about to read the most of a prompt, if that is more than what is warm already."""
        found = [(loan.shares(prompt), loan) for loan in self._out if loan.label == label]
        n_shared, loan = max(found, key=lambda each: each[0], default=(0, None))
        return loan if loan is not None and max(n_warm, loan.target.offset) < n_shared else None
