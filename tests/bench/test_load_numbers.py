"""What `plgd bench --load` makes of what it has seen: bounds, fairness, percentiles, options, tables and plots."""

from __future__ import annotations

import argparse
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from plgd.bench.load.asking import Asked
from plgd.bench.load.bound import RunRound, SoloEdit, bound_of, solo_edit
from plgd.bench.load.levels import make_levels
from plgd.bench.load.own_daemon import settings_text
from plgd.bench.load.plan import PARTS, plan_load
from plgd.bench.load.plot import plot_load
from plgd.bench.load.report import show_load
from plgd.bench.load.results import (
    Calls,
    ClassTimes,
    Interactive,
    InteractiveWait,
    LoadResult,
    Memory,
    MemoryReading,
    OpenLoop,
    Percentiles,
    Sameness,
)
from plgd.bench.load.run import ClosedRun
from plgd.bench.load.summary import jain, percentiles, speed_shares
from plgd.bench.load.texts import make_edits
from plgd.bench.options import add_options
from plgd.bench.results import Environment
from plgd.config import Config, EngineConfig, ModelConfig, load_config
from plgd.engine.cost import StepCosts
from plgd.errors import BenchError
from plgd.protocol.daemon import SharingInfo
from plgd.protocol.edits import EditResult, EditStats, EditStatus
from plgd.protocol.reply_drafts import ReplyDrafts, ReplyRun

# A pass costs 10 ms and 1 ms for each token.
COSTS = StepCosts(widths=(1, 101), contexts=(0,), costs_ms=((11.0, 111.0),), pipelined_ms=(11.0,), max_width=101)


def solo(*widths: int, other_ms: float = 0.0) -> SoloEdit:
    """An edit of rounds of these widths."""
    return SoloEdit(tuple(RunRound(width, 100) for width in widths), other_ms)


def answered(
    number: int, seconds: float, *, client: int = 0, words: str = "x", widths: tuple[int, ...] = (4,)
) -> Asked:
    """An edit that was answered after so many seconds; each round committed its width."""
    runs = tuple(ReplyRun(text=words, by="file", round=n, n_tokens=width) for n, width in enumerate(widths, 1))
    result = EditResult(
        session="s",
        status=EditStatus.PROPOSED,
        path="",
        base_fingerprint="",
        new_fingerprint="",
        version=1,
        new_text=words,
        diff="",
        hunks=(),
        warnings=(),
        raw_reply="",
        model="m",
        stats=EditStats(prompt_tokens=100, output_tokens=sum(widths), decode_ms=50.0),
        drafts=ReplyDrafts(runs=runs, widths=widths),
    )
    return Asked(make_edits(number + 1)[-1], "interactive", client, 0.0, 0.1, seconds, result, "")


def test_one_client_has_nothing_to_gain() -> None:
    """With one edit at a time the bound is 1."""
    assert (1.0, 1.0) == bound_of([solo(4, 8), solo(1)], 1, COSTS)


def test_joint_rounds_share_what_a_pass_costs() -> None:
    """Two edits of two rounds each are two passes instead of four, and 10 ms less for each pass that is saved."""
    rounds, whole = bound_of([solo(1, 2, other_ms=7.0), solo(1, 2, other_ms=7.0)], 2, COSTS)
    assert 46.0 / 26.0 == pytest.approx(rounds)
    assert 60.0 / 40.0 == pytest.approx(whole)


def test_a_lane_that_is_free_takes_the_next_edit() -> None:
    """Of three edits for two clients the third begins when the first is over: passes of 2, 2 and 1 tokens."""
    rounds, _ = bound_of([solo(1), solo(1, 1), solo(1, 1)], 2, COSTS)
    assert 55.0 / (12.0 + 12.0 + 11.0) == pytest.approx(rounds)


def test_contexts_count_by_the_tokens_behind_them() -> None:
    """A joint pass costs what the table says at the context that its tokens have on average."""
    costs = StepCosts(
        widths=(1, 11),
        contexts=(0, 100),
        costs_ms=((10.0, 20.0), (20.0, 30.0)),
        pipelined_ms=(10.0, 20.0),
        max_width=11,
    )
    edits = [SoloEdit((RunRound(3, 0),), 0.0), SoloEdit((RunRound(1, 100),), 0.0)]
    rounds, _ = bound_of(edits, 2, costs)
    assert (12.0 + 20.0) / (13.0 + 2.5) == pytest.approx(rounds)


def test_replies_are_taken_apart() -> None:
    """Rounds have the widths that were run, each behind the prompt and what was committed before it."""
    done = answered(0, 1.0, widths=(2, 5, 3))
    assert done.result is not None
    found = solo_edit(done.result, 1000.0, COSTS)
    assert (RunRound(2, 100), RunRound(5, 102), RunRound(3, 107)) == found.rounds
    assert 1000.0 - 50.0 - 12.0 == pytest.approx(found.other_ms)


