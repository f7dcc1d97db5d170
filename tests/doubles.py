"""Doubles of the engine's interfaces. They keep the contracts of `plgd.engine.target` and `proposer` for real.

A double's cache is a chain of states, one for each fed token, so that dropping tokens is a real act that can be done
wrongly; a pipelined step really feeds its token before anyone asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from plgd.engine.cost import StepCosts
from plgd.engine.kept import KeepingTarget, Kept
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.stats import GovernorCounts
from plgd.engine.types import Outcome
from plgd.errors import EngineError, RollbackFailed
from plgd.text.overlap import common_prefix

__all__ = (
    "CostedTarget",
    "FailingTarget",
    "HistoryTarget",
    "KeptStates",
    "PlannedGovernor",
    "PlannedProposer",
    "ScriptedTarget",
    "StubbornTarget",
)

State = tuple[int, bool]


class KeptStates:
    """What a `HistoryTarget` keeps: the states behind some tokens, and the places that it can go back to."""

    def __init__(self, tokens: list[int], states: list[State], points: set[int], *, trims_far: bool) -> None:
        self.tokens = tokens
        self.states = states
        self.points = points
        self._trims_far = trims_far

    @property
    def n_tokens(self) -> int:
        return len(self.tokens)

    @property
    def n_bytes(self) -> int:
        return 100 * len(self.tokens)

    def reach(self, tokens: Sequence[int]) -> int:
        n = min(common_prefix(self.tokens, list(tokens)), len(tokens) - 1)
        return n if self._trims_far else max((point for point in self.points if point <= n), default=0)

    def save(self, path: Path, model_key: str) -> None:
        path.write_text(json.dumps([model_key, self.tokens, self.states, sorted(self.points), self._trims_far]))


class HistoryTarget:
    """Chooses each token by a hash of the whole history that it was fed: any missed rollback changes its output.

    Args:
        vocabulary: tokens are 0 to vocabulary - 1; a small one makes look-ups succeed by chance.
        seed: another seed, another text.
        context_limit: the longest history.
        trims_far: what it keeps can go back to any token; otherwise to the ends of prefilled slices only.

    Attributes:
        widths: the width of every pass in the order of their submission, prefill excluded.
        calls: the name of every call.
    """

    def __init__(
        self, *, vocabulary: int = 4, seed: int = 0, context_limit: int = 1 << 30, trims_far: bool = True
    ) -> None:
        self.widths: list[int] = []
        self.calls: list[str] = []
        self._vocabulary = vocabulary
        self._seed = seed
        self._limit = context_limit
        self._n_history = 0
        self._n_prompt = 0
        self._head = -1
        self._states: list[State] = []
        self._fed: list[int] = []
        self._points = {0}
        self._trims_far = trims_far
        self._head_is_fed = False
        self._last_choices: list[int] = []

    @property
    def offset(self) -> int:
        return max(self._n_history - 1, 0)

    @property
    def in_flight(self) -> bool:
        return self._head_is_fed

    @property
    def n_near_ties(self) -> int:
        return 0

    @property
    def context_limit(self) -> int:
        return self._limit

    @property
    def max_draft(self) -> int:
        return self._limit

    def prefill(self, tokens: Sequence[int]) -> None:
        self.calls.append("prefill")
        if not tokens or self._n_history + len(tokens) > self._limit:
            raise ValueError(f"{len(tokens)} tokens do not fit behind {self._n_history} of {self._limit}")
        if self._n_history and not self._head_is_fed:
            self._feed(self._head)
        self._n_history += len(tokens)
        self._n_prompt = self._n_history
        for token in tokens[:-1]:
            self._feed(token)
        self._points.add(self._n_history - 1)
        self._head = tokens[-1]
        self._head_is_fed = False
        self._last_choices = []

    def resume(self, kept: Kept, tokens: Sequence[int]) -> int:
        assert isinstance(kept, KeptStates)
        assert not self._n_history
        self.calls.append("resume")
        n = kept.reach(tokens)
        if n:
            self._states = kept.states[:n]
            self._fed = kept.tokens[:n]
            self._n_history = self._n_prompt = n + 1
            self._head = tokens[n]
            self._points = {0, *(point for point in kept.points if point <= n)}
        return n

    def load(self, path: Path, model_key: str) -> KeptStates:
        assert not self._n_history
        key, tokens, states, points, trims_far = json.loads(path.read_text())
        if key != model_key:
            raise ValueError("it is of another model")
        return KeptStates(tokens, [(mixed, is_on) for mixed, is_on in states], set(points), trims_far=trims_far)

    def copy(self, other: KeepingTarget, n: int) -> KeptStates | None:
        assert isinstance(other, HistoryTarget)
        assert not self._n_history
        other.calls.append("copy")
        return other._keep(n)

    def keep(self, n: int) -> KeptStates | None:
        self.calls.append("keep")
        return self._keep(n)

    def _keep(self, n: int) -> KeptStates | None:
        n = min(n, self._n_prompt - 1)
        if not self._trims_far:
            n = max(point for point in self._points if point <= max(n, 0))
        if n <= 0:
            return None
        points = {point for point in self._points if point <= n}
        return KeptStates(self._fed[:n], self._states[:n], points, trims_far=self._trims_far)

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        self.calls.append("verify")
        if self._n_history + len(draft) + 1 > self._limit:
            raise ValueError(f"no room for {len(draft)} drafted tokens behind {self._n_history} of {self._limit}")
        choices = self._choices(draft)
        self._last_choices = choices
        self._n_history += len(choices)
        self._head = choices[-1]
        self._head_is_fed = False
        return tuple(choices)

    def advance(self) -> int:
        self.calls.append("advance")
        if self._n_history + 1 > self._limit:
            raise ValueError(f"no room behind {self._n_history} of {self._limit}")
        self._head = self._choices(())[0]
        self._n_history += 1
        self._head_is_fed = False
        self._last_choices = []
        if self._n_history < self._limit:
            self.widths.append(1)
            self._feed(self._head)
            self._head_is_fed = True
        return self._head

    def rollback(self, n: int) -> None:
        self.calls.append("rollback")
        if not self._last_choices or not 0 <= n < len(self._last_choices):
            raise ValueError(f"rollback of {n} after a draft of {len(self._last_choices) - 1}")
        self._trim(n)
        self._n_history -= n
        self._head = self._last_choices[len(self._last_choices) - 1 - n]
        self._last_choices = []

    def _choices(self, draft: Sequence[int]) -> list[int]:
        choices: list[int] = []
        width = len(draft)
        if not self._head_is_fed:
            width += 1
            self._feed(self._head)
        if width:
            self.widths.append(width)
        choices.append(self._choose())
        for token in draft:
            self._feed(token)
            choices.append(self._choose())
        return choices

    def _feed(self, token: int) -> None:
        mixed = self._states[-1][0] if self._states else self._seed
        # Knuth's linear congruential step: every earlier token changes every later choice.
        mixed = (mixed * 6364136223846793005 + token * 2 + 1442695040888963407) & 0xFFFF_FFFF_FFFF_FFFF
        self._states.append((mixed, self._on_script(token)))
        self._fed.append(token)

    def _choose(self) -> int:
        return (self._states[-1][0] >> 33) % self._vocabulary

    def _on_script(self, token: int) -> bool:  # noqa: ARG002 - this target has no script
        return False

    def _trim(self, n: int) -> None:
        if n:
            del self._states[-n:]
            del self._fed[len(self._states) :]


class ScriptedTarget(HistoryTarget):
    """Replies with a script as long as it was fed just that; once misled it speaks by the hash of its history.

    Args:
        reply: the script; end tokens follow it.
        end: the token after the script, again and again.
    """

    def __init__(self, reply: Sequence[int], *, end: int = 0, context_limit: int = 1 << 30) -> None:
        super().__init__(vocabulary=1 << 20, context_limit=context_limit)
        self._reply = list(reply)
        self._end = end

    def _on_script(self, token: int) -> bool:
        place = len(self._states) - self._n_prompt
        if place < 0:
            return True
        was_on = not self._states or self._states[-1][1]
        return was_on and token == (self._reply[place] if place < len(self._reply) else self._end)

    def _choose(self) -> int:
        place = len(self._states) - self._n_prompt
        if not self._states[-1][1]:
            return super()._choose()
        return self._reply[place] if place < len(self._reply) else self._end


class CostedTarget(ScriptedTarget):
    """A scripted target whose rounds take the time that a table says, on a clock of its own.

    A pass behind a step in flight saves the bubble that a synchronous round begins with.

    Attributes:
        elapsed_ms: the time of all rounds so far.
    """

    def __init__(self, reply: Sequence[int], costs: StepCosts, *, end: int = 0) -> None:
        super().__init__(reply, end=end)
        self.elapsed_ms = 0.0
        self._costs = costs

    def clock(self) -> float:
        """Return the seconds that all rounds so far took."""
        return self.elapsed_ms / 1000.0

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        n_context, costs = self._n_history, self._costs
        if not self._head_is_fed:
            self.elapsed_ms += costs.round_ms(len(draft) + 1, n_context)
        else:
            self.elapsed_ms += costs.plain_ms(n_context)
            if draft:
                bubble_ms = costs.round_ms(1, n_context) - costs.plain_ms(n_context)
                self.elapsed_ms += costs.round_ms(len(draft), n_context) - bubble_ms
        return super().verify(draft)

    def advance(self) -> int:
        n_context, costs = self._n_history, self._costs
        self.elapsed_ms += costs.plain_ms(n_context) if self._head_is_fed else costs.round_ms(1, n_context)
        return super().advance()


class StubbornTarget(HistoryTarget):
    """Stops trimming once it was fed `trims_until` tokens, as a full rotating cache does.

    Args:
        trims_until: tokens fed after which nothing is dropped any more.
        silent: break the contract and say nothing, as mlx-lm's `trim_prompt_cache` would.
    """

    def __init__(self, trims_until: int, *, silent: bool = False, vocabulary: int = 4, seed: int = 0) -> None:
        super().__init__(vocabulary=vocabulary, seed=seed)
        self._trims_until = trims_until
        self._silent = silent

    @property
    def offset(self) -> int:
        return max(len(self._states) - self._head_is_fed, 0)

    def _trim(self, n: int) -> None:
        if len(self._states) <= self._trims_until:
            super()._trim(n)
        elif n and not self._silent:
            raise RollbackFailed.of(n, 0, "a full cache")


class FailingTarget(HistoryTarget):
    """Raises in its k-th call, counted from 1 over prefill, verify, advance and rollback."""

    def __init__(self, fails_in_call: int, *, vocabulary: int = 4, seed: int = 0) -> None:
        super().__init__(vocabulary=vocabulary, seed=seed)
        self._calls_left = fails_in_call

    def prefill(self, tokens: Sequence[int]) -> None:
        self._count("prefill")
        super().prefill(tokens)

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        self._count("verify")
        return super().verify(draft)

    def advance(self) -> int:
        self._count("advance")
        return super().advance()

    def rollback(self, n: int) -> None:
        self._count("rollback")
        super().rollback(n)

    def _count(self, what: str) -> None:
        self._calls_left -= 1
        if not self._calls_left:
            raise EngineError.during(what, "the double was told to fail")


class PlannedProposer:
    """Knows how the history goes on and proposes from it, right up to a chosen place and wrong there.

    Args:
        history: the prompt and what the target will say.
        plan: per proposal, how many tokens and which of them (from 0) is wrong; None: all are right. Repeats.
    """

    def __init__(self, history: Sequence[int], plan: Sequence[tuple[int, int | None]]) -> None:
        self._history = list(history)
        self._plan = list(plan)
        self._n_seen = 0
        self._turn = 0

    def extend(self, tokens: Sequence[int]) -> None:
        self._n_seen += len(tokens)

    def propose(self, max_tokens: int) -> Draft:
        length, wrong_at = self._plan[self._turn % len(self._plan)] if self._plan else (0, None)
        self._turn += 1
        tokens = self._history[self._n_seen : self._n_seen + min(length, max_tokens)]
        if wrong_at is not None and wrong_at < len(tokens):
            tokens[wrong_at] += 1
        return Draft(tuple(tokens), "planned", self._n_seen) if tokens else NO_DRAFT


class PlannedGovernor:
    """Verifies and pipelines as planned, one entry (most tokens, pipelined if plain) a round. Repeats."""

    policy = "planned"

    def __init__(self, plan: Sequence[tuple[int, bool]]) -> None:
        self.counts = GovernorCounts()
        self.outcomes: list[Outcome] = []
        self._plan = list(plan)

    @property
    def pipeline_after(self) -> int:
        return 0 if self._turn()[1] else 1 << 30

    def limit(self) -> int:
        return self._turn()[0]

    def choose(self, draft: Draft, n_history: int, *, in_flight: bool) -> int:  # noqa: ARG002 - as planned
        return min(len(draft.tokens), self._turn()[0])

    def observe(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    def _turn(self) -> tuple[int, bool]:
        return self._plan[len(self.outcomes) % len(self._plan)] if self._plan else (0, False)
