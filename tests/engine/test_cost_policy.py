"""The cost policy is the best of all policies on every device, reckoned on simulated clocks."""

from __future__ import annotations

from contextlib import closing
from functools import cache

import pytest

from doubles import CostedTarget
from plgd.engine.correction import LiveCosts
from plgd.engine.cost import ASSUMED_COSTS, StepCosts
from plgd.engine.cost_governor import CostGovernor
from plgd.engine.governor import make_governor, make_proposer
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.engine.types import Outcome
from session_replies import NEVER, decode_reply
from traces import TRACES

# Shapes of real devices, in milliseconds: a processor, a laptop whose wide rounds come in tiles, one that was not
# measured past 9 rows, a server card with a long bubble, and one whose target pads its blocks.
DEVICES = {
    "cpu": StepCosts(
        (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64),
        (0,),
        ((38.0, 47.1, 51.7, 58.9, 63.8, 65.7, 76.0, 77.9, 104.5, 110.2, 178.6),),
        (37.5,),
        max_width=128,
    ),
    "tiles": StepCosts(
        (1, 2, 3, 4, 5, 8, 9, 32, 64), (0,), ((5.3, 5.6, 6.1, 7.6, 9.3, 13.8, 22.8, 23.9, 42.4),), (4.7,), max_width=64
    ),
    "narrow": StepCosts(
        (1, 2, 3, 4, 5, 6, 8, 9), (0,), ((20.0, 23.0, 31.8, 42.0, 57.2, 66.0, 66.0, 65.6),), (18.6,), max_width=9
    ),
    "bubble": StepCosts(
        (1, 2, 4, 8, 16, 32, 64, 128),
        (0,),
        ((13.8, 17.9, 26.6, 21.1, 21.9, 29.9, 30.4, 36.7),),
        (8.1,),
        max_width=128,
    ),
    "padded": StepCosts(
        (1, 2, 8, 64, 128),
        (0, 8000),
        ((9.5, 12.1, 14.0, 13.0, 15.8), (12.0, 15.0, 18.0, 17.0, 20.0)),
        (9.3, 11.5),
        128,
        padded=True,
    ),
}


def run(
    policy: str, trace: tuple[list[int], list[int]], device: StepCosts, costs: StepCosts | LiveCosts | None = None
) -> tuple[float, Session]:
    """Decode a trace; return the simulated milliseconds and the session."""
    prompt, reply = trace
    target = CostedTarget(reply, device)
    governor = make_governor(policy, costs=costs or device)
    session = Session(target, make_proposer(policy), governor, clock=target.clock)
    decode_reply(session, prompt, Stops(NEVER, len(reply)))
    assert prompt + reply == session.tokens
    return target.elapsed_ms, session


@cache
def elapsed_ms(policy: str, kind: str, device: str) -> float:
    """Return the simulated time of a policy over three traces of a kind."""
    return sum(run(policy, TRACES[kind](seed), DEVICES[device])[0] for seed in range(3))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", TRACES)
def test_no_policy_is_better_by_more_than_three_percent(kind: str, device: str) -> None:
    """On every kind of text and every device, `cost` is within 3 % of the best policy, plain decoding included."""
    others = {policy: elapsed_ms(policy, kind, device) for policy in ("off", "ds4", "graded", "gated")}
    assert elapsed_ms("cost", kind, device) <= 1.03 * min(others.values())


@pytest.mark.parametrize("device", DEVICES)
def test_cost_is_best_on_the_whole(device: str) -> None:
    """Over all kinds of text together, `cost` is the fastest policy on every device."""

    def product(policy: str) -> float:
        result = 1.0
        for kind in TRACES:
            result *= elapsed_ms(policy, kind, device)
        return result

    assert all(product("cost") < product(policy) for policy in ("off", "ds4", "graded", "gated"))


def test_wide_drafts_are_made_where_they_pay() -> None:
    """Where 64 rows cost little more than 8, drafts grow past the references' bound of 7; where they do not, not."""
    widths = {name: max(run("cost", TRACES["copied"](0), DEVICES[name])[1].stats.widths) for name in DEVICES}
    assert widths["padded"] == 128
    assert widths["bubble"] >= 64
    assert widths["narrow"] <= 9


def test_a_table_that_promises_too_much_is_corrected() -> None:
    """On a device whose drafted rounds cost five times what the table says, one reply finds out, the next knows.

    Live costs are shared by the sessions of a model.
    """
    promised = DEVICES["cpu"]
    device = StepCosts(
        promised.widths,
        promised.contexts,
        (
            tuple(
                cost * (1.0 if width == 1 else 5.0)
                for width, cost in zip(promised.widths, promised.costs_ms[0], strict=True)
            ),
        ),
        promised.pipelined_ms,
        promised.max_width,
    )
    for kind in TRACES:
        costs = LiveCosts(promised)
        for allowed in (1.1, 1.02):
            trace = TRACES[kind](0)
            plain_ms, _ = run("off", trace, device)
            cost_ms, _ = run("cost", trace, device, costs)
            assert cost_ms <= allowed * plain_ms


