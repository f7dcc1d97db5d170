"""What joint rounds could be worth at best, by the table of step costs, for the rounds that were run."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from plgd.engine.cost import StepCosts
from plgd.protocol.edits import EditResult

__all__ = ("RunRound", "SoloEdit", "bound_of", "solo_edit")


@dataclass(frozen=True, slots=True)
class RunRound:
    """A round that was run: its verify width, and the tokens before it."""

    width: int
    n_context: int


@dataclass(frozen=True, slots=True)
class SoloEdit:
    """An edit that was carried out with nothing else going on.

    Attributes:
        rounds: those of its reply.
        other_ms: what it took besides them: the prompt, the way to the daemon and back.
    """

    rounds: tuple[RunRound, ...]
    other_ms: float


def solo_edit(result: EditResult, total_ms: float, costs: StepCosts) -> SoloEdit:
    """Take an answer apart.

    Args:
        result: with `drafts`.
        total_ms: as its client saw it.
        costs: the table.
    """
    widths = result.drafts.widths if result.drafts is not None else ()
    committed = [0] * (len(widths) + 1)
    for run in result.drafts.runs if result.drafts is not None else ():
        committed[run.round] += run.n_tokens
    n_context, rounds = result.stats.prompt_tokens, []
    for width, n_tokens in zip(widths, committed[1:], strict=True):
        rounds.append(RunRound(width, n_context))
        n_context += n_tokens
    # What its rounds really took is known as a whole: the decode time, and the first round, which is not in it.
    first_ms = _solo_ms(rounds[0], costs) if rounds else 0.0
    return SoloEdit(tuple(rounds), max(0.0, total_ms - result.stats.decode_ms - first_ms))


def bound_of(edits: Sequence[SoloEdit], n_clients: int, costs: StepCosts) -> tuple[float, float]:
    """Return how many times faster joint rounds could be than one edit after the other.

    Clients take edits from one list. While several decode, each step is one pass over the last tokens and drafts of all
    of them, which costs what the table says of their widths together, behind the context that their tokens see on
    average. Everything but rounds stays as it is, one after the other. An edit's first round is joint at once.

    Args:
        edits: in the order in which they are begun.
        n_clients: edits that go on at once.
        costs: the table.

    Returns:
        The bound for the rounds alone, and for whole edits.
    """
    solo_ms = sum(_solo_ms(each, costs) for edit in edits for each in edit.rounds)
    other_ms = sum(edit.other_ms for edit in edits)
    joint_ms = _joint_ms(edits, n_clients, costs)
    if not joint_ms:
        return 1.0, 1.0
    return solo_ms / joint_ms, (solo_ms + other_ms) / (joint_ms + other_ms)


def _joint_ms(edits: Sequence[SoloEdit], n_clients: int, costs: StepCosts) -> float:
    left = deque(deque(edit.rounds) for edit in edits if edit.rounds)
    lanes = [left.popleft() for _ in range(min(n_clients, len(left)))]
    joint_ms = 0.0
    while lanes:
        passes = [lane.popleft() for lane in lanes]
        width = sum(each.width for each in passes)
        n_context = sum(each.width * each.n_context for each in passes) // width
        joint_ms += _solo_ms(RunRound(width, n_context), costs)
        lanes = [lane for lane in lanes if lane]
        while left and len(lanes) < n_clients:
            lanes.append(left.popleft())
    return joint_ms


def _solo_ms(run: RunRound, costs: StepCosts) -> float:
    if run.width == 1:
        return costs.plain_ms(run.n_context)
    return costs.round_ms(run.width, run.n_context)
