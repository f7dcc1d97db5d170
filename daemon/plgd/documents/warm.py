"""The warm store: token indexes and kept model states, by document, within a budget of bytes.

Everything here belongs to the thread that owns the model; `counts` may be read from any.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from plgd.documents.indexes import TokenIndexes
from plgd.documents.loans import Loan, Loans
from plgd.documents.spill import Spill, SpillCounts
from plgd.documents.tokens import TokenIndex
from plgd.engine.kept import KeepingTarget, Kept
from plgd.engine.model import BorderedTokenizer

__all__ = ("WarmCounts", "WarmStore")

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WarmCounts:
    """How the store fares; replaced as a whole.

    Attributes:
        n_bytes: memory of the kept states.
        limit_bytes: what they may take; 0 until it is known.
        n_states: kept states.
        n_prompts: prompts so far.
        n_hits: those whose beginning was warm.
        n_prompt_tokens: tokens of all prompts.
        n_cached_tokens: those of them that were warm.
        n_dropped: states that had to go for others.
        documents: tokens and bytes that are kept of each document.
        spill: how states on disk fare.
    """

    n_bytes: int = 0
    limit_bytes: int = 0
    n_states: int = 0
    n_prompts: int = 0
    n_hits: int = 0
    n_prompt_tokens: int = 0
    n_cached_tokens: int = 0
    n_dropped: int = 0
    documents: tuple[tuple[str, int, int], ...] = ()
    spill: SpillCounts = field(default_factory=SpillCounts)


@dataclass(frozen=True, slots=True)
class _State:
    kept: Kept
    n_bytes: int
    used_at: float


class WarmStore:
    """Keeps states for one model at a time; those used longest ago go first when memory is short.

    A state is taken out while it is in use, for it changes then, and comes back when that is over.

    Args:
        clock: seconds from any start.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._limit = 0
        self._spill: Spill | None = None
        self._states: OrderedDict[str, _State] = OrderedDict()
        self._indexes = TokenIndexes()
        self._loans = Loans()
        self._counts = WarmCounts()

    @property
    def counts(self) -> WarmCounts:
        """How the store fares."""
        return self._counts

    @property
    def limit_bytes(self) -> int:
        """What the kept states may take together; 0 keeps nothing."""
        return self._limit

    def resize(self, limit_bytes: int) -> None:
        """Set what the kept states may take together."""
        self._limit = limit_bytes
        self._fit()

    def spill_to(self, spill: Spill | None) -> None:
        """Set where states go that memory has no room or no time for; with None they are lost."""
        self._spill = spill
        self._count()

    def index(self, document: str, text: str, tokenizer: BorderedTokenizer) -> TokenIndex:
        """Return the token index of a document, brought up to date.

        Args:
            document: its label.
            text: the document's, as the model sees it.
            tokenizer: the model's.
        """
        return self._indexes.get(document, text, tokenizer)

    def lend(self, label: str, target: KeepingTarget, prompt: Sequence[int]) -> Loan:
        """Let a target begin with what is kept; when the loan ends, what it prefilled is kept in its place.

        While another edit uses the state, the target begins with a copy of what that one has read.

        Args:
            label: whose state to use.
            target: not used yet.
            prompt: the history to come.

        Raises:
            RollbackFailed: a cache did not go back as far as it should; nothing of it is kept any more.
        """
        kept = self._find(label, target, prompt)
        n_warm = 0 if kept is None else target.resume(kept, prompt)
        counts = self._counts
        self._counts = replace(
            counts,
            n_prompts=counts.n_prompts + 1,
            n_hits=counts.n_hits + (n_warm > 0),
            n_prompt_tokens=counts.n_prompt_tokens + len(prompt),
            n_cached_tokens=counts.n_cached_tokens + n_warm,
        )
        self._count()
        return Loan(self._loans, self.put, label=label, target=target, prompt=prompt, n_warm=n_warm)

    def awaited(self, label: str, prompt: Sequence[int]) -> int | None:
        """Tell whether to wait, turn by turn, for another edit that is reading what a prompt begins with.

        Two that read the same take twice as long as one; afterwards the other begins with a copy.

        Returns:
            How many tokens have been read so far; None when there is nothing to wait for.
        """
        reader = self._loans.find_reader(label, prompt, self.reach(label, prompt))
        return None if reader is None else reader.target.offset

    def is_lent(self, label: str) -> bool:
        """Whether an edit is using a state."""
        return self._loans.has(label)

    def extend(
        self, label: str, target: KeepingTarget, prompt: Sequence[int], n_tokens: int, *, displaces: bool = True
    ) -> int:
        """Prefill some more of a prompt that nobody asked for yet.

        Args:
            label: whose state to extend.
            target: not used yet.
            prompt: all of it.
            n_tokens: tokens to feed, at least 1.
            displaces: others may have to go for it; otherwise it goes itself when memory is short.

        Returns:
            How many tokens of the prompt are still cold; the last one always is and does not count.

        Raises:
            EngineError: the model failed; nothing is kept of the document.
        """
        self.recall(label, target, displaces=displaces)
        state = self._states.pop(label, None)
        n_warm = 0 if state is None else target.resume(state.kept, prompt)
        start = n_warm + 1 if n_warm else 0
        end = min(n_warm + n_tokens + 1, len(prompt))
        if start < end:
            target.prefill(prompt[start:end])
        self.put(label, target.keep(end - 1), displaces=displaces)
        return len(prompt) - end

    def put(self, label: str, kept: Kept | None, *, displaces: bool = True) -> None:
        """Keep a state in the place of the one before; others go for it when memory is short, unless it goes itself."""
        self._states.pop(label, None)
        n_others = sum(state.n_bytes for state in self._states.values())
        if kept is not None and (displaces or n_others + kept.n_bytes <= self._limit):
            self._states[label] = _State(kept, kept.n_bytes, self._clock())
        self._fit()

    def recall(self, label: str, target: KeepingTarget, *, displaces: bool = True) -> None:
        """Bring a state back from disk when memory has none.

        Args:
            label: whose state.
            target: not used yet; it still is not then.
            displaces: as in `extend`.
        """
        if self._spill is not None and label not in self._states:
            kept = self._spill.read(label, target)
            if kept is not None:
                self.put(label, kept, displaces=displaces)

    def reach(self, label: str, prompt: Sequence[int]) -> int:
        """Count the tokens of a prompt that are warm."""
        state = self._states.get(label)
        return 0 if state is None else state.kept.reach(prompt)

    def bytes_of(self, label: str) -> int:
        """Return the memory of a state; 0 when it is not kept."""
        state = self._states.get(label)
        return 0 if state is None else state.n_bytes

    def forget(self, document: str) -> None:
        """Drop what is kept of a document."""
        self._indexes.forget(document)
        self._states.pop(document, None)
        if self._spill is not None:
            self._spill.forget(document)
        self._count()

    def expire(self, used_before: float) -> bool:
        """Let go of the states that were not used since a time, and say whether there were any."""
        old = [label for label, state in self._states.items() if state.used_at <= used_before]
        for label in old:
            self._let_go(label)
            self._indexes.drop_source(label)
        self._count()
        return bool(old)

    @property
    def oldest_use(self) -> float | None:
        """When the state that was used longest ago was used; None without a state."""
        return next((state.used_at for state in self._states.values()), None)

    def clear(self) -> None:
        """Let go of everything: the model is about to go."""
        for label in list(self._states):
            self._let_go(label)
        self._indexes.clear()
        self._count()

    def _find(self, label: str, target: KeepingTarget, prompt: Sequence[int]) -> Kept | None:
        """Take a state for a prompt: what is kept, or a copy of what an edit is using, or what is on disk."""
        if label not in self._states and self._loans.has(label):
            return self._loans.copy(label, target, prompt)
        self.recall(label, target)
        state = self._states.pop(label, None)
        return None if state is None else state.kept

    def _fit(self) -> None:
        n_bytes = sum(state.n_bytes for state in self._states.values())
        n_dropped = 0
        while n_bytes > self._limit and self._states:
            label = next(iter(self._states))
            n_bytes -= self._states[label].n_bytes
            n_dropped += 1
            self._let_go(label)
        self._counts = replace(self._counts, n_dropped=self._counts.n_dropped + n_dropped)
        self._count()

    def _let_go(self, label: str) -> None:
        state = self._states.pop(label)
        _LOG.debug("the KV of %s goes (%d bytes)", label, state.n_bytes)
        if self._spill is not None:
            self._spill.write(label, state.kept)

    def _count(self) -> None:
        self._counts = replace(
            self._counts,
            n_bytes=sum(state.n_bytes for state in self._states.values()),
            limit_bytes=self._limit,
            n_states=len(self._states),
            spill=self._spill.counts if self._spill is not None else self._counts.spill,
            documents=tuple((label, state.kept.n_tokens, state.n_bytes) for label, state in self._states.items()),
        )
