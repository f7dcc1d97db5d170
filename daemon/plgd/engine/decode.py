"""The decode loop's body: one round, from proposal to rollback."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from plgd.engine.acceptance import count_accepted
from plgd.engine.governor import Governor
from plgd.engine.proposer import NO_DRAFT, Draft, Proposer
from plgd.engine.stats import Stats
from plgd.engine.stops import Ending
from plgd.engine.target import Target
from plgd.engine.types import Outcome, Round, StopReason
from plgd.errors import EngineError, RollbackFailed

__all__ = ("Decoder", "check_in_step")

# A round's time says something about the target only if nearly all of it was spent in the round.
MAX_GAP_SHARE = 0.25


def check_in_step(target: Target, n_history: int, asked: int = 0) -> None:
    """Compare the target's offset with the history; a rollback that dropped too little shows here.

    Raises:
        RollbackFailed: they are out of step.
    """
    excess = target.offset - (n_history - 1)
    if excess:
        raise RollbackFailed.of(asked, asked - excess, "the target (its offset disagrees)")


class Decoder:
    """Runs the rounds of one reply.

    Args:
        target: the model, prefilled.
        proposer: what guesses; has seen the history.
        governor: what decides how much is drafted.
        tokens: the history; committed tokens are appended to it.
        stats: where rounds are counted.
        ending: where the reply ends.
        clock: seconds from any start.
    """

    def __init__(
        self,
        target: Target,
        proposer: Proposer,
        governor: Governor,
        tokens: list[int],
        stats: Stats,
        ending: Ending,
        clock: Callable[[], float],
    ) -> None:
        self._target = target
        self._proposer = proposer
        self._governor = governor
        self._tokens = tokens
        self._stats = stats
        self._ending = ending
        self._clock = clock
        self._n_plain = 0
        self._ended_at: float | None = None

    def run_round(self) -> Round:
        """Run one round and commit what it gives.

        Raises:
            EngineError: the target failed or broke its contract; nothing is to be trusted afterwards.
        """
        if self._ending.room < 1:
            return Round((), 0, 0, NO_DRAFT.proposer, StopReason.CONTEXT)
        started_at = self._clock()
        n_history = len(self._tokens)
        in_flight = self._target.in_flight
        proposal = self._propose()
        n_drafted = 0
        if proposal.tokens:
            n_drafted = self._governor.choose(proposal, n_history, in_flight=in_flight)
        pipelined = not n_drafted and self._n_plain >= self._governor.pipeline_after
        draft = proposal.tokens[:n_drafted]
        choices = (self._target.advance(),) if pipelined else self._target.verify(draft)
        draft = draft[: max(0, len(choices) - 1)]  # the target may have cut it
        was_cut, n_drafted = len(draft) < n_drafted, len(draft)
        committed, n_accepted, stopped = self._accept(draft, choices)
        self._tokens.extend(committed)
        if not pipelined and len(committed) <= n_drafted:
            self._target.rollback(n_drafted - (len(committed) - 1))
        check_in_step(self._target, len(self._tokens), asked=n_drafted - (len(committed) - 1))
        self._proposer.extend(committed)
        self._n_plain = 0 if n_drafted else self._n_plain + 1
        elapsed_ms = self._measure(started_at)
        outcome = Outcome(
            draft=proposal,
            n_drafted=n_drafted,
            n_accepted=n_accepted,
            tokens=committed,
            n_history=n_history,
            pipelined=pipelined,
            in_flight=in_flight,
            elapsed_ms=None if was_cut else elapsed_ms,
        )
        self._governor.observe(outcome)
        self._stats.count(outcome)
        self._stats.n_near_ties = self._target.n_near_ties
        name = proposal.proposer if n_drafted else NO_DRAFT.proposer
        return Round(committed, n_drafted, n_accepted, name, stopped, proposal.shares_of(n_accepted))

    def _propose(self) -> Draft:
        # One token of the room is left for the bonus.
        n_tokens = min(self._governor.limit(), self._target.max_draft, self._ending.room - 1)
        return self._ending.cut(self._proposer.propose(n_tokens)) if n_tokens > 0 else NO_DRAFT

    def _accept(self, draft: Sequence[int], choices: Sequence[int]) -> tuple[tuple[int, ...], int, StopReason | None]:
        """Find what the round commits.

        The ending sees every token that would be committed before anything is rolled back, so one rollback drops the
        rejected tail and whatever stands behind a stop.
        """
        try:
            n_accepted = count_accepted(draft, choices)
        except ValueError as error:
            raise EngineError.during("a round", str(error)) from error
        for n_committed, token in enumerate(choices[: n_accepted + 1], start=1):
            stopped = self._ending.push(token)
            if stopped is not None:
                return tuple(choices[:n_committed]), min(n_accepted, n_committed), stopped
        return tuple(choices[: n_accepted + 1]), n_accepted, None

    def _measure(self, started_at: float) -> float | None:
        previous, now = self._ended_at, self._clock()
        self._ended_at = now
        if previous is None or started_at - previous > MAX_GAP_SHARE * (now - previous):
            return None
        return 1000.0 * (now - previous)
