"""The warm store: states come back to their documents, the least recently used go first, and memory has a limit."""

from __future__ import annotations

import random
from itertools import count

import pytest

from doubles import FailingTarget, HistoryTarget, KeptStates
from plgd.documents import indexes as module
from plgd.documents.warm import WarmStore
from plgd.errors import EngineError, RollbackFailed
from replies import plain_reply
from scripted_model import ByteTokenizer
from session_replies import reference_reply

A, B, C = "a", "b", "c"
BYTES_PER_TOKEN = 100  # of the double's kept states


@pytest.fixture
def store() -> WarmStore:
    """A store on a clock that moves by a second with every look, with room for twenty tokens."""
    seconds = count()
    made = WarmStore(lambda: float(next(seconds)))
    made.resize(20 * BYTES_PER_TOKEN)
    return made


def use(store: WarmStore, label: str, prompt: list[int]) -> int:
    """Prefill a prompt as an edit does; return how much of it was warm."""
    target = HistoryTarget()
    with store.lend(label, target, prompt) as loan:
        rest = prompt[loan.n_warm + 1 if loan.n_warm else 0 :]
        if rest:
            target.prefill(rest)
        assert reference_reply(prompt, 3) == plain_reply(target, 3)
    return loan.n_warm


def test_the_next_prompt_begins_warm(store: WarmStore) -> None:
    """What a prompt has in common with the one before it is warm, its last token excepted."""
    assert [0, 3, 4, 0] == [
        use(store, A, [1, 2, 3, 0, 0]),
        use(store, A, [1, 2, 3, 1, 1]),
        use(store, A, [1, 2, 3, 1, 1]),
        use(store, B, [1, 2, 3, 1, 1]),
    ]
    counts = store.counts
    assert (4, 2, 20, 7) == (counts.n_prompts, counts.n_hits, counts.n_prompt_tokens, counts.n_cached_tokens)


def test_the_least_recently_used_goes_first(store: WarmStore) -> None:
    """When memory is short, the state that was used longest ago goes."""
    for label in (A, B, C):
        use(store, label, [1] * 8)
    assert (0, 7) == (store.bytes_of(A), store.reach(C, [1] * 8))
    use(store, B, [1] * 8)
    use(store, A, [1] * 8)
    assert 0 == store.bytes_of(C)
    assert 2 == store.counts.n_dropped


def test_what_is_larger_than_the_budget_is_not_kept(store: WarmStore) -> None:
    """A state that does not fit alone is let go, and leaves the others where there is room for them."""
    use(store, A, [1] * 30)
    assert (0, 0) == (store.counts.n_bytes, store.counts.n_states)


def test_memory_stays_within_the_budget(store: WarmStore) -> None:
    """A hundred documents and a thousand random requests: every reply is the cold one, and nothing grows."""
    rng = random.Random(1)  # noqa: S311  # the same requests in every run
    texts = [[rng.randrange(4) for _ in range(rng.randrange(1, 15))] for _ in range(100)]
    for _ in range(1000):
        place = rng.randrange(100) if rng.random() < 0.5 else rng.randrange(3)
        if rng.random() < 0.3:
            text = texts[place]
            text[rng.randrange(len(text)) :] = [rng.randrange(4) for _ in range(rng.randrange(1, 6))]
        store.index(f"d{place}", "x" * len(texts[place]), ByteTokenizer())
        use(store, f"d{place}", [*texts[place], rng.randrange(4)])
        assert store.counts.n_bytes <= store.limit_bytes
        assert store.counts.n_states == len(store._states) <= 20
    assert store.counts.n_hits > 100


def test_a_cancelled_edit_leaves_its_prefill(store: WarmStore) -> None:
    """An edit that is closed half way gives back what it prefilled."""

    def edit() -> object:
        target = HistoryTarget()
        with store.lend(A, target, [1, 2, 3, 0, 0]):
            target.prefill([1, 2, 3])
            yield

    steps = edit()
    next(steps)  # type: ignore[call-overload]
    steps.close()  # type: ignore[attr-defined]
    assert 2 == store.reach(A, [1, 2, 3, 0, 0])


def test_a_failed_edit_leaves_nothing(store: WarmStore) -> None:
    """After the model failed, its state may hold anything, and none of it is used again."""
    use(store, A, [1, 2, 3])
    target = FailingTarget(1)
    with pytest.raises(EngineError), store.lend(A, target, [1, 2, 3, 0]):
        target.prefill([0])
    assert 0 == store.reach(A, [1, 2, 3, 0])


def test_a_state_that_cannot_be_kept_costs_no_reply(store: WarmStore) -> None:
    """When the caches do not go back after a reply, the edit is good all the same, and the next one begins cold."""

    class StuckTarget(HistoryTarget):
        def keep(self, n: int) -> KeptStates | None:
            raise RollbackFailed.of(n, 0, "a full cache")

    target = StuckTarget()
    with store.lend(A, target, [1, 2, 3]):
        target.prefill([1, 2, 3])
        reply = plain_reply(target, 3)
    assert reference_reply([1, 2, 3], 3) == reply
    assert 0 == use(store, A, [1, 2, 3])


