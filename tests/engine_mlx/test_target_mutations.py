"""Deliberate defects in the target and its rollback: each must be noticed, by replies that drafts may not change.

A defect that only makes plgd slower is not among them.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from mlx_lm.models.cache import KVCache, make_prompt_cache

from plgd.engine.mlx import rollback as rollback_module
from plgd.engine.mlx.rollback import CacheRollback
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.mlx.target import MlxTarget
from plgd.errors import EngineError
from replies import drafted_reply, plain_reply
from tiny_configs import make_config
from tiny_models import make_network

# Rows only; windows that fill up, and rows; states, and rows.
MODELS = ("qwen3", "gemma3_text", "lfm2")
PROMPT = [(7 * i * i + 3 * i + 1) % 256 for i in range(11)]
N_REPLY = 26
EMPTY = -1
SHAPES = FixedShapes(widths=(4, 8, 16), kv_step=32)

MUTATIONS: list[tuple[Callable[..., object], str, str]] = [
    # How much of the block stays
    (MlxTarget.rollback, "n_fed = block.n_before + n_accepted +", "n_fed = block.n_before + n_accepted + 1 +"),
    (MlxTarget.rollback, "self._rollback.keep(n_fed)", "self._rollback.keep(n_fed - 1) and n_fed"),
    (MlxTarget.rollback, "self._history[-n - 1 :]", "self._history[-n:]"),
    (MlxTarget.rollback, "self._unfed = history[held:]", "self._unfed = history[held + 1:]"),
    (MlxTarget.rollback, "self._unfed = history[held:]", "self._unfed = history[-1:]"),
    (MlxTarget.rollback, "block.choices[n_accepted]]", "block.choices[-1]]"),
    # The step in flight
    (MlxTarget.rollback, "block.choices[1:2]", "block.choices[0:1]"),
    (MlxTarget.rollback, "if known_further else None", "if block.joined else None"),
    (MlxTarget.rollback, "known_further = block.joined and n_accepted == 0", "known_further = n_accepted == 0"),
    (MlxTarget._feed_block, "_join(before, following, draft[1:])", "_join(before, mx.array(draft[:1]), draft[1:])"),
    (MlxTarget.verify, "if following is None or k else [*self._unfed, choices[-1]]", "if True else []"),
    (MlxTarget.verify, "self._next = None", "pass"),
    (MlxTarget.advance, "self._next, self._alone = following, False", "self._next, self._alone = None, False"),
    (MlxTarget.advance, "if following is None else []", "if True else []"),
    (MlxTarget.prefill, "self._next, self._alone = None, False", "self._alone = False"),
    (MlxTarget.prefill, "[*fed, tokens[-1]]", "[tokens[-1]]"),
    # Caches that go back
    (CacheRollback.keep, "min(self._width - n, leaf.grown)", "min(self._width - n - 1, leaf.grown)"),
    (CacheRollback.keep, "self._width = n", "pass"),
    (CacheRollback.keep, "restore_state(leaf.cache, leaf.snapshot)", "pass"),
    (CacheRollback.keep, "trim_rows(leaf.cache, leaf.grown, leaf.where)", "pass"),
    (rollback_module._drops_its_tail, "cache.offset + width < cache.max_size", "cache.offset < cache.max_size"),
    (rollback_module._drops_its_tail, "cache.offset + width < cache.max_size", "True"),
    # Filled blocks
    (MlxTarget._feed, "self._rollback.keep(width)", "pass"),
    (MlxTarget._feed, "logits[:, :width, :]", "logits"),
]


# A network, its shapes, the longest tail of a prompt that waits for the first round, the reply that it gives without
# drafts and the one that it gives to a second prompt.
Case = tuple[nn.Module, FixedShapes | None, int, list[int], list[int]]


class Noticed(AssertionError):
    """A check found the defect."""


@pytest.fixture(scope="module")
def cases() -> Iterator[list[Case]]:
    """Small models with what they say."""
    mx.disable_compile()
    made: list[Case] = []
    for model_type in MODELS:
        network = make_network(make_config(model_type))
        target = start(network, None, 0)
        target.prefill(PROMPT)
        reply = plain_reply(target, N_REPLY)
        target.prefill([5, 6])
        made.append((network, None, 0, reply, plain_reply(target, 4)))
    network, _, _, reply, second = made[0]
    yield [*made, (network, SHAPES, 0, reply, second), (network, None, 99, reply, second)]
    mx.enable_compile()


def start(network: nn.Module, shapes: FixedShapes | None, longest_tail: int) -> MlxTarget:
    """Start an empty sequence."""

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        logits: mx.array = network(tokens, cache=caches)
        return logits

    return MlxTarget(forward, make_prompt_cache(network), context_limit=512, shapes=shapes, longest_tail=longest_tail)


def check(
    network: nn.Module, shapes: FixedShapes | None, longest_tail: int, reply: list[int], second: list[int]
) -> None:
    """Decode with every kind of draft behind every kind of step, then go on with a second prompt."""
    plans: list[list[int | None]] = [[7], [0], [3], [None, 0], [None, None, 2, 0], [None, 0, EMPTY, 3, None]]
    rows_only = all(type(cache) is KVCache for cache in make_prompt_cache(network))
    for plan in plans:
        turn = iter(plan * N_REPLY)

        def draft(done: list[int], turn: Iterator[int | None] = turn) -> list[int] | None:
            n_right = next(turn)
            if n_right is None:
                return None
            if n_right == EMPTY:
                return []
            right = reply[len(done) : len(done) + 7]
            return [*right[:n_right], *((token + 1) % 256 for token in right[n_right:])]

        target = start(network, shapes, longest_tail)
        target.prefill(PROMPT)
        if reply != drafted_reply(target, N_REPLY, draft):
            raise Noticed(plan)
        if rows_only and target.counts.n_replayed:
            raise Noticed(plan)
    for in_flight in (False, True):
        target = start(network, shapes, longest_tail)
        target.prefill(PROMPT)
        said = [target.advance() if in_flight else target.verify(())[0] for _ in range(N_REPLY)]
        target.prefill([5, 6])
        if said != reply or second != [target.advance() for _ in second]:
            raise Noticed(in_flight)


def check_all(cases: list[Case]) -> None:
    """Check every case."""
    for case in cases:
        check(*case)


def test_the_intact_target_passes(cases: list[Case]) -> None:
    """Without a defect, nothing is noticed."""
    check_all(cases)


@pytest.mark.parametrize(("function", "old", "new"), MUTATIONS, ids=[f"{f.__name__}: {new}" for f, _, new in MUTATIONS])
def test_a_defect_is_noticed(
    cases: list[Case],
    monkeypatch: pytest.MonkeyPatch,
    function: Callable[..., object],
    old: str,
    new: str,
) -> None:
    """Each defect changes a reply, breaks a count or raises (reference A16)."""
    source = textwrap.dedent(inspect.getsource(function))
    assert 1 == source.count(old)
    module = sys.modules[function.__module__]
    made: dict[str, Any] = {}
    exec("from __future__ import annotations\n" + source.replace(old, new), vars(module), made)  # noqa: S102
    owner = getattr(module, function.__qualname__.rpartition(".")[0] or "", module)
    monkeypatch.setattr(owner, function.__name__, made[function.__name__])
    with pytest.raises((Noticed, AssertionError, AttributeError, EngineError, LookupError, TypeError, ValueError)):
        check_all(cases)
