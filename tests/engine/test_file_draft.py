"""The file draft follows a rewrite through its source."""

from __future__ import annotations

import random
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doubles import HistoryTarget, ScriptedTarget
from plgd.engine.chain import ProposerChain
from plgd.engine.cost import ASSUMED_COSTS
from plgd.engine.file_draft import FileDraftProposer
from plgd.engine.governor import make_governor
from plgd.engine.ngram import NgramProposer
from plgd.engine.proposer import NO_DRAFT
from plgd.engine.session import Session
from plgd.engine.stats import Stats
from plgd.engine.stops import Stops

SOURCE = list(range(100, 400))
END = 7


def proposed(source: list[int], reply: list[int], n: int = 8, *others: list[int]) -> list[int]:
    """Return what is proposed once the reply is so far."""
    proposer = FileDraftProposer([source, *others], n_prompt=0)
    proposer.extend(reply)
    return list(proposer.propose(n).tokens)


def rewrite(prompt: list[int], sources: list[list[int]], reply: list[int]) -> tuple[list[int], Stats]:
    """Decode a scripted reply with the `cost` policy; return its tokens and what was counted."""
    proposer = ProposerChain(FileDraftProposer(sources, len(prompt)), NgramProposer(2, 3))
    target = ScriptedTarget(reply, end=END)

    def clock() -> float:
        return sum(ASSUMED_COSTS.round_ms(width, 0) for width in target.widths)

    session = Session(target, proposer, make_governor("cost"), clock=clock)
    for _ in session.prefill(prompt, 64):
        pass
    with closing(session.decode(Stops(frozenset({END}), len(reply) + 10))) as rounds:
        for _ in rounds:
            pass
    return session.tokens[len(prompt) :], session.stats


def test_a_reply_that_has_not_begun_copies_the_source() -> None:
    """The cursor begins at the first token of the text to rewrite, also behind a prompt."""
    proposer = FileDraftProposer([SOURCE], n_prompt=3)
    proposer.extend([1, 2])
    proposer.extend([3])
    assert tuple(SOURCE[:8]) == proposer.propose(8).tokens


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        pytest.param(SOURCE[:50], 50, id="copied"),
        pytest.param([*SOURCE[:50], 1, SOURCE[51]], 52, id="one token replaced"),
        pytest.param([*SOURCE[:50], 1, 2, 3, SOURCE[53]], 54, id="as many tokens replaced"),
        pytest.param([*SOURCE[:50], 1, 2, 3, SOURCE[51]], 52, id="one token replaced by three"),
        pytest.param([*SOURCE[:50], 1, SOURCE[50]], 51, id="one token inserted"),
        pytest.param([*SOURCE[:50], *range(1, 30), SOURCE[50]], 51, id="many tokens inserted"),
        pytest.param([*SOURCE[:50], SOURCE[53], SOURCE[54]], 55, id="three tokens deleted"),
        pytest.param([*SOURCE[:50], *SOURCE[90:92]], 92, id="a page deleted"),
        pytest.param([*SOURCE[:50], *SOURCE[280:290]], 290, id="moved to another place"),
        pytest.param([*SOURCE[:50], *SOURCE[10:20]], 20, id="a block repeated"),
    ],
)
def test_re_aligns_at_once(reply: list[int], place: int) -> None:
    """One or two agreeing tokens after a change are enough for the cursor to be back, near the place it left."""
    assert SOURCE[place : place + 8] == proposed(SOURCE, reply)


def test_what_the_reply_inserted_before_is_foretold() -> None:
    """An insertion that the reply repeats is read from the reply itself."""
    inserted = [1, 2, 3, 4, 5]
    reply = [*SOURCE[:20], *inserted, *SOURCE[20:40], *inserted[:2]]
    assert inserted[2:] == proposed(SOURCE, reply, 3)


def test_a_repeated_insertion_leads_back_to_the_source() -> None:
    """While the reply repeats what it inserted before and what stood behind it, the source's own next part is found."""
    parts = [list(range(start, start + 12)) for start in (100, 200, 300)]
    between, inserted = list(range(50, 60)), list(range(1, 9))
    source = [token for part in parts for token in (*part, *between)]
    reply = [*parts[0], *inserted, *between, *parts[1], *inserted, *between]
    assert [*parts[2], *between] == proposed(source, reply, 30)


def test_of_equal_places_the_text_to_rewrite_is_read() -> None:
    """Tie-break: equally likely hypotheses go by streak, then origin, then place, so the first source wins."""
    other = [*SOURCE[:10], 1, 2, 3]
    assert SOURCE[:12] == proposed(SOURCE, [], 12, other)
    assert [*other[5:10], 1, 2] == proposed(other, SOURCE[:5], 7, SOURCE)


def test_a_hint_takes_over_where_the_reply_follows_it() -> None:
    """After the reply left the document for the hint, the draft is read from the hint."""
    hint = [*SOURCE[:30], *range(1, 20), *SOURCE[30:60]]
    assert [4, 5, 6, 7, 8] == proposed(SOURCE, [*SOURCE[:30], 1, 2, 3], 5, hint)


def test_drafts_end_with_their_source() -> None:
    """No draft runs from one source into the next."""
    assert SOURCE[295:] == proposed(SOURCE, SOURCE[:295], 20, [1, 2, 3])
    assert [] == proposed(SOURCE, SOURCE, 20, [1, 2, 3])


@pytest.mark.parametrize("source", [[], [5]], ids=["empty", "one token"])
def test_short_sources(source: list[int]) -> None:
    """A document of nothing proposes nothing; of one token, that one."""
    assert source == proposed(source, [], 8)
    assert [] == proposed([], [1, 2, 3])


