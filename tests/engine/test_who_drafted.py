"""Each token of a reply is known by who drafted it, or that no one did."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from characters import pieces
from doubles import HistoryTarget, PlannedGovernor, ScriptedTarget
from plgd.engine.drafting import make_file_proposer
from plgd.engine.governor import make_governor
from plgd.engine.proposer import NO_DRAFT, Draft, Share
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.engine.types import Round
from session_replies import NEVER, decode_reply, session_of

MIXED = Draft((1, 2, 3, 4, 5), "substitution", 0, (), (Share("file", 2), Share("substitution", 1), Share("file", 2)))


@pytest.mark.parametrize(
    ("draft", "n_tokens", "shares"),
    [
        (NO_DRAFT, 0, ()),
        (Draft((1, 2), "ngram", 0), 2, (("ngram", 2),)),
        (Draft((1, 2), "ngram", 0), 1, (("ngram", 1),)),
        (MIXED, 0, ()),
        (MIXED, 1, (("file", 1),)),
        (MIXED, 2, (("file", 2),)),
        (MIXED, 3, (("file", 2), ("substitution", 1))),
        (MIXED, 4, (("file", 2), ("substitution", 1), ("file", 1))),
        (MIXED, 5, MIXED.shares),
    ],
)
def test_a_draft_tells_whose_its_first_tokens_are(
    draft: Draft, n_tokens: int, shares: tuple[tuple[str, int], ...]
) -> None:
    """However much of a draft is verified or accepted, its shares are cut to that."""
    assert shares == draft.shares_of(n_tokens)


def test_a_rename_is_a_copy_with_substitutions_in_it() -> None:
    """In the draft of a file that is being renamed, the new names are the substitution's and the rest is the file's."""
    codec = pieces()
    source = "total = 1\nprint(total)\nother = 2\nreturn total\n"
    proposer = make_file_proposer([codec.encode(source)], n_prompt=0, codec=codec)
    proposer.extend(codec.encode("sum = 1\n"))
    draft = proposer.propose(99)
    drafted, start = [], 0
    for share in draft.shares_of(len(draft.tokens)):
        drafted.append((share.proposer, codec.decode(draft.tokens[start : start + share.n_tokens])))
        start += share.n_tokens
    assert [
        ("file", "print("),
        ("substitution", "sum"),
        ("file", ")\nother = 2\nreturn"),
        ("substitution", " sum"),
        ("file", "\n"),
    ] == drafted


def test_what_the_reply_repeats_of_itself_is_ngram() -> None:
    """A draft that is read from the reply or from the prompt around the sources is the n-grams'."""
    codec = pieces()
    proposer = make_file_proposer([codec.encode("a b\n")], n_prompt=0, codec=codec)
    proposer.extend(codec.encode("one two three four five\none two three"))
    draft = proposer.propose(1)
    assert (Share("ngram", 1),) == draft.shares_of(1)


@pytest.mark.parametrize(
    ("wrong_at", "n_accepted", "shares"),
    [(None, 4, (Share("planned", 4),)), (2, 2, (Share("planned", 2),)), (0, 0, ())],
)
def test_rounds_tell_whose_the_accepted_tokens_are(
    wrong_at: int | None, n_accepted: int, shares: tuple[Share, ...]
) -> None:
    """Of a draft that is right, half right or wrong, the accepted tokens are the proposer's and no others."""
    reply = list(range(10, 20))
    session = session_of(ScriptedTarget(reply), [1, *reply], [(4, wrong_at), (0, None)], [(4, False)])
    first, second, *_ = decode_reply(session, [1], Stops(NEVER, 9))
    assert (n_accepted, shares) == (first.n_accepted, first.shares)
    assert () == second.shares


words = st.lists(st.sampled_from(["total", "sum", " = ", "1", "\n", "(", ")", "a b"]), max_size=30).map("".join)


@given(source=words, reply=words, policy=st.sampled_from(["cost", "planned"]), seed=st.integers(0, 9))
def test_the_counts_of_all_proposers_are_the_counts_of_all(source: str, reply: str, policy: str, seed: int) -> None:
    """Whatever was drafted, rounds and statistics give every token to one proposer or to none."""
    codec = pieces()
    prompt, said = [1 << 19], codec.encode(reply)
    proposer = make_file_proposer([codec.encode(source)], n_prompt=1, codec=codec)
    # Misled for a while, the target says what no proposer knows.
    target = ScriptedTarget(said, end=1 << 18) if seed else HistoryTarget(vocabulary=3)
    governor = PlannedGovernor([(9, False), (0, True), (3, False)]) if policy == "planned" else make_governor(policy)
    session = Session(target, proposer, governor)
    assert list(session.prefill(prompt, 9)) == [1]
    with closing(session.decode(Stops(frozenset({1 << 18}), len(said) + 5))) as decoded:
        rounds: list[Round] = list(decoded)
    accepted: Counter[str] = Counter()
    for each in rounds:
        assert each.n_accepted == sum(share.n_tokens for share in each.shares)
        assert len(each.tokens) - each.n_accepted in {0, 1}
        for share in each.shares:
            accepted[share.proposer] += share.n_tokens
    counts = session.stats.proposers
    assert +accepted == Counter({name: count.n_accepted for name, count in counts.items() if count.n_accepted})
    assert session.stats.n_accepted == sum(count.n_accepted for count in counts.values())
    assert session.stats.n_drafted == sum(count.n_drafted for count in counts.values())
    assert all(0 < count.n_drafts <= session.stats.n_drafted_rounds for count in counts.values())
