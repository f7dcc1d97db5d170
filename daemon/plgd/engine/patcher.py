"""The patcher: lays what the substitutions expect over the sources, tokenized as the model would."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Final

from plgd.engine.codec import SpanCodec
from plgd.engine.cursor import Change, Event
from plgd.engine.overlay import Overlay, Patch
from plgd.engine.rules import Rewrite
from plgd.engine.sources import BREAK, Sources
from plgd.engine.substitution import Substitutions

__all__ = ("Patcher",)

# Tokens laid over at once, and tokens of context that a change is learnt with on each side.
BLOCK: Final = 128
CONTEXT: Final = 12
# A changed line longer than this is left alone: it would be tokenized whole.
MAX_WINDOW: Final = 256
# Neighbouring changed lines are tokenized in one go up to this length; the call costs more than the tokens.
MERGED_WINDOW: Final = 64
# A change of more tokens than this teaches nothing.
MAX_CHANGE: Final = 48


class Patcher:
    """Keeps the overlay in step with the substitutions, in the stretch that is about to be drafted.

    A substitution changes text, and the tokens of a text depend on what stands before it. So whole lines are
    rewritten and tokenized, and a patch is where the outcome differs from the source's tokens. A line whose own tokens
    do not come out the same way is left alone.

    Args:
        sources: what is read from.
        overlay: where patches are laid.
        codec: tokens to text and back.
    """

    def __init__(self, sources: Sources, overlay: Overlay, codec: SpanCodec) -> None:
        self._sources = sources
        self._overlay = overlay
        self._codec = codec
        self._substitutions = Substitutions()
        self._texts: dict[int, str] = {}
        self._covered = (0, 0)

    def observe(self, event: Event) -> None:
        """Learn from what the cursor met."""
        if event.confirmed is not None:
            for standing in event.confirmed.standings:
                standing.n_confirmed += 1
        if event.denied is not None:
            for standing in event.denied.standings:
                standing.n_denied += 1
            if not all(standing.is_good for standing in event.denied.standings):
                self._forget()
        if event.change is not None:
            self._learn(event.change)

    def cover(self, place: int, n_tokens: int) -> None:
        """See that the stretch from a place on is laid over."""
        if not len(self._substitutions) or place >= self._sources.n_source:
            return
        start, end = self._covered
        if not start <= place <= end:
            end = self._line_start(place)
            self._covered = (end, end)
        while end < min(place + n_tokens, self._sources.n_source):
            end = self._lay(end)
            self._covered = (self._covered[0], end)

    def _learn(self, change: Change) -> None:
        tokens = self._sources.tokens
        if max(change.source_end - change.source_start, change.reply_end - change.reply_start) > MAX_CHANGE:
            return
        if change.source_start == change.source_end and change.reply_start == change.reply_end:
            return
        if BREAK in tokens[change.source_start : change.source_end]:  # it came back to another source
            return
        before = _count_before(tokens, change.source_start, change.reply_start)
        # The reply has just come back; what follows is taken to agree, so that words are seen to their end.
        behind = tokens[change.source_end : min(change.source_end + CONTEXT, self._sources.n_source)]
        behind = behind[: behind.index(BREAK)] if BREAK in behind else behind
        ranges = (change.source_start, change.source_end), (change.reply_start, change.reply_end)
        old, new = (self._codec.decode(tokens[start - before : end] + behind) for start, end in ranges)
        if self._substitutions.learn(old, new):
            self._forget()

    def _forget(self) -> None:
        self._overlay.clear()
        self._covered = (0, 0)

    def _lay(self, start: int) -> int:
        """Lay patches over the block that begins at a line; return where it ends."""
        tokens = self._sources.tokens
        end = min(start + BLOCK, self._sources.n_source)
        while end < self._sources.n_source and end - start < 2 * BLOCK and not self._begins_line(end):
            end += 1
        stretch = tokens[start : min(end + CONTEXT, self._sources.n_source)]
        if BREAK in stretch:
            stretch = stretch[: stretch.index(BREAK)]
            end = min(end, start + len(stretch) + 1)
        places = [0]
        for token in stretch:
            places.append(places[-1] + len(self._text(token)))
        text = "".join(map(self._text, stretch))
        found = [rewrite for rewrite in self._substitutions.rewrite(text) if rewrite.start < places[-1]]
        for first, last, rewrites in self._windows(found, places, start):
            self._patch(
                first, last, text[places[first - start] : places[last - start]], rewrites, places[first - start]
            )
        return max(end, start + 1)

    def _windows(
        self, found: Sequence[Rewrite], places: Sequence[int], start: int
    ) -> Iterator[tuple[int, int, list[Rewrite]]]:
        """Yield the whole lines around rewrites: first token, token behind the last, and the rewrites in them."""
        n = len(places) - 1
        window: tuple[int, int, list[Rewrite]] | None = None
        token = 0
        for rewrite in found:
            while token < n and places[token + 1] <= rewrite.start:
                token += 1
            first = token
            while first > 0 and not self._begins_line(start + first):
                first -= 1
            last = token
            while last < n and (places[last] < rewrite.end or not self._begins_line(start + last) or last == first):
                last += 1
            if window is not None and start + first < window[1] + (start + last - window[0] <= MERGED_WINDOW):
                window = (window[0], max(window[1], start + last), [*window[2], rewrite])
                continue
            if window is not None:
                yield window
            window = (start + first, start + last, [rewrite])
        if window is not None:
            yield window

    def _patch(self, first: int, last: int, text: str, rewrites: Sequence[Rewrite], offset: int) -> None:
        tokens = self._sources.tokens[first:last]
        if len(tokens) > MAX_WINDOW or self._codec.encode(text) != tokens:
            return
        pieces: list[str] = []
        done = 0
        for rewrite in rewrites:
            pieces += (text[done : rewrite.start - offset], rewrite.new)
            done = rewrite.end - offset
        expected = self._codec.encode("".join((*pieces, text[done:])))
        # Where the tokens differ, each difference is a patch of its own: one that turns out wrong denies no other.
        places = [offset]
        for token in tokens:
            places.append(places[-1] + len(self._text(token)))
        matcher = difflib.SequenceMatcher(None, tokens, expected, autojunk=False)
        for tag, i, i_end, j, j_end in matcher.get_opcodes():
            if tag == "equal":
                continue
            if i == i_end or j == j_end:  # an insertion or deletion borrows a token that stays, best the next
                by_next = i_end < len(tokens)
                if not by_next and i == 0:
                    continue
                i, j = (i, j) if by_next else (i - 1, j - 1)  # noqa: PLW2901 - the range is widened
                i_end, j_end = (i_end + 1, j_end + 1) if by_next else (i_end, j_end)  # noqa: PLW2901 - as above
            near = [r.standing for r in rewrites if r.start <= places[i_end] and r.end >= places[i]]
            standings = {id(standing): standing for standing in near or [r.standing for r in rewrites]}
            self._overlay.lay(Patch(first + i, first + i_end, tuple(expected[j:j_end]), tuple(standings.values())))

    def _line_start(self, place: int) -> int:
        for start in range(place, max(place - BLOCK, 0), -1):
            if self._begins_line(start):
                return start
        return max(place - BLOCK, 0)

    def _begins_line(self, place: int) -> bool:
        tokens = self._sources.tokens
        if place == 0 or tokens[place] == BREAK or tokens[place - 1] == BREAK:
            return True
        before = self._text(tokens[place - 1])
        return before.endswith("\n") or (self._text(tokens[place]).startswith("\n") and bool(before.strip()))

    def _text(self, token: int) -> str:
        text = self._texts.get(token)
        if text is None:
            text = self._texts[token] = self._codec.decode((token,)) if token != BREAK else ""
        return text


def _count_before(tokens: Sequence[int], one: int, other: int) -> int:
    """Count the tokens before two places that agree, up to `CONTEXT`."""
    n = 0
    while n < min(CONTEXT, one) and tokens[one - 1 - n] == tokens[other - 1 - n] != BREAK:
        n += 1
    return n
