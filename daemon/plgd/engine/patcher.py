"""The patcher: lays what the substitutions expect over the sources, tokenized as the model would."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise, takewhile
from typing import Final

from plgd.engine.codec import SpanCodec
from plgd.engine.cursor import Change, Event
from plgd.engine.overlay import Overlay, Patch, Standing
from plgd.engine.rules import Rewrite
from plgd.engine.sources import BREAK, Sources
from plgd.engine.substitution import Substitutions

__all__ = ("Patcher",)

# Tokens laid over at once, and tokens of context that a change is learnt with on each side.
BLOCK: Final = 128
CONTEXT: Final = 12
# A changed line longer than this is left alone: it would be tokenized whole. Neighbouring changed lines are tokenized
# in one go up to this length; the call costs more than the tokens.
MAX_WINDOW: Final = 256
# What a character that is spread over several tokens looks like in their texts.
BROKEN: Final = "\ufffd"
# Lines that came out the same way in a row after which only one in so many is checked.
TRUSTED: Final = 8
# Tokens of the reply before a change in which words are looked for that stayed as they were.
REMEMBERED: Final = 512
# A change of more tokens than this teaches nothing.
MAX_CHANGE: Final = 48


@dataclass(frozen=True, slots=True)
class _Window:
    """Whole lines and what is to change in them.

    Attributes:
        first: their first token in the stretch.
        last: the token behind their last.
        rewrites: in order.
    """

    first: int
    last: int
    rewrites: list[Rewrite]


class Patcher:
    """Keeps the overlay in step with the substitutions, in the stretch that is about to be drafted.

    A substitution changes text, and the tokens of a text depend on what stands before it. So whole lines are
    rewritten and tokenized, and a patch is where the outcome differs from the source's tokens. A line whose own tokens
    do not come out the same way is left alone.

    Args:
        sources: what is read from.
        overlay: where patches are laid.
        codec: tokens to text and back.
        announced: identifiers and what is to take their place.
    """

    def __init__(
        self, sources: Sources, overlay: Overlay, codec: SpanCodec, announced: Iterable[tuple[str, str]] = ()
    ) -> None:
        self._sources = sources
        self._overlay = overlay
        self._codec = codec
        self._substitutions = Substitutions()
        for old, new in announced:
            self._substitutions.expect(old, new)
        self._texts = _Texts(codec)
        self._n_alike = 0
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
        earlier = tokens[max(change.reply_start - REMEMBERED, self._sources.n_source) : change.reply_start]
        if self._substitutions.learn(old, new, "".join(map(self._texts.__getitem__, earlier))):
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
        texts = list(map(self._texts.__getitem__, stretch))
        text = "".join(texts)
        found = [rewrite for rewrite in self._substitutions.rewrite(text) if rewrite.start < len(text)]
        if found:
            places = list(accumulate(map(len, texts), initial=0))
            for group in _group(_windows(found, text, self._texts.find_lines(stretch), places)):
                if not self._patch(start, stretch, text, places, _join(group)) and len(group) > 1:
                    for window in group:
                        self._patch(start, stretch, text, places, window)
        return max(end, start + 1)

    def _patch(self, start: int, stretch: Sequence[int], text: str, places: Sequence[int], window: _Window) -> bool:
        """Lay patches over a window; False where its own tokens do not come out the same way."""
        first, last, rewrites = window.first, window.last, window.rewrites
        offset, tokens = places[first], stretch[first:last]
        text = text[offset : places[last]]
        if len(tokens) > MAX_WINDOW or not self._comes_out_alike(text, tokens):
            return False
        expected = self._codec.encode(_rewrite(text, rewrites, offset))
        new_places = list(accumulate(map(len, map(self._texts.__getitem__, expected)), initial=offset))
        # Where the tokens differ, each difference is a patch of its own: one that turns out wrong denies no other.
        borders = _common_borders(places[first : last + 1], new_places, rewrites, len(expected))
        for (i, j), (i_end, j_end) in pairwise(borders):
            if tokens[i:i_end] == expected[j:j_end]:
                continue
            # A rewrite may begin and end inside tokens that come out the same.
            while min(i_end - i, j_end - j) > 1 and tokens[i_end - 1] == expected[j_end - 1]:
                i_end, j_end = i_end - 1, j_end - 1  # noqa: PLW2901 - the range is narrowed
            while min(i_end - i, j_end - j) > 1 and tokens[i] == expected[j]:
                i, j = i + 1, j + 1  # noqa: PLW2901 - as above
            standings = _near(rewrites, places[first + i], places[first + i_end])
            self._overlay.lay(Patch(start + first + i, start + first + i_end, tuple(expected[j:j_end]), standings))
        return True

    def _comes_out_alike(self, text: str, tokens: Sequence[int]) -> bool:
        """Tell whether lines tokenize alone as they do in their source; a tokenizer that mostly did so is believed."""
        if BROKEN in text:
            return False
        is_checked = self._n_alike < TRUSTED or self._n_alike % TRUSTED == 0
        is_alike = not is_checked or self._codec.encode(text) == tokens
        self._n_alike = self._n_alike + 1 if is_alike else 0
        return is_alike

    def _line_start(self, place: int) -> int:
        for start in range(place, max(place - BLOCK, 0), -1):
            if self._begins_line(start):
                return start
        return max(place - BLOCK, 0)

    def _begins_line(self, place: int) -> bool:
        tokens = self._sources.tokens
        if place == 0 or tokens[place] == BREAK or tokens[place - 1] == BREAK:
            return True
        return self._texts.begins_line(tokens[place - 1], tokens[place])


class _Texts(dict[int, str]):
    """The text of each token, decoded once, and where it ends or begins a line."""

    def __init__(self, codec: SpanCodec) -> None:
        super().__init__({BREAK: ""})
        self._codec = codec
        self._ending: set[int] = set()
        self._breaking: set[int] = set()
        self._blank: set[int] = {BREAK}

    def __missing__(self, token: int) -> str:
        text = self[token] = self._codec.decode((token,))
        if text.endswith("\n"):
            self._ending.add(token)
        if text.startswith("\n"):
            self._breaking.add(token)
        if not text.strip():
            self._blank.add(token)
        return text

    def begins_line(self, before: int, token: int) -> bool:
        """Tell whether a token begins a line: behind a line end, or with one behind something else than blanks."""
        _ = self[before], self[token]  # so that both are known
        return before in self._ending or (token in self._breaking and before not in self._blank)

    def find_lines(self, tokens: Sequence[int]) -> list[int]:
        """Return where lines begin among tokens whose texts are known; the first begins one."""
        ending, breaking, blank = self._ending, self._breaking, self._blank
        return [0] + [
            place
            for place, (before, token) in enumerate(pairwise(tokens), start=1)
            if before in ending or (token in breaking and before not in blank)
        ]


def _count_before(tokens: Sequence[int], one: int, other: int) -> int:
    """Count the tokens before two places that agree, up to `CONTEXT`."""
    n = 0
    while n < min(CONTEXT, one) and tokens[one - 1 - n] == tokens[other - 1 - n] != BREAK:
        n += 1
    return n


def _rewrite(text: str, rewrites: Sequence[Rewrite], offset: int) -> str:
    pieces: list[str] = []
    done = 0
    for rewrite in rewrites:
        pieces += (text[done : rewrite.start - offset], rewrite.new)
        done = rewrite.end - offset
    return "".join((*pieces, text[done:]))


def _near(rewrites: Sequence[Rewrite], start: int, end: int) -> tuple[Standing, ...]:
    """Return the standings of the rewrites that touch a range, each once; of all where none does."""
    first = bisect_left(rewrites, start, key=lambda rewrite: rewrite.end)
    touching = takewhile(lambda rewrite: rewrite.start <= end, islice(rewrites, first, None))
    standings = {id(rewrite.standing): rewrite.standing for rewrite in touching}
    return tuple((standings or {id(rewrite.standing): rewrite.standing for rewrite in rewrites}).values())


def _windows(rewrites: Sequence[Rewrite], text: str, starts: Sequence[int], places: Sequence[int]) -> Iterator[_Window]:
    """Yield the whole lines around rewrites; rewrites that share a line share a window.

    Args:
        rewrites: in order.
        text: of a stretch.
        starts: its tokens that begin lines.
        places: where its tokens begin in its text, and where it ends.
    """
    window: _Window | None = None
    for rewrite in rewrites:
        line = bisect_right(starts, bisect_right(places, rewrite.start) - 1)
        first = starts[line - 1]
        if line > 1 and places[first] == rewrite.start and text[rewrite.start - 1] != "\n":
            first = starts[line - 2]  # it goes on a line whose end begins the next token: they may become one
        while line < len(starts) and places[starts[line]] < rewrite.end:
            line += 1
        last = starts[line] if line < len(starts) else len(places) - 1
        if window is not None and first < window.last:
            window = _Window(window.first, max(window.last, last), [*window.rewrites, rewrite])
            continue
        if window is not None:
            yield window
        window = _Window(first, last, [rewrite])
    if window is not None:
        yield window


def _group(windows: Iterable[_Window]) -> Iterator[list[_Window]]:
    """Put neighbouring windows together, up to `MAX_WINDOW` tokens."""
    group: list[_Window] = []
    for window in windows:
        if group and (window.first != group[-1].last or window.last - group[0].first > MAX_WINDOW):
            yield group
            group = []
        group.append(window)
    if group:
        yield group


def _join(group: Sequence[_Window]) -> _Window:
    return _Window(group[0].first, group[-1].last, [rewrite for window in group for rewrite in window.rewrites])


def _common_borders(
    old: Sequence[int], new: Sequence[int], rewrites: Sequence[Rewrite], n_tokens: int
) -> list[tuple[int, int]]:
    """Return token borders that a text and its rewritten form share, the nearest ones before and behind each rewrite.

    Between two of them both forms have at least one token.

    Args:
        old: where the tokens of the text begin, and where it ends, as the rewrites count.
        new: the same of the rewritten form.
        rewrites: in order.
        n_tokens: of the rewritten form.
    """
    number = dict(zip(new, range(n_tokens), strict=False))
    borders = [(0, 0)]
    shift, start = 0, old[0]
    for rewrite in (*rewrites, None):
        end = rewrite.start if rewrite is not None else old[-1] - 1
        kept = range(bisect_left(old, start), bisect_right(old, end))
        for some in (kept, reversed(kept)):
            token = next((token for token in some if old[token] + shift in number), 0)
            at = number[old[token] + shift] if token else 0
            if token > borders[-1][0] and at > borders[-1][1]:
                borders.append((token, at))
        if rewrite is not None:
            shift += len(rewrite.new) - (rewrite.end - rewrite.start)
            # An insertion goes with the token behind it.
            start = max(rewrite.end, rewrite.start + 1)
    while len(borders) > 1 and borders[-1][1] >= n_tokens:
        borders.pop()
    return [*borders, (len(old) - 1, n_tokens)] if n_tokens else []
