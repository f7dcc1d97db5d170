"""How jobs share the model in memory: whether their rounds are one turn, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from plgd.engine.together import Together

__all__ = ("Sharing", "SharingCounts")

# After a turn of several jobs in which every pass was faster alone, so many turns go by before as many jobs share one
# again: whoever comes meanwhile waits for one round and not for all of theirs. Contexts and drafts change, so it is
# tried again. More jobs, or fewer, may share all the while: two rows seldom fill a device on which four do.
_N_SINGLE_TURNS: Final = 16
_FASTER_ALONE: Final = "passes of one edit each were faster"


@dataclass(frozen=True, slots=True)
class SharingCounts:
    """Counts since the model was loaded; replaced as a whole, read by anybody.

    Attributes:
        n_turns: turns of one job.
        n_joint_turns: turns in which several jobs made a round.
        n_joint_rows: jobs in all of those together.
        n_joint_passes: passes of the model that several of them shared.
        most_rows: most jobs in one joint turn.
        turns_because: why rounds of several jobs are turns of one job each; empty while they are joint, and before
            there were several.
    """

    n_turns: int = 0
    n_joint_turns: int = 0
    n_joint_rows: int = 0
    n_joint_passes: int = 0
    most_rows: int = 0
    turns_because: str = ""


class Sharing:
    """Decides for one model whether the rounds of several jobs are one turn. Used on the worker's thread.

    Args:
        together: the model's.

    Attributes:
        counts: what came of turns.
    """

    def __init__(self, together: Together) -> None:
        self._together = together
        self._is_known = False  # whether the model can share passes
        self._waits: dict[int, int] = {}  # jobs of a turn -> turns of one job before so many share one again
        self._n_apart = 0
        self.counts = SharingCounts()

    def shares(self, n_jobs: int) -> bool:
        """Tell whether the rounds of so many jobs are one turn."""
        return self._is_known and not self._together.refusal and n_jobs not in self._waits

    def note_turn(self, n_jobs: int, n_running: int) -> None:
        """Count a turn and decide anew. With several running jobs, the first time may run the model.

        Args:
            n_jobs: jobs that had part in it.
            n_running: jobs that run now.
        """
        found, before, was_apart = self._together.counts, self.counts, False
        if n_jobs == 1:
            self._waits = {n: left - 1 for n, left in self._waits.items() if left > 1}
            self.counts = replace(before, n_turns=before.n_turns + 1)
        else:
            was_apart = found.n_joint_passes == before.n_joint_passes and found.n_apart > self._n_apart
            if was_apart:
                self._waits[n_jobs] = _N_SINGLE_TURNS
            self.counts = replace(
                before,
                n_joint_turns=before.n_joint_turns + 1,
                n_joint_rows=before.n_joint_rows + n_jobs,
                n_joint_passes=found.n_joint_passes,
                most_rows=max(before.most_rows, n_jobs),
            )
        self._n_apart = found.n_apart
        if n_running > 1:
            self._is_known = True
            is_apart = was_apart if n_jobs > 1 else bool(self._waits)
            because = self._together.refusal or (_FASTER_ALONE if is_apart else "")
            self.counts = replace(self.counts, turns_because=because)