@pytest.mark.parametrize("device", DEVICES)
def test_an_unmeasured_device_is_learnt(device: str) -> None:
    """Without a table of its own, a device gains on copies and loses no more than 5 % on other text."""
    for kind, factor in (("copied", 0.7), ("novel", 1.05), ("ambiguous", 1.05)):
        trace = TRACES[kind](0)
        plain_ms, _ = run("off", trace, DEVICES[device])
        cost_ms, _ = run("cost", trace, DEVICES[device], ASSUMED_COSTS)
        assert cost_ms <= factor * plain_ms


def test_it_pauses_by_itself_and_resumes_on_shadow_evidence() -> None:
    """After a stretch where nothing lands, drafting has stopped; when copying begins again, probes bring it back."""
    noise_prompt, noise = TRACES["ambiguous"](1)
    text = [token + 100 for token in TRACES["copied"](1)[0]]
    trace = (noise_prompt + text, noise + text)
    _, session = run("cost", trace, DEVICES["narrow"])
    counts = session.stats.governor
    assert counts.n_pauses > 0
    assert counts.n_paused_rounds > 0.7 * len(noise)
    assert counts.n_shadow_confirmations > 0
    assert session.stats.n_accepted > 0.7 * len(text)


def test_replays_are_deterministic() -> None:
    """The same trace and table give the same rounds and the same simulated time."""
    first_ms, first = run("cost", TRACES["partly novel"](5), DEVICES["bubble"])
    second_ms, second = run("cost", TRACES["partly novel"](5), DEVICES["bubble"])
    assert first_ms == second_ms
    assert first.stats == second.stats


def test_a_likely_draft_runs_behind_the_step_in_flight() -> None:
    """With a long bubble, a draft that is nearly certain is fed behind the step in flight, without waiting."""
    governor = CostGovernor(LiveCosts(DEVICES["bubble"]))
    governor.limit()
    certain = Draft(tuple(range(128)), "file", 64, chances=(0.9999,) * 128)
    assert governor.choose(certain, 100, in_flight=True) == 128  # a block of 128 rows; the head is fed already


def test_a_doubtful_draft_waits_for_the_step_in_flight() -> None:
    """A draft whose first token may well be wrong is not run blindly: the step is read, and no other is submitted."""
    governor = CostGovernor(LiveCosts(DEVICES["bubble"]))
    governor.limit()
    doubtful = Draft(tuple(range(64)), "file", 64, chances=(0.6, *(0.999,) * 63))
    assert governor.choose(doubtful, 100, in_flight=True) == 0
    assert governor.pipeline_after > 100


def test_a_doubtful_draft_waits_for_its_first_token() -> None:
    """When the first token of a draft is doubtful and the rest is not, a plain round that settles it comes first."""
    governor = begun(DEVICES["cpu"])
    for first, expected in ((0.3, 0), (0.95, 64)):
        governor.limit()
        draft = Draft(tuple(range(64)), "file", 64, chances=(first, *(0.999,) * 63))
        assert expected == governor.choose(draft, 100, in_flight=False)


def begun(costs: StepCosts) -> CostGovernor:
    """Return the governor of a reply whose first round is over."""
    governor = CostGovernor(LiveCosts(costs))
    governor.observe(Outcome(NO_DRAFT, 0, 0, (1,), 99, pipelined=False, in_flight=False, elapsed_ms=None))
    return governor


def observe_plain(governor: CostGovernor, draft: Draft, token: int) -> None:
    """Run a plain round in which a draft was proposed and a token came."""
    governor.limit()
    assert governor.choose(draft, 100, in_flight=False) == 0
    governor.observe(Outcome(draft, 0, 0, (token,), 100, pipelined=False, in_flight=False, elapsed_ms=None))


@pytest.mark.parametrize("came_true", [True, False])
def test_shadow_probes_alone_decide_when_drafting_resumes(*, came_true: bool) -> None:
    """Proposals that came true in plain decoding, unverified, bring drafting back; proposals that did not, do not."""
    governor = CostGovernor(LiveCosts(DEVICES["bubble"]))
    for _ in range(8):
        # A single token never pays for a second row here, so that nothing but probes can teach.
        observe_plain(governor, Draft((7,), "ngram", 2), 7 if came_true else 8)
    governor.limit()
    draft = Draft(tuple(range(15)), "ngram", 2)
    assert came_true == (governor.choose(draft, 100, in_flight=False) > 0)
    assert governor.counts.n_shadow_probes == 8


