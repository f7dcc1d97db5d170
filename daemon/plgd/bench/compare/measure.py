"""Times arms against each other on one workload."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Mapping, Sequence

import msgspec

from plgd.bench.compare.arms import Arm, Reply
from plgd.bench.options import PLAIN
from plgd.bench.results import ArmResult, WorkloadResult

__all__ = ("find_divergence", "geometric_means", "measure")

# Gets the arm's name and the number of the repeat; 0 is the untimed first call.
OnCall = Callable[[str, int], None]


def measure(
    arms: Sequence[Arm],
    prompt: Sequence[int],
    *,
    max_tokens: int,
    n_repeats: int,
    recorded: bool = False,
    on_call: OnCall = lambda _name, _repeat: None,
) -> WorkloadResult:
    """Run every arm once untimed and then `n_repeats` times, interleaved.

    Each repeat runs all arms, each time beginning with another one, so that a slow minute of the machine meets all of
    them and none always runs behind the same neighbour.

    Args:
        arms: one of them is `plain`.
        prompt: its tokens.
        max_tokens: the longest reply.
        n_repeats: timed calls of each arm, at least 1.
        recorded: whether the replies are recorded; for the result.
        on_call: is told before each call.

    Raises:
        ValueError: there is no plain arm.
        EngineError: the model failed.
    """
    if not any(arm.name == PLAIN for arm in arms):
        raise ValueError(f"nothing can be compared without the arm {PLAIN!r}")
    first: dict[str, Reply] = {}
    for arm in arms:
        on_call(arm.name, 0)
        first[arm.name] = arm.reply(prompt, max_tokens)
    timed: dict[str, list[Reply]] = {arm.name: [] for arm in arms}
    for repeat in range(n_repeats):
        start = repeat % len(arms)
        for arm in (*arms[start:], *arms[:start]):
            on_call(arm.name, repeat + 1)
            gc.collect()
            timed[arm.name].append(arm.reply(prompt, max_tokens))
    return WorkloadResult(
        recorded=recorded,
        n_prompt_tokens=len(prompt),
        max_tokens=max_tokens,
        arms={arm.name: _judge([first[arm.name], *timed[arm.name]], first[PLAIN].tokens, timed[PLAIN]) for arm in arms},
    )


def _judge(replies: Sequence[Reply], reference: Sequence[int], plain: Sequence[Reply]) -> ArmResult:
    """Compare an arm's replies, the untimed one first, with plain's tokens and plain's timed replies."""
    timed = replies[1:]
    rates = [reply.tokens_per_s for reply in timed]
    plain_rates = [reply.tokens_per_s for reply in plain]
    divergences = [at for reply in replies if (at := find_divergence(reply.tokens, reference)) is not None]
    stats = timed[-1].stats
    return ArmResult(
        tokens_per_s=tuple(rates),
        speedup=statistics.median(rates) / statistics.median(plain_rates),
        paired_speedups=tuple(sorted(rate / of_plain for rate, of_plain in zip(rates, plain_rates, strict=True))),
        identical_to_plain=not divergences,
        diverges_at=min(divergences, default=None),
        n_tokens=len(timed[-1].tokens),
        ttft_ms=tuple(reply.ttft_ms for reply in timed),
        decode_ms=tuple(reply.decode_ms for reply in timed),
        counters={} if stats is None else msgspec.to_builtins(stats, str_keys=True),
    )


def find_divergence(tokens: Sequence[int], reference: Sequence[int]) -> int | None:
    """Return the first place where two replies differ, their ends included; None when they are the same."""
    for place, (token, expected) in enumerate(zip(tokens, reference, strict=False)):
        if token != expected:
            return place
    return None if len(tokens) == len(reference) else min(len(tokens), len(reference))


def geometric_means(workloads: Mapping[str, WorkloadResult]) -> dict[str, float]:
    """Return each arm's geometric mean of its speed-ups."""
    speedups: dict[str, list[float]] = {}
    for workload in workloads.values():
        for name, arm in workload.arms.items():
            speedups.setdefault(name, []).append(arm.speedup)
    return {name: statistics.geometric_mean(values) for name, values in speedups.items()}
