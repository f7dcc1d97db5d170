"""The target on mlx: one sequence over one of mlx-lm's models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import mlx.core as mx

from plgd.engine.mlx.rollback import CacheRollback, RollbackMethod
from plgd.engine.mlx.sampling import Greedy, Sampler
from plgd.engine.mlx.shapes import FixedShapes
from plgd.errors import EngineError

__all__ = ("Forward", "MlxTarget", "TargetCounts")

# Tokens [B, T] and the caches in, logits [B, T, V] out.
Forward = Callable[[mx.array, list[Any]], mx.array]

# A replay rides along at the head of the next block; from here on it costs more there than in a pass of its own.
MAX_REPLAY: Final = 32

# mlx keeps freed buffers for reuse; as the context grows their sizes go stale. mlx-lm lets go as often.
PASSES_PER_CLEAR: Final = 256


@dataclass(slots=True)
class TargetCounts:
    """What the target did.

    Attributes:
        n_passes: passes of the model, prefill left out.
        n_joined: blocks that were fed behind an in-flight step, so that the pipeline was not drained.
        n_replayed: tokens fed a second time after a snapshot was restored.
    """

    n_passes: int = 0
    n_joined: int = 0
    n_replayed: int = 0


@dataclass(frozen=True, slots=True)
class _Block:
    """The last verify, as far as a rollback needs it.

    Attributes:
        tokens: all tokens that the pass fed, a replay and the head in front.
        n_before: how many of them come before the draft.
        k: the length of the draft.
        n_agreed: how many tokens of the draft, from its start, equal their choices.
        choices: k + 1 tokens.
        joined: whether an in-flight token was fed in the place of `draft[0]`.
    """

    tokens: list[int]
    n_before: int
    k: int
    n_agreed: int
    choices: list[int]
    joined: bool


class MlxTarget:
    """Implements `plgd.engine.target.Target`.

    Between two calls the state is this: the caches hold the history except its tail `_unfed`. The tail is just the
    head as a rule; it is empty while a submitted step has fed the head already, and longer after a snapshot was
    restored. `_next` is the choice after the head where one was submitted or is known.

    Args:
        forward: runs the model.
        caches: fresh caches, one per layer; the target owns them.
        context_limit: the longest history, in tokens.
        sampler: takes tokens from logits; greedy when left out.
        shapes: the widths that passes are filled up to; any width when left out.
    """

    def __init__(
        self,
        forward: Forward,
        caches: list[Any],
        *,
        context_limit: int,
        sampler: Sampler | None = None,
        shapes: FixedShapes | None = None,
    ) -> None:
        self._forward = forward
        self._caches = caches
        self._context_limit = context_limit
        self._sampler = Greedy() if sampler is None else sampler
        self._shapes = shapes
        self._rollback = CacheRollback(caches)
        self._n_history = 0
        self._unfed: list[int] = []
        self._next: mx.array | None = None
        self._block: _Block | None = None
        self.counts = TargetCounts()

    @property
    def offset(self) -> int:
        """Tokens fed to the model, those that a replay will feed again included."""
        return max(0, self._n_history - 1)

    @property
    def in_flight(self) -> bool:
        """Whether the choice after the head is submitted or known."""
        return self._next is not None

    @property
    def context_limit(self) -> int:
        """The longest history, in tokens."""
        return self._context_limit

    def rollback_method(self, width: int) -> RollbackMethod:
        """Say how a block of this width would be rolled back now."""
        return self._rollback.method(width)

    def prefill(self, tokens: Sequence[int]) -> None:
        """Append known tokens in one pass; progress and cancellation go slice by slice, so it waits for the pass."""
        if not tokens:
            raise ValueError("prefill needs at least one token")
        self._begin(len(tokens))
        fed = [*self._unfed, *tokens[:-1]]
        with _engine_errors("prefill"):
            if fed:
                self._feed(mx.array(fed, mx.int32))
                mx.eval([cache.state for cache in self._caches])
                mx.clear_cache()
        self._n_history += len(tokens)
        self._unfed, self._next = [tokens[-1]], None

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        """Feed the head and the draft; behind an in-flight step, feed that step's token in the place of draft[0]."""
        k = len(draft)
        self._begin(k + 1)
        following = self._next
        with _engine_errors("a verify pass"):
            if following is None:
                fed = self._replay([*self._unfed, *draft])
                choices = self._read(self._run(mx.array(fed, mx.int32), k + 1, self._n_history, may_drop=True))
            elif k:
                before = self._replay(self._unfed)
                block = self._run(_join(before, following, draft[1:]), k, self._n_history + 1, may_drop=True)
                choices = self._read(mx.concatenate([following, block]))
                fed = [*before, *draft]  # draft[0] is kept only where it equals the token that was fed for it
                self.counts.n_joined += 1
            else:
                fed, choices = self._unfed, self._read(following)
        n_agreed = next((i for i in range(k) if draft[i] != choices[i]), k)
        self._block = _Block(fed, len(fed) - k, k, n_agreed, choices, joined=following is not None and k > 0)
        self._unfed = [choices[-1]] if following is None or k else [*self._unfed, choices[-1]]
        self._next = None
        self._n_history += k + 1
        return choices

    def advance(self) -> int:
        """Return the next token after the step that follows it was submitted."""
        self._begin(1)
        with _engine_errors("a step"):
            token = self._next
            if token is None:
                token = self._run(mx.array(self._unfed, mx.int32), 1, self._n_history)
                _submit(token)
                self._unfed = []
            following: mx.array | None = None
            if self._n_history + 2 <= self._context_limit:
                following = self._run(_join(self._unfed, token, ()), 1, self._n_history + 1)
                _submit(following)
            (known,) = self._read(token)
        self._unfed = [*self._unfed, known] if following is None else []
        self._next = following
        self._n_history += 1
        return known

    def rollback(self, n: int) -> None:
        """Drop the last n tokens of the last verify's draft; see `plgd.engine.target.Target`."""
        block = self._block
        if block is None:
            raise ValueError("rollback follows verify")
        if not 0 <= n <= block.k:
            raise ValueError(f"rollback of {n} tokens after a draft of {block.k}")
        n_accepted = block.k - n
        if n_accepted > block.n_agreed:
            raise ValueError(f"{n_accepted} drafted tokens would stay, but only {block.n_agreed} equal their choices")
        self._block = None
        if n == 0:
            self._rollback.release()
            return
        # Behind an in-flight step the pass has fed the first choice itself, and knows what follows it.
        known_further = block.joined and n_accepted == 0
        n_fed = block.n_before + n_accepted + (1 if known_further else 0)
        held = self._rollback.keep(n_fed)
        history = [*block.tokens[: block.n_before + n_accepted], block.choices[n_accepted]]
        self.counts.n_replayed += n_fed - held
        self._unfed = history[held:]
        self._next = mx.array(block.choices[1:2], mx.int32) if known_further else None
        self._n_history -= n

    def _begin(self, n_new: int) -> None:
        """Close the last verify and check that the history may grow by `n_new` tokens."""
        if self._block is not None and self._block.n_agreed < self._block.k:
            raise ValueError("the part of the draft that differs from its choices must be rolled back first")
        if self._n_history + n_new > self._context_limit:
            raise ValueError(f"{self._n_history} + {n_new} tokens exceed the context limit of {self._context_limit}")
        self._block = None
        self._rollback.release()

    def _replay(self, tokens: list[int]) -> list[int]:
        """Feed a long replay in a pass of its own and return what is left for the block."""
        n = len(self._unfed) - 1
        if n <= MAX_REPLAY:
            return tokens
        self._feed(mx.array(tokens[:n], mx.int32))
        return tokens[n:]

    def _run(self, tokens: mx.array, n: int, position: int, *, may_drop: bool = False) -> mx.array:
        """Feed tokens [T] and return the choices [n] after the last n of them; the first will stand at `position`."""
        self.counts.n_passes += 1
        if self.counts.n_passes % PASSES_PER_CLEAR == 0:
            mx.clear_cache()
        logits = self._feed(tokens, may_drop=may_drop)
        return self._sampler.choose(logits[:, -n:, :], position).squeeze(0)

    def _feed(self, tokens: mx.array, *, may_drop: bool = False) -> mx.array:
        """Feed tokens [T] and return the logits [1, T, V]; with `may_drop` the caches can go back afterwards."""
        width = filled = tokens.size
        if self._shapes is not None and not self._rollback.method(self._shapes.fill(width)).by_snapshot:
            filled = self._shapes.fill(width)
        if may_drop or filled > width:
            self._rollback.begin(filled)
        if filled == width:
            return self._forward(tokens[None], self._caches)
        filling = mx.zeros(filled - width, mx.int32)
        logits = self._forward(mx.concatenate([tokens, filling])[None], self._caches)
        self._rollback.keep(width)
        if not may_drop:
            self._rollback.release()
        return logits[:, :width, :]

    def _read(self, choices: mx.array) -> list[int]:
        """Wait for choices [n]: the one read of a round."""
        values = cast("list[int]", choices.tolist())
        if min(values) < 0:
            raise EngineError.during("a round", "its logits are not numbers (NaN)")
        return values


def _join(before: list[int], token: mx.array, after: Sequence[int]) -> mx.array:
    """Put a token [1] that the host has not read yet between known ones."""
    parts = [mx.array(before, mx.int32)] if before else []
    parts.append(token)
    if after:
        parts.append(mx.array(list(after), mx.int32))
    return parts[0] if len(parts) == 1 else mx.concatenate(parts)


def _submit(token: mx.array) -> None:
    """Start the work without waiting for it."""
    mx.async_eval(token)  # type: ignore[no-untyped-call]  # mlx annotates no variable arguments


@contextmanager
def _engine_errors(what: str) -> Iterator[None]:
    """Turn what mlx raises (out of memory, bad shapes, a failed kernel) into the engine's error."""
    try:
        yield
    except (RuntimeError, ValueError, MemoryError) as error:
        raise EngineError.during(what, str(error) or type(error).__name__) from error
