"""The target on mlx: one sequence over one of mlx-lm's models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import mlx.core as mx

from plgd.engine.kept import KeepingTarget, Kept
from plgd.engine.mlx.block import Block
from plgd.engine.mlx.kept import KeptCaches, RestorePoints
from plgd.engine.mlx.passes import Forward, Passes
from plgd.engine.mlx.rollback import CacheRollback, RollbackMethod, keeps_all_rows, leaves_of
from plgd.engine.mlx.sampling import Choices, Greedy, Sampler, choose, default_margin
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.mlx.spare_rows import cut_spare_rows
from plgd.engine.together import Together
from plgd.errors import EngineError

__all__ = ("MlxTarget", "TargetCounts")

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
        n_near_ties: choices of wide passes, up to the first miss, whose runner-up was within the margin.
    """

    n_passes: int = 0
    n_joined: int = 0
    n_replayed: int = 0
    n_near_ties: int = 0


class MlxTarget:
    """Implements `plgd.engine.kept.KeepingTarget`.

    Between two calls the state is this: the caches hold the history except its tail `_unfed`. The tail is just the
    head as a rule; it is empty while a submitted step has fed the head already, and longer after a snapshot was
    restored or while the end of a prompt waits for the first round. `_next` is the choice after the head where one was
    submitted or is known. `_alone` says that the choice after the head was a near tie in a wide pass, and must come
    from a pass of one token.

    Args:
        forward: runs the model.
        caches: fresh caches, one per layer; the target owns them.
        context_limit: the longest history, in tokens.
        sampler: takes tokens from logits; greedy when left out.
        shapes: the widths that passes are filled up to; any width when left out.
        near_tie_margin: see `plgd.engine.sampling.Sampling`.
        exact: make the choice of a near tie again in a pass of one token. The draft is cut before it.
        trims_only: run plain rounds where a draft could only be taken back by snapshot.
        exact_width: the widest pass that may carry a draft. The caller knows that up to there each row is computed as
            a pass of one token computes it, so no choice counts as a near tie. Any width when left out.
        longest_tail: the most tokens at the end of a prompt that are not fed by themselves but with the first round, so
            that the first token takes a pass less. Only where caches keep all rows.
        together: where passes wait for those of other sequences, while a turn goes on; each runs alone when left out.
    """

    def __init__(
        self,
        forward: Forward,
        caches: list[Any],
        *,
        context_limit: int,
        sampler: Sampler | None = None,
        shapes: FixedShapes | None = None,
        near_tie_margin: float = 0.0,
        exact: bool = False,
        trims_only: bool = False,
        exact_width: int | None = None,
        longest_tail: int = 0,
        together: Together | None = None,
    ) -> None:
        self._passes = Passes(forward, caches, together)
        self._caches = caches
        self._context_limit = context_limit
        self._sampler = Greedy() if sampler is None else sampler
        self._shapes = shapes
        self._margin = near_tie_margin
        self._exact = exact
        self._trims_only = trims_only
        self._exact_width = exact_width
        self._longest_tail = longest_tail if all(keeps_all_rows(leaf) for leaf, _ in leaves_of(caches)) else 0
        self._rollback = CacheRollback(caches)
        self._points = RestorePoints()
        self._n_prefilled = 0
        self._n_held = 0
        self._history: list[int] = []
        self._unfed: list[int] = []
        self._next: mx.array | None = None
        self._block: Block | None = None
        self._alone = False
        self.counts = TargetCounts()

    @property
    def offset(self) -> int:
        """Tokens fed to the model, those that a replay will feed again included."""
        return max(0, len(self._history) - 1)

    @property
    def in_flight(self) -> bool:
        """Whether the choice after the head is submitted or known."""
        return self._next is not None

    @property
    def n_near_ties(self) -> int:
        """Near ties so far."""
        return self.counts.n_near_ties

    @property
    def context_limit(self) -> int:
        """The longest history, in tokens."""
        return self._context_limit

    @property
    def max_draft(self) -> int:
        """The longest draft that is taken whole."""
        return self._context_limit if self._exact_width is None else self._exact_width - 1

    def rollback_method(self, width: int) -> RollbackMethod:
        """Say how a block of this width would be rolled back now."""
        return self._rollback.method(width)

    def prefill(self, tokens: Sequence[int]) -> None:
        """Append known tokens in one pass; progress and cancellation go slice by slice, so it waits for the pass."""
        if not tokens:
            raise ValueError("prefill needs at least one token")
        self._begin(len(tokens))
        fed = [*self._unfed, *tokens[:-1]]
        if len(fed) <= self._longest_tail:
            self._unfed, self._n_held = [*fed, tokens[-1]], len(fed)
        else:
            with _engine_errors("prefill"):
                self._feed_prompt(fed, len(self._history) + len(tokens) - 1)
            self._unfed, self._n_held = [tokens[-1]], 0
        self._history.extend(tokens)
        self._next, self._alone = None, False
        self._n_prefilled = len(self._history) - 1

    def _feed_prompt(self, tokens: list[int], n_after: int) -> None:
        """Feed tokens of a prompt, so many of which the caches hold afterwards."""
        if tokens:
            self._feed(mx.array(tokens, mx.int32))
            mx.eval([cache.state for cache in self._caches])
            mx.clear_cache()
            self._points.note(self._caches, n_after)

    def resume(self, kept: Kept, tokens: Sequence[int]) -> int:
        """Begin with kept caches."""
        if self._history or not isinstance(kept, KeptCaches):
            raise ValueError("an unused target resumes from what a target of its kind has kept")
        n = kept.points.go_back(kept.caches, kept.reach(tokens))
        if n:
            self._caches[:] = kept.caches
            self._points, self._n_prefilled = kept.points, n
            self._history, self._unfed = list(tokens[: n + 1]), [tokens[n]]
        return n

    def load(self, path: Path, model_key: str) -> KeptCaches:
        """Read kept caches."""
        if self._history:
            raise ValueError("only an unused target has fresh caches to read into")
        return KeptCaches.load(path, model_key, self._caches)

    def copy(self, other: KeepingTarget, n: int) -> KeptCaches | None:
        """Copy what another target has prefilled."""
        if self._history or not isinstance(other, MlxTarget):
            raise ValueError("an unused target copies from a target of its kind")
        return KeptCaches.copy(other._held_prompt, other._caches, other._points, n, self._caches)  # noqa: SLF001

    def keep(self, n: int) -> KeptCaches | None:
        """Hand over the caches after what was prefilled."""
        self._rollback.release()
        if self._n_held:
            with _engine_errors("prefill"):
                self._feed_prompt(self._unfed[:-1], self._n_prefilled)
            self._unfed, self._n_held = self._unfed[-1:], 0
        n = self._points.go_back(self._caches, min(n, self._n_prefilled))
        if not n:
            return None
        cut_spare_rows(self._caches)
        return KeptCaches(self._history[:n], self._caches, self._points)

    @property
    def _held_prompt(self) -> list[int]:
        """What the caches hold of what was prefilled."""
        return self._history[: min(self._n_prefilled, len(self._history) - len(self._unfed))]

    def verify(self, draft: Sequence[int]) -> Sequence[int]:
        """Feed the head and the draft; behind an in-flight step, feed that step's token in the place of draft[0]."""
        if self._alone or (self._trims_only and self._rollback.method(len(self._unfed) + len(draft)).by_snapshot):
            draft = ()
        draft = draft[: self.max_draft]
        k = len(draft)
        self._begin(k + 1)
        with _engine_errors("a verify pass"):
            following, fed, (choices, near_ties) = self._passes.tried(lambda: self._feed_block(draft), self._read_again)
        self._n_held = 0
        n_agreed = next((i for i in range(k) if draft[i] != choices[i]), k)
        close = [i for i in range(n_agreed + 1) if near_ties[i]]
        self.counts.n_near_ties += len(close[:1] if self._exact else close)
        self._alone = self._exact and bool(close)
        if self._alone and close[0] == 0:
            self._unfed = fed[self._rollback.keep(len(fed) - k - 1) : len(fed) - k]
            return self.verify(())
        n_cut = k + 1 - close[0] if self._alone else 0
        self._block = Block(
            fed,
            n_before=len(fed) - k,
            k=k - n_cut,
            n_cut=n_cut,
            n_agreed=n_agreed,
            choices=choices,
            near_ties=near_ties,
            joined=following is not None and k > 0,
        )
        choices = choices[: k - n_cut + 1]
        self._unfed = [choices[-1]] if following is None or k else [*self._unfed, choices[-1]]
        self._next = None
        self._history += [*draft[: k - n_cut], choices[-1]]
        return choices

    def _feed_block(self, draft: Sequence[int]) -> tuple[mx.array | None, list[int], tuple[list[int], list[bool]]]:
        """Feed what `verify` is to; returns the step that was in flight, what was fed, and choices with near ties."""
        following, place, k = self._next, len(self._history), len(draft)
        if following is None:
            fed = self._replay([*self._unfed, *draft], len(self._unfed) - 1, narrow=k == 0)
            found = self._run(mx.array(fed, mx.int32), k + 1, place, may_drop=True)
        elif k:
            before = self._replay(self._unfed, len(self._unfed))
            block = self._run(_join(before, following, draft[1:]), k, place + 1, may_drop=True, is_lazy=True)
            found = block.behind(following)
            fed = [*before, *draft]  # draft[0] is kept only where it equals the token that was fed for it
            self.counts.n_joined += 1
        else:
            fed = self._unfed
            found = Choices(following)
        return following, fed, self._passes.read(found)

    def advance(self) -> int:
        """Return the next token after the step that follows it was submitted."""
        self._begin(1)
        with _engine_errors("a step"):
            known, following = self._passes.tried(self._feed_step, self._read_again)
        self._n_held = 0
        self._unfed = [*self._unfed, known] if following is None else []
        self._next, self._alone = following, False
        self._history.append(known)
        return known

    def _feed_step(self) -> tuple[int, mx.array | None]:
        """Feed what `advance` is to; returns the next token, and the step behind it that is in flight now."""
        token, place = self._next, len(self._history)
        if token is None:
            fed = self._replay(self._unfed, len(self._unfed) - 1, narrow=True)
            token = self._run(mx.array(fed, mx.int32), 1, place).tokens
            _submit(token)
            self._unfed = []
        following: mx.array | None = None
        if place + 2 <= self._context_limit:
            before = self._replay(self._unfed, len(self._unfed), narrow=True)
            following = self._run(_join(before, token, ()), 1, place + 1, is_lazy=True).tokens
            _submit(following)
        (known,), _ = self._passes.read(Choices(token))
        return known, following

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
        if n + block.n_cut == 0:
            self._rollback.release()
            return
        # Behind an in-flight step the pass has fed the first choice itself, and knows what follows it.
        known_further = block.joined and n_accepted == 0
        if known_further and block.near_ties[1]:
            self.counts.n_near_ties += block.n_agreed == 0
            self._alone = self._exact
            known_further = not self._exact
        n_fed = block.n_before + n_accepted + (1 if known_further else 0)
        held = self._rollback.keep(n_fed)
        history = [*block.tokens[: block.n_before + n_accepted], block.choices[n_accepted]]
        self.counts.n_replayed += n_fed - held
        self._unfed = history[held:]
        self._next = mx.array(block.choices[1:2], mx.int32) if known_further else None
        self._history[-n - 1 :] = history[-1:]

    def _begin(self, n_new: int) -> None:
        """Close the last verify and check that the history may grow by `n_new` tokens."""
        block = self._block
        if block is not None and block.n_agreed < block.k:
            raise ValueError("the part of the draft that differs from its choices must be rolled back first")
        n_history = len(self._history)
        if n_history + n_new > self._context_limit:
            raise ValueError(f"{n_history} + {n_new} tokens exceed the context limit of {self._context_limit}")
        if block is not None and block.n_cut:
            self.rollback(0)
        self._block = None
        self._rollback.release()

    def _replay(self, tokens: list[int], n: int, *, narrow: bool = False) -> list[int]:
        """Feed the first n tokens, a replay, in a pass of their own where they are many, and return the others.

        With `exact`, even one that rides along makes a narrow pass wide. A prompt's tail was held back to ride along.
        """
        if n <= (0 if narrow and self._exact else max(MAX_REPLAY, self._n_held)):
            return tokens
        self._feed(mx.array(tokens[:n], mx.int32), joins=True)
        return tokens[n:]

    def _run(
        self, tokens: mx.array, n: int, position: int, *, may_drop: bool = False, is_lazy: bool = False
    ) -> Choices:
        """Feed tokens [T] and return the choices [n] after the last n of them; the first will stand at `position`."""
        self.counts.n_passes += 1
        if self.counts.n_passes % PASSES_PER_CLEAR == 0:
            mx.clear_cache()
        width = tokens.size
        logits = self._feed(tokens, may_drop=may_drop, joins=True, is_lazy=is_lazy)[:, -n:, :]
        past = self._behind_history(tokens, position + n - 1 - width)
        scores = self._sampler.score(logits, position, past)
        may_differ = (width > 1 or self._passes.is_shared) and self._exact_width is None
        return choose(scores, (self._margin or default_margin(logits)) if may_differ else None)

    def _behind_history(self, tokens: mx.array, place: int) -> mx.array:
        """Put so much of the history before tokens [T], the first of which stands at `place`, as the sampler needs."""
        n_past = self._sampler.n_past
        before = self._history[max(0, place - n_past) : place] if n_past else []
        return mx.concatenate([mx.array(before, mx.int32), tokens]) if before else tokens

    def _feed(
        self, tokens: mx.array, *, may_drop: bool = False, joins: bool = False, is_lazy: bool = False
    ) -> mx.array:
        """Feed tokens [T] and return the logits [1, T, V]; with `may_drop` the caches can go back afterwards."""
        width = filled = tokens.size
        if self._shapes is not None and not self._rollback.method(self._shapes.fill(width)).by_snapshot:
            filled = self._shapes.fill(width)
        if may_drop or filled > width:
            self._rollback.begin(filled)
        if filled > width:
            tokens = mx.concatenate([tokens, mx.zeros(filled - width, mx.int32)])
        logits = self._passes.run(tokens, len(self._history), joins=joins, is_lazy=is_lazy)
        if filled == width:
            return logits
        self._rollback.keep(width)
        if not may_drop:
            self._rollback.release()
        return logits[:, :width, :]

    def _read_again(self) -> None:
        """Bring the caches back to the history without its head."""
        self._rollback.release()
        self._points = self._passes.renew(self._history[:-1], self._n_prefilled)
        self._unfed, self._next, self._n_held = [self._history[-1]], None, 0


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
