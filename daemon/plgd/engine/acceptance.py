"""Acceptance: how much of a draft the target agrees with."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ("count_accepted",)


def count_accepted(draft: Sequence[int], choices: Sequence[int]) -> int:
    """Count the draft's longest prefix that the target chose as well.

    A draft is a fixed guess, so keeping it while the target's own draw equals it is the exact rejection rule for
    sampled tokens too (Leviathan et al. 2023 with a one-hot proposal): the reply is distributed as the target's own.

    Args:
        draft: k proposed tokens.
        choices: k + 1 tokens; at position i the target's choice after `draft[:i]`.

    Returns:
        m, 0 to k: `draft[:m]` and `choices[m]` are to be committed.

    Raises:
        ValueError: the target did not choose k + 1 tokens.
    """
    if len(choices) != len(draft) + 1:
        raise ValueError(f"{len(draft)} drafted tokens need {len(draft) + 1} choices, the target made {len(choices)}")
    for n_accepted, (proposed, chosen) in enumerate(zip(draft, choices, strict=False)):
        if proposed != chosen:
            return n_accepted
    return len(draft)