def test_a_state_in_use_is_copied(store: WarmStore) -> None:
    """While one edit uses a document's state, another begins with a copy of what it has read, and both are right."""
    use(store, A, [1, 2, 3, 0, 0])
    first = HistoryTarget()
    with store.lend(A, first, prompt := [1, 2, 3, 0, 0]) as loan:
        begun = plain_reply(first, 2)
        assert [4, 3, 2, 0] == [
            loan.n_warm,
            use(store, A, [1, 2, 3, 1, 1]),
            use(store, A, [1, 2, 0, 1]),
            use(store, B, [1, 2, 3, 0, 0]),
        ]
        assert reference_reply(prompt, 5) == begun + plain_reply(first, 3)
    assert 4 == store.reach(A, prompt)


def test_a_failed_edit_is_not_copied(store: WarmStore) -> None:
    """An edit whose model failed is no source of anything, nor does anybody wait for it."""
    target = FailingTarget(2)
    target.prefill([1, 2])
    with pytest.raises(EngineError), store.lend(A, target, [1, 2, 3, 0]):
        target.prefill([3, 0])
    assert (None, False, 0) == (
        store.awaited(A, [1, 2, 3, 0]),
        store.is_lent(A),
        use(store, A, [1, 2, 3, 0]),
    )


def test_what_another_is_reading_is_awaited(store: WarmStore) -> None:
    """As long as another edit has still to read what a prompt begins with, and no longer, waiting is worth it."""
    other, prompt = HistoryTarget(), [1, 2, 3, 1]
    with store.lend(A, other, [1, 2, 3, 0, 0]):
        assert (0, None, None) == (store.awaited(A, prompt), store.awaited(A, [0, 1]), store.awaited(B, prompt))
        other.prefill([1, 2, 3])
        assert 2 == store.awaited(A, prompt)
        other.prefill([0])
        assert (None, None) == (store.awaited(A, prompt), store.awaited(A, [0, 1]))
        assert 3 == use(store, A, prompt)
    assert store.awaited(A, prompt) is None


@pytest.mark.parametrize("trims_far", [True, False])
def test_prefill_piece_by_piece(store: WarmStore, trims_far: bool) -> None:
    """A prompt that nobody asked for yet is prefilled in pieces, and is as warm then as after an edit."""
    prompt = [1, 2, 3, 0, 1, 2, 3]
    cold = [store.extend(A, HistoryTarget(trims_far=trims_far), prompt, 2) for _ in range(4)]
    assert [4, 2, 0, 0] == cold
    assert 6 == store.reach(A, prompt)
    assert 6 == use(store, A, prompt)


def test_old_states_expire(store: WarmStore) -> None:
    """What was not used for long is let go."""
    use(store, A, [1, 2])
    use(store, B, [1, 2])
    indexes = [store.index(label, "x = 1\n" * 300, ByteTokenizer()) for label in (A, B)]
    for index in indexes:
        index.source()
    first = store.oldest_use
    assert first is not None
    assert (False, True, False) == (store.expire(first - 1), store.expire(first), store.expire(first))
    assert (0, 1) == (store.bytes_of(A), store.reach(B, [1, 2]))
    assert [True, False] == [index.n_source == 0 for index in indexes]


def test_forgetting_and_clearing(store: WarmStore) -> None:
    """A document can be forgotten; with the model everything goes."""
    for label in (A, B):
        use(store, label, [1, 2])
    store.forget("a")
    assert ["b"] == [name for name, _, _ in store.counts.documents]
    store.clear()
    assert (0, None) == (store.counts.n_bytes, store.oldest_use)


def test_token_indexes_are_bounded(store: WarmStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token indexes of the texts used longest ago go when all are too long together."""
    monkeypatch.setattr(module, "MAX_CHARACTERS", 10)
    first = store.index("a", "123456", ByteTokenizer())
    assert first is store.index("a", "1234567", ByteTokenizer())
    store.index("b", "12345", ByteTokenizer())
    assert first is not store.index("a", "1", ByteTokenizer())


def test_draft_indexes_are_bounded(store: WarmStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The draft indexes of the texts used longest ago go when all are too long together; their tokens stay."""
    monkeypatch.setattr(module, "MAX_SOURCE_TOKENS", 2000)
    indexes = [store.index(name, "x = 1\n" * 300, ByteTokenizer()) for name in "ab"]
    for index in indexes:
        index.source()
    assert 1000 < indexes[0].n_source
    assert indexes[1] is store.index("b", "x = 1\n" * 300, ByteTokenizer())
    assert (0, True) == (indexes[0].n_source, indexes[1].n_source > 1000)
    assert indexes[0] is store.index("a", "x = 1\n" * 300, ByteTokenizer())


def test_without_a_budget_nothing_is_kept() -> None:
    """Before a model says how much memory there is, nothing is kept."""
    store = WarmStore(lambda: 0.0)
    assert [0, 0] == [use(store, A, [1, 2, 3]), use(store, A, [1, 2, 3])]