def test_jain_knows_equal_from_unequal() -> None:
    """Equal shares are 1, everything for one of four is a quarter."""
    assert 1.0 == pytest.approx(jain([0.25] * 4))
    assert 0.25 == pytest.approx(jain([1.0, 0.0, 0.0, 0.0]))


def test_shares_are_of_the_speed_alone() -> None:
    """A client whose edits took twice as long as alone had half of its speed, however long its edits are."""
    asked = [answered(0, 2.0, client=0), answered(1, 40.0, client=1), answered(0, 4.0, client=0)]
    assert [0.375, 0.5] == speed_shares(asked, {0: 1.0, 1: 20.0})


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], Percentiles(n=0, p50=0.0, p90=0.0, p99=0.0, longest=0.0)),
        ([3.0], Percentiles(n=1, p50=3.0, p90=3.0, p99=3.0, longest=3.0)),
        ([*range(200, 0, -1)], Percentiles(n=200, p50=100, p90=180, p99=198, longest=200)),
    ],
)
def test_percentiles_are_times_that_were_measured(times: list[float], expected: Percentiles) -> None:
    """Percentiles go by nearest rank."""
    assert expected == percentiles(times)


def test_levels_are_compared_with_one_client_of_the_same_repeat() -> None:
    """A slow repeat is slow for all: ratios are within a repeat, the same replies are counted."""
    alone = {0: answered(0, 1.0), 1: answered(1, 1.0)}
    other = [answered(0, 1.0, client=0), answered(1, 3.0, client=1, words="y")]
    runs = [
        ClosedRun(1, 0, [*alone.values()], 2.0, SharingInfo(turns=9)),
        ClosedRun(2, 0, other, 1.0, SharingInfo(turns=2, joint_turns=2, joint_rows=5)),
        ClosedRun(1, 1, [*alone.values()], 4.0, SharingInfo(turns=9)),
        ClosedRun(2, 1, other, 1.0, SharingInfo(turns=4, joint_turns=2, joint_rows=4, turns_because="slow")),
    ]
    one, two = make_levels(runs, alone, COSTS, running_limit=4)
    assert ((4.0, 2.0), (1.0, 1.0)) == (one.tokens_per_s, one.ratios)
    assert ((8.0, 8.0), (2.0, 4.0), 3.0) == (two.tokens_per_s, two.ratios, two.ratio)
    assert ((4, 2), (1,)) == ((two.same.n_compared, two.same.n_identical), two.same.differing)
    assert (1 + 1 / 3) ** 2 / (2 * (1 + 1 / 9)) == pytest.approx(two.fairness)
    assert two.rounds_bound > two.bound > 1.0 == one.bound
    assert (0.0, 0.0, "") == (one.joint_rows, one.joint_share, one.turns_because)
    assert (2.25, 0.4, "slow") == (two.joint_rows, two.joint_share, two.turns_because)


def test_no_more_edits_share_a_pass_than_the_daemon_lets() -> None:
    """Eight clients of a daemon that lets two edits share the model have the bound of two."""
    alone = {number: answered(number, 1.0) for number in range(8)}
    runs = [ClosedRun(n, 0, [*alone.values()], 1.0, SharingInfo()) for n in (1, 2, 8)]
    _, two, eight = make_levels(runs, alone, COSTS, running_limit=2)
    assert two.rounds_bound == eight.rounds_bound
    _, two, eight = make_levels(runs, alone, COSTS, running_limit=8)
    assert two.rounds_bound < eight.rounds_bound


def test_edits_differ() -> None:
    """Each edit is of another file; there are renames and values, greedy ones and drawn ones."""
    edits = make_edits(24)
    assert 24 == len({edit.name for edit in edits}) == len({edit.text for edit in edits})
    assert {"rename", "value"} == {edit.kind for edit in edits}
    assert 6 == sum(edit.sampling is not None for edit in edits)
    for edit in edits:
        compile(edit.text, edit.name, "exec")
        wanted = edit.instruction.split()[3 if edit.kind == "rename" else 1]
        assert wanted in edit.text


def test_settings_of_replies_are_kept(tmp_path: Path) -> None:
    """The daemon of a measurement has the user's model and drafting, and default limits."""
    config = Config(
        model=ModelConfig(default='a "quoted" name', kv_bits=8),
        engine=EngineConfig(policy="graded", near_tie_margin=1e-6),
    )
    written = tmp_path / "config.toml"
    written.write_text(settings_text(config), encoding="utf-8")
    read = load_config(written)
    assert (config.model, config.engine, config.warm) == (read.model, read.engine, read.warm)
    assert 0 < read.daemon.exit_after_s < Config().daemon.exit_after_s
    assert Config().daemon.queue_limit == read.daemon.queue_limit


