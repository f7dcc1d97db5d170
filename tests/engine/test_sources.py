"""The index of the sources finds what a scan of them finds, with or without a part that was indexed before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from plgd.engine import sources as module
from plgd.engine.source_index import FAR_GRAM, GRAMS, SourceIndex
from plgd.engine.sources import BREAK, Sources

tokens = st.lists(st.integers(0, 9), max_size=30)


def places_behind(history: Sequence[int], n: int) -> Iterator[int]:
    """Yield the places behind all earlier occurrences of the last n tokens, by comparing every place."""
    for place in range(n, len(history)):
        if history[place - n : place] == history[-n:]:
            yield place


def near(history: Sequence[int], n_source: int, token: int, anchor: int) -> list[int]:
    """Return the places behind a token near another place, nearest first; of two as near, the one ahead first."""
    places = [place for place in range(n_source) if history[place] == token]
    ahead = [place for place in places if 0 <= place - anchor <= module.NEAR_AHEAD]
    behind = [place for place in places if 0 < anchor - place <= module.NEAR_BACK]
    ordered = sorted((*ahead, *behind), key=lambda place: (abs(place - anchor), place < anchor))
    return [place + 1 for place in ordered[: module.MAX_NEAR]]


@given(before=st.lists(tokens, max_size=2), text=tokens, behind=tokens, reply=tokens, data=st.data())
def test_look_ups_equal_a_scan(
    before: list[list[int]], text: list[int], behind: list[int], reply: list[int], data: st.DataObject
) -> None:
    """However much of the sources was indexed before, each look-up gives what a scan of all tokens gives."""
    texts = [*before, [*text, *behind], reply[:9]]
    known = SourceIndex(data.draw(st.sampled_from([text, text[:5], [], [2, 1, 0, 2]])))
    sources = Sources(texts, data.draw(st.none() | st.just(known)))
    history = [token for source in texts for token in (*source, BREAK)]
    assert history == sources.tokens
    start = data.draw(st.integers(0, len(history)))  # a copy from anywhere, across the borders, too
    for token in (*reply, *(token for token in history[start : start + 20] if token != BREAK)):
        sources.append(token)
        history.append(token)
        far = list(places_behind(history, FAR_GRAM))
        latest = [max(places_behind(history, n), default=None) for n in GRAMS]
        assert (far[0] if far else None) == sources.find_far()
        assert [place for place in latest if place is not None] == list(sources.find_latest())
        for anchor in (0, len(history) // 2, sources.n_source):
            assert near(history, sources.n_source, token, anchor) == list(sources.find_near(token, anchor))


def test_a_known_text_is_not_indexed_again() -> None:
    """What an index knows of a text stays where it is, however many sources begin with the text."""
    text = list(range(1000))
    known = SourceIndex(text)
    for texts in ([[*text, 7]], [[5, 6], text], [text, text]):
        sources = Sources(texts, known)
        assert sum(map(len, texts)) - len(text) + FAR_GRAM + 3 > len(sources._first)


def test_sources_are_cut_where_they_are_too_long() -> None:
    """Behind what is longer than the index takes, nothing is taken in."""
    size = module.MAX_SOURCE_TOKENS
    sources = Sources([[1] * size, [2] * 100, [3] * 100])
    assert [*[1] * size, BREAK, BREAK, BREAK] == sources.tokens