def test_a_probe_cut_short_by_a_draft_still_teaches() -> None:
    """When drafting resumes while a probe is open, the tokens of it that came true so far count."""
    taught, untaught = (CostGovernor(LiveCosts(DEVICES["narrow"])) for _ in range(2))
    probe = Draft((7, 8, 9, 10, 11, 12), "ngram", 2)
    for token in (7, 8, 9):
        taught.limit()
        taught.choose(probe, 100, in_flight=False)
        taught.observe(Outcome(probe, 0, 0, (token,), 100, pipelined=False, in_flight=False, elapsed_ms=None))
    other = Draft((1,), "file", 40, chances=(1.0,))
    for governor in (taught, untaught):
        governor.observe(Outcome(other, 1, 1, (1, 2), 100, pipelined=False, in_flight=False, elapsed_ms=None))
    for match_length in (3, 5):  # behind two tokens that came true, and where nothing is known yet
        proposal = Draft((1,), "ngram", match_length)
        assert next(taught._chances.survival(proposal)) > next(untaught._chances.survival(proposal))


def test_measured_losses_close_the_gate_and_time_opens_it() -> None:
    """A likely draft is refused once drafted rounds were measured slower than plain ones, and tried again later.

    The rounds are such as live costs cannot learn from: each met a step in flight.
    """
    governor = CostGovernor(LiveCosts(DEVICES["bubble"]))
    draft = Draft((5,) * 64, "ngram", 64)
    n_lost = 0
    while n_lost < 1000 and governor.limit() and governor.choose(draft, 100, in_flight=True):
        outcome = Outcome(draft, 64, 64, (*draft.tokens, 9), 100, pipelined=False, in_flight=True, elapsed_ms=1000.0)
        governor.observe(outcome)
        n_lost += 1
    assert 16 <= n_lost <= 80
    for _ in range(256):
        observe_plain(governor, draft, 5)
    governor.limit()
    assert governor.choose(draft, 100, in_flight=True) > 0


@pytest.mark.parametrize("device", DEVICES)
def test_no_draft_holds_the_first_token_up(device: str) -> None:
    """However certain a draft is, the first round of a reply takes less than two plain rounds."""
    table = DEVICES[device]
    certain = Draft(tuple(range(128)), "file", 64, chances=(0.9999,) * 128)
    widths = []
    for governor in (CostGovernor(LiveCosts(table)), begun(table)):
        governor.limit()
        widths.append(governor.choose(certain, 100, in_flight=False) + 1)
    assert table.round_ms(widths[0], 100) < 2 * table.round_ms(1, 100)
    assert widths[0] <= widths[1]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", TRACES)
def test_the_first_token_comes_within_two_plain_rounds(kind: str, device: str) -> None:
    """On every kind of text and every device, a reply's first token is there two plain rounds after the prefill."""
    prompt, reply = TRACES[kind](0)
    target = CostedTarget(reply, DEVICES[device])
    session = Session(target, make_proposer("cost"), make_governor("cost", costs=DEVICES[device]), clock=target.clock)
    for _ in session.prefill(prompt, len(prompt)):
        pass
    with closing(session.decode(Stops(NEVER, len(reply)))) as rounds:
        assert next(rounds).tokens
    assert target.elapsed_ms < 2 * DEVICES[device].round_ms(1, len(prompt))


@pytest.mark.parametrize(
    ("chance", "expected"),
    [
        (0.05, 0),  # not worth the second row
        (0.9, 7),  # the tile of eight rows
        (0.999, 31),  # wide
    ],
)
def test_k_has_the_most_expected_tokens_per_millisecond(chance: float, expected: int) -> None:
    """Among the widths of the table, the one with the best expected rate is taken."""
    table = StepCosts((1, 2, 8, 9, 32), (0,), ((10.0, 12.0, 16.0, 40.0, 42.0),), (9.0,), max_width=32)
    governor = begun(table)
    governor.limit()
    assert expected == governor.choose(Draft(tuple(range(31)), "file", 64, chances=(chance,) * 31), 0, in_flight=False)


def test_a_draft_shorter_than_the_next_width_is_priced_as_it_is() -> None:
    """A draft that ends between two widths is verified whole when its own price is right."""
    table = StepCosts((1, 8, 64), (0,), ((10.0, 12.0, 40.0),), (9.0,), max_width=64)
    governor = begun(table)
    governor.limit()
    assert governor.choose(Draft(tuple(range(9)), "file", 64, chances=(0.999,) * 9), 0, in_flight=False) == 9


def test_a_table_of_one_width_is_plain_decoding() -> None:
    """On a target that may run one row only, nothing is drafted."""
    table = StepCosts((1,), (0,), ((10.0,),), (9.0,), max_width=1)
    assert CostGovernor(LiveCosts(table)).limit() == 0


def test_the_widest_draft_is_bounded() -> None:
    """Whatever a table allows, a draft has at most 128 tokens, or what the options say (reference A4)."""
    table = StepCosts((1, 512), (0,), ((10.0, 11.0),), (9.0,), max_width=512)
    assert CostGovernor(LiveCosts(table)).limit() == 128
    assert make_governor("cost", costs=table, max_draft=20).limit() == 20
    with pytest.raises(ValueError, match="1 to 128"):
        make_governor("cost", max_draft=129)