def test_nothing_is_proposed_without_sources() -> None:
    """A request without any source is no error."""
    proposer = FileDraftProposer([], n_prompt=2)
    proposer.extend([1, 2, 3])
    assert NO_DRAFT == proposer.propose(5)


def test_chances_are_chances() -> None:
    """A draft tells for each token how likely it is; a long copy is surer than a fresh re-alignment."""
    proposer = FileDraftProposer([SOURCE], 0)
    proposer.extend(SOURCE[:100])
    sure = proposer.propose(4)
    proposer.extend([1, SOURCE[101]])
    doubtful = proposer.propose(4)
    assert all(0 < chance < 1 for draft in (sure, doubtful) for chance in draft.chances)
    assert len(sure.tokens) == len(sure.chances) == 4
    assert sure.chances[0] > doubtful.chances[0]


tokens = st.lists(st.integers(0, 5), max_size=40)


@given(sources=st.lists(tokens, max_size=3), reply=tokens, max_tokens=st.integers(0, 9))
def test_any_sources_and_any_reply_are_taken(sources: list[list[int]], reply: list[int], max_tokens: int) -> None:
    """Whatever the sources and the reply, a draft is no longer than asked and consists of tokens that were seen."""
    proposer = FileDraftProposer(sources, 0)
    seen = {token for source in sources for token in source} | set(reply)
    for place in range(len(reply) + 1):
        draft = proposer.propose(max_tokens)
        assert len(draft.tokens) == len(draft.chances) <= max_tokens
        assert set(draft.tokens) <= seen
        proposer.extend(reply[place : place + 1])


@given(prompt=st.lists(st.integers(0, 3), min_size=1, max_size=9), seed=st.integers(0, 50), cut=st.integers(0, 30))
def test_drafted_equals_plain(prompt: list[int], seed: int, cut: int) -> None:
    """Whatever the file draft proposes, the reply is that of plain decoding."""
    replies: list[list[int]] = []
    for policy in ("off", "cost"):
        # The target's own words, some of them wrong, are the source: drafts that land and drafts that do not.
        source = [*replies[0][:cut], 3, 1, *replies[0][cut:]] if replies else []
        session = Session(HistoryTarget(seed=seed), FileDraftProposer([source], len(prompt)), make_governor(policy))
        for _ in session.prefill(prompt, 4):
            pass
        with closing(session.decode(Stops(frozenset(), 60))) as rounds:
            for _ in rounds:
                pass
        replies.append(session.tokens[len(prompt) :])
    assert replies[0] == replies[1]


def test_long_copies_take_few_rounds() -> None:
    """A rewrite with two changes in 300 tokens takes about one round for each 30 tokens, as the assumed costs allow."""
    reply = [*SOURCE[:100], 1, *SOURCE[101:200], 2, 3, *SOURCE[200:]]
    got, stats = rewrite([1, 2, 3], [SOURCE], reply)
    assert [*reply, END] == got
    assert stats.n_rounds <= 25
    assert {"file"} == set(stats.proposers)


@pytest.mark.parametrize("n_others", [1, 3, 12])
def test_other_sources_that_are_wrong_cost_next_to_nothing(n_others: int) -> None:
    """Sources that the reply does not resemble, beside the one that it does, take at most one round in ten more."""
    reply = [*SOURCE[:100], 1, *SOURCE[101:200], 2, 3, *SOURCE[200:]]
    others = [[(place * 7919) % 5003 + 5000 * (n + 1) for place in range(3000)] for n in range(n_others)]
    alone, with_others = rewrite([1, 2, 3], [SOURCE], reply), rewrite([1, 2, 3], [SOURCE, *others], reply)
    assert alone[0] == with_others[0]
    assert with_others[1].n_rounds <= 1.1 * alone[1].n_rounds


BAD_SOURCES = {
    "empty": [],
    "one repeated token": [5] * 20_000,
    "another text": [(place * 7919) % 5003 + 5000 for place in range(5_000)],
    "two tokens in turn": [5, 6] * 5_000,
}


@pytest.mark.parametrize("source", BAD_SOURCES.values(), ids=BAD_SOURCES)
def test_bad_sources_cost_next_to_nothing(source: list[int]) -> None:
    """Where nothing of the source comes back, 98 of 100 passes are still plain ones."""
    chance = random.Random(3)  # noqa: S311 - no secret
    reply = [chance.randrange(1000, 4000) for _ in range(600)]
    got, stats = rewrite([1, 2, 3], [source], reply)
    assert [*reply, END] == got
    assert stats.n_drafted_rounds <= 0.02 * stats.n_rounds


@pytest.mark.parametrize("source", [BAD_SOURCES["one repeated token"], list(range(60_000))], ids=["one token", "all"])
def test_a_token_takes_bounded_work(source: list[int]) -> None:
    """A long source does not make a token slower: work is counted in look-ups, not in source tokens."""
    proposer = FileDraftProposer([source], 0)
    calls = 0
    original = proposer._sources.count_agreement

    def counted(place: int) -> int:
        nonlocal calls
        calls += 1
        return original(place)

    proposer._sources.count_agreement = counted  # type: ignore[method-assign]  # counts and passes on
    proposer.extend([5, 1, 5, 5, 2, 5] * 20)
    assert calls <= 120 * 16


def test_memory_is_bounded_and_told() -> None:
    """Sources beyond the limit are cut, and the proposer says how much memory it takes."""
    small, huge = FileDraftProposer([SOURCE], 0), FileDraftProposer([list(range(300_000)), SOURCE], 0)
    assert small.n_bytes < 200_000
    assert huge.n_bytes < 120_000_000
