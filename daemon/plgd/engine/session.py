"""A session: one history of prompt and reply, and the parts that grow it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence

from plgd.engine.decode import Decoder, check_in_step
from plgd.engine.governor import Governor
from plgd.engine.proposer import Proposer
from plgd.engine.stats import Stats
from plgd.engine.stops import Ending, Stops
from plgd.engine.target import Target
from plgd.engine.types import Round
from plgd.errors import EngineError

__all__ = ("Session",)


class Session:
    """One history of prompt and reply. Not thread-safe: the thread that owns the target owns its sessions.

    Between any two calls, `target.offset == len(tokens) - 1`. Once anything raised inside a slice or a round, the
    caches may hold anything, so the session refuses further use.

    Args:
        target: an empty sequence of the model.
        proposer: guesses drafts; it is shown every token of the history.
        governor: decides how much is drafted.
        clock: seconds from any start, for the governor's measurements.

    Attributes:
        tokens: the whole history.
        stats: counts over all replies.
    """

    def __init__(
        self,
        target: Target,
        proposer: Proposer,
        governor: Governor,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.tokens: list[int] = []
        self.stats = Stats(governor=governor.counts)
        self._target = target
        self._proposer = proposer
        self._governor = governor
        self._clock = clock
        self._busy = False
        self._failed = False

    def prefill(self, tokens: Sequence[int], slice_tokens: int, *, n_warm: int = 0) -> Generator[int, None, None]:
        """Append a prompt, slice by slice. Each slice is indexed as soon as the model has it.

        The last token of a history is fed with the token after it. A history that begins gets one token more with its
        first slice, so that the model's passes are those of mlx-lm's prefill, each of `slice_tokens`: passes of other
        widths would round otherwise in low precision.

        Args:
            tokens: the prompt.
            slice_tokens: tokens per pass of the model; a caller that stops waits for one slice at most.
            n_warm: tokens at its beginning that the target has seen already (`KeepingTarget.resume`).

        Yields:
            The prompt's tokens done so far, after each slice.

        Raises:
            ValueError: no tokens, an empty slice, or a prompt longer than what the context limit leaves.
            EngineError: the model failed, now or earlier in this session.
        """
        room = self._target.context_limit - len(self.tokens)
        if not 1 <= len(tokens) <= room:
            raise ValueError(f"a prompt of {len(tokens)} tokens does not fit: 1 to {room} are possible")
        if slice_tokens < 1:
            raise ValueError(f"slice_tokens must be at least 1, not {slice_tokens}")
        if not 0 <= n_warm < len(tokens) or (n_warm and self.tokens):
            raise ValueError(f"{n_warm} warm tokens cannot begin a prompt of {len(tokens)}")
        self._check_free()
        return self._prefill(tokens, slice_tokens, n_warm)

    def decode(self, stops: Stops) -> Generator[Round, None, None]:
        """Decode a reply, one round per item; the last one says why it stopped.

        Close it (`contextlib.closing`) when you stop early: the session goes on from the last round given out.

        Args:
            stops: where the reply ends.

        Yields:
            Rounds, each with the tokens that it committed.

        Raises:
            ValueError: nothing was prefilled.
            EngineError: the model failed, now or earlier in this session.
        """
        if not self.tokens:
            raise ValueError("a session needs a prompt before it can decode")
        self._check_free()
        return self._decode(stops)

    def _prefill(self, tokens: Sequence[int], slice_tokens: int, n_warm: int) -> Generator[int, None, None]:
        self._check_free()
        self._busy = True
        try:
            start, end = 0, slice_tokens + (not self.tokens)
            if n_warm:
                start = n_warm + 1  # the head is known, but was not fed yet
                end = start + slice_tokens
                self._take_in(tokens[:start])
                self.stats.n_cached_tokens += n_warm
            while start < len(tokens):
                piece = tokens[start:end]
                self._failed = True  # until the slice is whole
                self._target.prefill(piece)
                self._take_in(piece)
                self._failed = False
                start, end = end, end + slice_tokens
                yield min(start, len(tokens))
        finally:
            self._busy = False

    def _take_in(self, prompt: Sequence[int]) -> None:
        self._proposer.extend(prompt)
        self.tokens.extend(prompt)
        self.stats.n_prompt_tokens += len(prompt)
        check_in_step(self._target, len(self.tokens))

    def _decode(self, stops: Stops) -> Generator[Round, None, None]:
        self._check_free()
        self._busy = True
        try:
            ending = Ending(stops, len(self.tokens), self._target.context_limit)
            decoder = Decoder(
                self._target, self._proposer, self._governor, self.tokens, self.stats, ending, self._clock
            )
            while True:
                self._failed = True  # until the round is whole
                last = decoder.run_round()
                self._failed = False
                yield last
                if last.stopped is not None:
                    return
        finally:
            self._busy = False

    def _check_free(self) -> None:
        if self._failed:
            raise EngineError.during("this session", "an earlier round failed and its state was dropped")
        if self._busy:
            raise RuntimeError("close the session's open prefill or decode generator first")
