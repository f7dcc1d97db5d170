"""The cursor: follows the reply through the sources and finds its place again after a miss."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from plgd.engine.hypothesis import Hypothesis, Origin
from plgd.engine.odds import RUN_STREAK, Odds
from plgd.engine.overlay import Overlay, Patch
from plgd.engine.sources import BREAK, Sources

__all__ = ("Change", "Cursor", "Event", "Guess")

# Hypotheses kept at once.
MAX_HYPOTHESES: Final = 8
# A streak this long tells where the reply is.
FOUND: Final = 3
# A match so few tokens behind the place that was left is most often a deletion or a replacement.
AHEAD: Final = 4
# A patch of a substitution that was once not made is read from this chance on; below it the source is, as it stands.
LIKELY: Final = 0.5


@dataclass(frozen=True, slots=True)
class Change:
    """A place where the reply left a source and came back to it; half-open ranges of `Sources.tokens`."""

    source_start: int
    source_end: int
    reply_start: int
    reply_end: int


@dataclass(frozen=True, slots=True)
class Event:
    """What one token of the reply told.

    Attributes:
        change: the change that the reply has just come back from.
        confirmed: the patch that has just come true.
        denied: the patch that has just turned out wrong.
    """

    change: Change | None
    confirmed: Patch | None
    denied: Patch | None


@dataclass(frozen=True, slots=True)
class Guess:
    """What the likeliest hypothesis foretells.

    Attributes:
        tokens: at least one.
        chances: for each, the chance that it comes true if those before it do.
        streak: tokens that agreed before.
        in_source: read from a source, not from the reply.
        pieces: in order, how many tokens were read in one go and whether they are a patch's; of the last there may be
            more than `tokens` has.
    """

    tokens: tuple[int, ...]
    chances: tuple[float, ...]
    streak: int
    in_source: bool
    pieces: tuple[tuple[int, bool], ...]


class Cursor:
    """Several hypotheses in parallel, and the likeliest of them is the cursor.

    A hypothesis lives while the reply does what it foretells. When the cursor's dies, the place is remembered as the
    anchor and the ways on are tried at once: something was inserted (go on at the anchor), replaced (as far behind it
    as the reply has written since), shortened to (one token behind it), deleted (the last tokens stand ahead). Further
    hypotheses come from places where the last tokens stand near the anchor, the last eight anywhere, the last four or
    two latest. Of hypotheses that are equally likely, the longer streak is believed, then the earlier origin, then the
    earlier place; so the text to rewrite goes before other sources, and sources before the reply.

    A token costs a bounded number of probes and comparisons.

    Args:
        sources: what can be read from.
        overlay: where the reply is expected to differ.
        odds: how likely hypotheses are.
    """

    def __init__(self, sources: Sources, overlay: Overlay, odds: Odds) -> None:
        self._sources = sources
        self._overlay = overlay
        self._odds = odds
        self._anchor = 0
        self._left_at: int | None = None
        self._age = 0
        starts = [start for start in sources.starts if sources.tokens[start] != BREAK]
        self._hypotheses = [Hypothesis(start, 0, Origin.START) for start in starts[:MAX_HYPOTHESES]]

    @property
    def place(self) -> int:
        """The place in the sources that is read next, or that the reply left."""
        best = self._hypotheses[0] if self._hypotheses else None
        return best.place if best is not None and best.place < self._sources.n_source else self._anchor

    def run_on(self, tokens: Sequence[int]) -> int:
        """Follow the reply as far as all is as it is in nearly every token of a copy.

        There is one hypothesis, which is a run in a source and outside of patches, and it is right.

        Args:
            tokens: of the reply, the next ones.

        Returns:
            How many tokens it took; the others are to be pushed, or tried again behind the next one.
        """
        if len(self._hypotheses) != 1 or self._age or self._left_at is not None:
            return 0
        best, sources = self._hypotheses[0], self._sources
        if best.streak < RUN_STREAK or best.patch is not None:
            return 0
        place = best.place
        first_patched = place + 1 if best.is_raw else place
        end = self._overlay.find_next(first_patched, min(place + len(tokens), sources.n_source - 1))
        ahead = sources.tokens[place : end + 1]
        n = 0
        for expected, behind, token in zip(ahead, ahead[1:], tokens, strict=False):
            if expected != token or behind == BREAK:
                break
            n += 1
        if n:
            self._odds.learn_run(best.streak, n)
            best.streak += n
            best.place = self._anchor = place + n
            best.is_raw = False
            sources.append_copied(tokens[:n])
        return n

    def push(self, token: int) -> Event:
        """Follow the reply by one token."""
        best = self._hypotheses[0] if self._hypotheses else None
        patch = best.next_patch(self._overlay) if best is not None else None
        believed = best is not None and best.expects(self._sources.tokens, self._overlay) == token
        kept, done = self._follow(token)
        self._sources.append(token)
        change = None
        if best is not None and believed and best.streak >= FOUND:
            change = self._find(best)
            if self._left_at is not None:
                self._look_back(token, kept)
        else:
            if self._age == 0:
                self._leave(best, believed=believed)
            self._age += 1
            self._realign(token, kept)
        self._hypotheses = self._rank(kept)
        return Event(change, done, None if believed else patch)

    def guess(self, n_tokens: int) -> Guess | None:
        """Foretell up to `n_tokens` tokens."""
        if not self._hypotheses:
            return None
        best = self._hypotheses[0]
        tokens: list[int] = []
        chances: list[float] = []
        pieces: list[tuple[int, bool]] = []
        for piece, patch, is_made in self._read(best, n_tokens):
            n_ahead, n_alike = len(tokens), len(piece)
            pieces.append((n_alike, is_made))
            tokens += piece
            if patch is not None:
                chance = self._chance_of(best, patch)
                if not is_made:
                    (as_it_is,) = self._odds.chances_ahead(best, self._age, n_ahead, 1)
                    chance = as_it_is * (1.0 - chance)
                chances.append(chance)
                n_alike -= 1
            chances += self._odds.chances_ahead(best, self._age, len(chances), n_alike)
            if len(tokens) >= n_tokens:
                break
        if not tokens:
            return None
        in_source = best.place < self._sources.n_source
        return Guess(tuple(tokens[:n_tokens]), tuple(chances[:n_tokens]), best.streak, in_source, tuple(pieces))

    def _read(self, hypothesis: Hypothesis, n_tokens: int) -> Iterator[tuple[Sequence[int], Patch | None, bool]]:
        """Yield pieces of what a hypothesis foretells, `n_tokens` or a few more.

        With each come the patch that begins with it, and whether it is a patch's: one that has become less likely than
        not is passed over, and what stands there is read.
        """
        tokens, overlay = self._sources.tokens, self._overlay
        place = hypothesis.place
        if hypothesis.n_read and hypothesis.patch is not None:
            yield hypothesis.patch.tokens[hypothesis.n_read :], None, True
            place = hypothesis.patch.end
        elif hypothesis.is_raw:
            yield tokens[place : place + 1], None, False
            place += 1
        end = min(self._sources.end_behind(place), place + n_tokens)
        while place < end:
            next_patched = overlay.find_next(place, end)
            if next_patched > place:
                yield tokens[place:next_patched], None, False
            if next_patched == end:
                return
            patch = overlay.patch_at(next_patched)
            if patch is not None:
                is_likely = not patch.was_denied or self._chance_of(hypothesis, patch) >= LIKELY
                yield patch.tokens if is_likely else tokens[patch.start : patch.end], patch, is_likely
                place = patch.end

    def _chance_of(self, hypothesis: Hypothesis, patch: Patch) -> float:
        """Return the chance that a patch is made."""
        return self._odds.chance(self._odds.traits(hypothesis, self._age, patch))

    def _follow(self, token: int) -> tuple[list[Hypothesis], Patch | None]:
        """Let each hypothesis see the token; return those it agrees with and the patch that the likeliest completed."""
        tokens, overlay, odds = self._sources.tokens, self._overlay, self._odds
        kept: list[Hypothesis] = []
        taken: set[tuple[int, int]] = set()
        done: Patch | None = None
        foretold = False
        for rank, hypothesis in enumerate(self._hypotheses):
            came_true = hypothesis.expects(tokens, overlay) == token
            patch = hypothesis.next_patch(overlay)
            first = patch if patch is not None and not hypothesis.n_read else None
            traits = odds.traits(hypothesis, self._age, first)
            odds.learn(traits, came_true=came_true, was_believed=rank == 0)
            if rank == 0:
                foretold = came_true
            if came_true:
                completed = hypothesis.advance(overlay)
                if rank == 0:
                    done = completed
            elif first is not None and tokens[hypothesis.place] == token:
                # The substitution was not made here: the source goes on as it is.
                hypothesis.is_raw = True
                hypothesis.advance(overlay)
            else:
                continue
            where = hypothesis.place, hypothesis.n_read
            at_end = hypothesis.place < len(tokens) and tokens[hypothesis.place] == BREAK
            if where not in taken and not at_end:
                taken.add(where)
                kept.append(hypothesis)
        odds.count(foretold=foretold)
        return kept, done

    def _find(self, best: Hypothesis) -> Change | None:
        """The reply is where the cursor is; if that is in a source, tell what it did since it left one."""
        self._age = 0
        if best.place >= self._sources.n_source:
            return None
        change = None
        came_back = best.place - best.streak
        if self._left_at is not None and best.patch is None and came_back >= self._anchor:
            change = Change(self._anchor, came_back, self._left_at, len(self._sources.tokens) - best.streak)
        self._left_at = None
        self._anchor = best.place
        return change

    def _leave(self, best: Hypothesis | None, *, believed: bool) -> None:
        """Remember where the reply left the source: before the token just pushed, or before the patch it is in."""
        if self._left_at is not None:
            return
        self._left_at = len(self._sources.tokens) - 1
        if best is not None and not believed and best.place < self._sources.n_source and best.streak >= FOUND:
            self._anchor = best.place
            self._left_at -= best.n_read

    def _realign(self, token: int, kept: list[Hypothesis]) -> None:
        """Add the hypotheses that the last tokens suggest."""
        sources, anchor, age = self._sources, self._anchor, self._age
        taken = {hypothesis.place for hypothesis in kept}

        def add(place: int, streak: int, origin: Origin) -> None:
            if place not in taken and place < len(sources.tokens) and sources.tokens[place] != BREAK:
                taken.add(place)
                # Where nothing agreed yet, the reply may already have said what a patch would say.
                kept.append(Hypothesis(place, streak, origin, is_raw=streak == 0))

        for place in sources.find_near(token, anchor):
            add(place, sources.count_agreement(place), self._origin_near(place))
        add(anchor, 0, Origin.INSERTED)
        if anchor + age < sources.n_source:
            add(anchor + age, 0, Origin.REPLACED)
        if age > 1:
            add(anchor + 1, 0, Origin.SHORTENED)
        far = sources.find_far()
        if far is not None:
            add(far, sources.count_agreement(far), Origin.FAR)
        for place in sources.find_latest():
            add(place, sources.count_agreement(place), Origin.RECENT)

    def _look_back(self, token: int, kept: list[Hypothesis]) -> None:
        """While the reply repeats itself, look for the place where it goes on with the source."""
        taken = {hypothesis.place for hypothesis in kept}
        for place in self._sources.find_near(token, self._anchor):
            streak = self._sources.count_agreement(place)
            if streak >= FOUND and place not in taken and self._sources.tokens[place] != BREAK:
                kept.append(Hypothesis(place, streak, self._origin_near(place)))

    def _origin_near(self, place: int) -> Origin:
        """Return the origin of a place where the last tokens stand near the anchor."""
        ahead = place - 1 - self._anchor
        return Origin.BEHIND if ahead < 0 else Origin.AHEAD if ahead <= AHEAD else Origin.NEAR

    def _rank(self, hypotheses: list[Hypothesis]) -> list[Hypothesis]:
        if len(hypotheses) < 2:
            return hypotheses
        odds, overlay = self._odds, self._overlay

        def order(hypothesis: Hypothesis) -> tuple[float, int, int, int]:
            patch = None if hypothesis.n_read else hypothesis.next_patch(overlay)
            score = odds.score(odds.traits(hypothesis, self._age, patch))
            return -score, -hypothesis.streak, hypothesis.origin, hypothesis.place

        return sorted(hypotheses, key=order)[:MAX_HYPOTHESES]
