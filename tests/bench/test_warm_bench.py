"""`plgd bench --warm` measures what an edit does, cold and warm, on any model."""

from __future__ import annotations

from functools import partial
from itertools import count

import pytest

from plgd.bench.first_token import begin_edit, measure_first_token
from plgd.bench.growth import measure_growth
from plgd.bench.keystrokes import long_text, measure_keystrokes
from plgd.bench.warm import text_of
from plgd.config import EngineConfig
from plgd.documents.warm import WarmStore
from scripted_model import ByteTokenizer, ScriptedModel

TEXT = long_text(60)


def ticks() -> partial[float]:
    """A clock that moves by a second with every look."""
    return partial(next, map(float, count()))


@pytest.mark.parametrize("policy", ["off", "cost"])
def test_an_edit_goes_as_far_as_its_first_token(policy: str) -> None:
    """One round is run; warm, it is run behind all but the instruction."""
    model, engine = ScriptedModel(TEXT + "```\n"), EngineConfig(policy=policy)  # type: ignore[arg-type]
    store = WarmStore(ticks())
    store.resize(1 << 60)
    cold = begin_edit(model, TEXT, "rename total", store, engine)
    warm = begin_edit(model, TEXT, "rename result", store, engine)
    assert (1, 1) == (cold.stats.n_rounds, warm.stats.n_rounds)
    assert cold.tokens[-3:] == warm.tokens[-3:]
    assert (0, True) == (cold.stats.n_cached_tokens, warm.stats.n_cached_tokens > len(TEXT))


def test_cold_and_warm_are_told_apart() -> None:
    """Each edit is timed from its beginning to its first token, and the bound over the cold rest and two steps."""
    found = measure_first_token(ScriptedModel(TEXT), TEXT, EngineConfig(), n_repeats=3, clock=ticks())
    assert len(TEXT) < found.cached_tokens < found.prompt_tokens
    # The clock ticks at a beginning and an end, and once where the store notes when a state was used.
    assert (1000.0, 2000.0, 1000.0) == (found.cold_ms, found.warm_ms, found.bound_ms)
    assert 0.5 == found.speedup


def test_keystrokes_are_timed_one_by_one() -> None:
    """So many characters are typed into a text of so many lines, and each has its time."""
    found = measure_keystrokes(ByteTokenizer(), n_lines=100, n_keystrokes=60, clock=ticks())
    assert (100, 60) == (found.n_lines, found.n_keystrokes)
    assert len(long_text(100)) + 60 == found.n_tokens
    assert [1000.0] * 3 == [found.p50_ms, found.p99_ms, found.longest_ms]


@pytest.mark.parametrize("n_tokens", [1, 45, 500, 8000])
def test_texts_are_as_long_as_asked(n_tokens: int) -> None:
    """A text is of whole lines, has no more tokens than asked for, and another line would be too much."""
    text = text_of(ByteTokenizer(), n_tokens)
    following = long_text(text.count("\n") + 1)
    assert following.startswith(text)
    assert len(text) <= n_tokens < len(following)


def test_long_texts_have_their_lines() -> None:
    """A text has as many lines as asked for, and they differ."""
    text = long_text(20_000)
    assert 20_000 == text.count("\n")
    assert len(set(text.splitlines())) > 5_000


def test_memory_is_watched_over_many_documents() -> None:
    """Requests go to many documents, of which the budget holds some; those that are held begin warm."""
    model, limit_bytes = ScriptedModel("```\n"), 500_000
    found = measure_growth(model, EngineConfig(), n_requests=100, active_bytes=lambda: 5, limit_bytes=limit_bytes)
    assert (100, 100, 0) == (found.n_documents, found.n_requests, found.device_growth_bytes)
    assert 100_000 < found.most_kept_bytes <= limit_bytes
    assert 3 <= found.n_kept <= 10
    assert 10 < found.n_warm < 90