def parse(*words: str) -> argparse.Namespace:
    """Parse a command line."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    return parser.parse_args(["--load", *words])


def test_plans_follow_the_options() -> None:
    """Without options everything is measured as documented; one client is always among those that are compared."""
    plan = plan_load(parse())
    assert (PARTS, (1, 2, 4, 8), 200, 2000, 30) == (
        plan.parts,
        plan.clients,
        plan.n_connections,
        plan.calls_per_s,
        plan.seconds,
    )
    quick = plan_load(parse("--quick", "--clients", "6,3", "--parts", "open,closed", "--seconds", "9"))
    assert ((1, 3, 6), ("open", "closed"), 9) == (quick.clients, quick.parts, quick.seconds)
    assert quick.n_edits < plan.n_edits


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--parts", "closed,opne"], "there are closed, open, interactive, calls, memory"),
        (["--requests", "19"], "memory is watched over at least 20"),
    ],
)
def test_wrong_plans_are_refused(words: list[str], reason: str) -> None:
    """A part that there is none of and too few requests are refused before anything is measured."""
    with pytest.raises(BenchError, match=reason):
        plan_load(parse(*words))


def result(*, whole: bool) -> LoadResult:
    """A result with everything in it, or with nothing."""
    times = Percentiles(n=2, p50=1.0, p90=2.0, p99=2.0, longest=3.0)
    same = Sameness(n_compared=2, n_identical=1, differing=(1,))
    classes = [
        ClassTimes(priority=name, n_asked=3, first_token_ms=times, total_ms=times, failures={"QueueFull": 1})
        for name in ("interactive", "batch")
    ]
    alone = {0: answered(0, 1.0)}
    runs = [ClosedRun(n, 0, [*alone.values()], 1.0 / n, SharingInfo(joint_turns=1, joint_rows=n)) for n in (1, 2)]
    wait = InteractiveWait(turns=2, rounds_of_one=2, rounds_of_all=5, first_token_ms=30.0, alone_ms=10.0)
    readings = tuple(MemoryReading(n_requests=10 * n, resident_bytes=10**9, device_bytes=5 * 10**8) for n in range(11))
    return LoadResult(
        environment=Environment(
            model="m",
            device="cpu",
            device_name="d",
            blas="b",
            n_cpus=2,
            python="3",
            platform="p",
            versions={},
            load_before=0,
        ),
        n_repeats=1,
        levels=make_levels(runs, alone, COSTS, running_limit=4) if whole else (),
        open_loop=OpenLoop(rate_per_s=1.0, tokens_per_s=9.0, classes=tuple(classes), same=same) if whole else None,
        interactive=Interactive(
            n_batch=8, waits=(wait,), most_turns=2, first_token_ms=times, same=same, failures={"QueueFull": 1}
        )
        if whole
        else None,
        calls=Calls(
            n_connections=200,
            wanted_per_s=2000.0,
            answered_per_s=1999.0,
            n_asked=60_000,
            n_failed=1,
            latency_ms=times,
            late_ms=times,
            n_edits=4,
            edit_ms=times,
            edit_alone_ms=times,
        )
        if whole
        else None,
        memory=Memory(
            n_requests=100,
            n_cancelled=9,
            n_refused=4,
            readings=readings,
            resident_growth_bytes=0,
            device_growth_bytes=0,
        )
        if whole
        else None,
    )


def test_tables_have_every_part() -> None:
    """For a person there is a table or a line for each part, and failures and differing replies are in them."""
    out = StringIO()
    show_load(result(whole=True), Console(file=out, width=160))
    said = out.getvalue()
    for words in (
        "clients",
        "fairness",
        "random arrivals",
        "QueueFull 1",
        "1 of 2",
        "1 of 60,000 failed",
        "100 requests",
    ):
        assert words in said
    assert "…" not in said
    show_load(result(whole=False), Console(file=out, width=160))


def test_plots_have_every_part(tmp_path: Path) -> None:
    """What was measured is drawn; where nothing can be drawn the user is told."""
    plot_load(result(whole=True), tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size
    with pytest.raises(BenchError, match="nothing that was measured"):
        plot_load(result(whole=False), tmp_path / "none.png")
    with pytest.raises(BenchError, match="was not written"):
        plot_load(result(whole=True), tmp_path / "out.strange")


def test_results_are_plain_json() -> None:
    """The JSON can be read back into the same records."""
    found = result(whole=True)
    assert found == msgspec.json.decode(msgspec.json.encode(found), type=LoadResult)
