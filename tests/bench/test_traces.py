"""Traces in real time: what is timed, what it is compared with, and when a run ends."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from rich.console import Console

from characters import characters
from plgd.bench.deadline import Deadline
from plgd.bench.machine import Machine, open_machine
from plgd.bench.material.choice import make_traces
from plgd.bench.material.pairs import FilePair
from plgd.bench.replay.price import price_round
from plgd.bench.replay.run import REPLAYED
from plgd.bench.replay.target import TraceTarget
from plgd.bench.replay.trace import Trace
from plgd.bench.results import Environment
from plgd.bench.traces.command import choose_traces
from plgd.bench.traces.report import show_traces
from plgd.bench.traces.results import TracesResult
from plgd.bench.traces.run import TIMED, TimedTrace, corrected, judge, mean, time_policies
from plgd.bench.traces.timed import record_reply
from plgd.config import Config
from plgd.engine.correction import LiveCosts
from plgd.engine.cost import StepCosts
from plgd.engine.mlx.model import MlxModel
from plgd.engine.mlx.shapes import FixedShapes
from plgd.errors import EngineError
from plgd.paths import Paths
from releases import CHANGED, LONG
from tiny_models import LLAMA, write_model

CODEC = characters()
# A device on which a plain round saves a quarter in the pipeline, and on which a longer context costs more.
COSTS = StepCosts((1, 2, 8, 32), (0, 2000), ((40.0, 44.0, 56.0, 80.0), (50.0, 55.0, 70.0, 100.0)), (30.0, 40.0), 32)
TABLES = ("initial", "final", "measured")
ENVIRONMENT = Environment(
    model="m",
    device="cpu",
    device_name="c",
    blas="openblas",
    n_cpus=2,
    python="3",
    platform="Linux",
    versions={},
    load_before=0.0,
)


class Scripted:
    """A model that says what a trace says, in the time that a table says."""

    def __init__(self, reply: Sequence[int], costs: StepCosts = COSTS) -> None:
        self._reply = reply
        self._costs = costs
        self._targets: list[TraceTarget] = []

    def target(self) -> TraceTarget:
        """Start an empty sequence."""
        self._targets.append(TraceTarget(self._reply, self._costs, pipelines=True))
        return self._targets[-1]

    def clock(self) -> float:
        """Return the seconds that all sequences took."""
        return sum(target.clock() for target in self._targets)

    def time(self, trace: Trace, costs: LiveCosts, n_repeats: int = 1) -> TimedTrace:
        """Time all policies on a trace."""
        replies = time_policies(
            trace,
            self.target,
            CODEC,
            costs,
            LiveCosts(costs.table),
            n_repeats=n_repeats,
            prefill_slice=512,
            clock=self.clock,
        )
        return TimedTrace(trace, own=False, as_meant=True, replies=replies)


class WatchedNetwork:
    """Notes the width of each pass and how many keys its attention gets."""

    def __init__(self, network: Any) -> None:  # noqa: ANN401  # mlx-lm's, without a type
        self.seen: set[tuple[int, int]] = set()
        self._network = network

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._network, name)

    def __call__(self, tokens: mx.array, cache: Sequence[Any]) -> mx.array:
        width = tokens.shape[1]
        self.seen.add((width, -(-(cache[0].offset + width) // 64) * 64))
        logits: mx.array = self._network(tokens, cache=cache)
        return logits


def trace_of(kind: str = "release", before: str = LONG, after: str = CHANGED, name: str = "a.py") -> Trace:
    """Make a trace of one token per character."""
    (trace,) = make_traces([FilePair("p", name, before, after)], [kind], CODEC)
    return trace


def test_a_device_as_tabled_takes_what_the_replay_predicts() -> None:
    """Where every round takes its table's time, the measured speed-up is the replayed one; so are the rounds."""
    trace = trace_of()
    timed = Scripted(trace.reply).time(trace, LiveCosts(COSTS), n_repeats=2)
    found = judge(timed, {"initial": COSTS}, CODEC)
    assert set(TIMED) == found.policies.keys()
    for policy in found.policies.values():
        assert policy.predicted["initial"] == pytest.approx(policy.speedup)
        assert policy.expected_ms == pytest.approx(policy.decode_ms)
    assert found.policies["cost"].speedup > found.policies["graded"].speedup > 1.0 == found.policies["off"].speedup
    assert {"file"} == found.policies["cost"].proposers.keys()


def test_the_corrected_table_predicts_a_device_that_is_slower_than_tabled() -> None:
    """Costs that the replies corrected predict what the table that the run began with does not."""
    trace = trace_of()
    slow = StepCosts(COSTS.widths, COSTS.contexts, tuple((40.0, 150.0, 170.0, 200.0) for _ in (0, 1)), (30.0, 30.0), 32)
    costs = LiveCosts(COSTS)
    timed = [Scripted(trace.reply, slow).time(trace, costs) for _ in range(4)]
    tables = {"initial": COSTS, "final": corrected(costs)}
    found = [judge(each, tables, CODEC) for each in timed]
    last = found[-1].policies["cost"]
    assert last.predicted["final"] == pytest.approx(last.speedup, rel=0.05)
    assert last.predicted["initial"] > 1.5 * last.speedup
    means = mean(found, "cost")
    assert means.of_expected == pytest.approx([1.0] * 4, abs=0.15)


@pytest.mark.parametrize(
    ("n_drafted", "in_flight", "expected"),
    [
        pytest.param(0, False, 40.0, id="plain, read before the next is submitted"),
        pytest.param(0, True, 30.0, id="plain, submitted ahead"),
        pytest.param(7, False, 56.0, id="a block"),
        pytest.param(8, True, 30.0 + 56.0 - 10.0, id="a block behind a step: no head to feed, no bubble"),
    ],
)
def test_prices(n_drafted: int, in_flight: bool, expected: float) -> None:
    """A round is priced as it is run."""
    assert expected == pytest.approx(price_round(COSTS, n_drafted, 0, in_flight=in_flight))


def test_a_pipelined_target_makes_blocks_wait() -> None:
    """A step submitted ahead is waited for by the block behind it, and used up by it."""
    target = TraceTarget((1, 2, 3, 4, 5), COSTS, pipelines=True)
    target.prefill([9])
    assert 1 == target.advance()
    in_flight = [target.in_flight]
    assert [2, 3] == list(target.verify((2,)))
    assert [True, False] == [*in_flight, target.in_flight]
    assert (40.0 + 30.0 + 40.0 - 10.0) == pytest.approx(target.elapsed_ms, abs=0.1)


def test_a_model_that_leaves_the_trace_is_noticed() -> None:
    """Times of another text than the trace's are refused."""
    trace = trace_of()
    other = Scripted([*trace.reply[:5], 1, *trace.reply[6:]])
    with pytest.raises(EngineError, match="tokens"):
        other.time(trace, LiveCosts(COSTS))


def test_an_own_reply_ends_by_itself_or_not_at_all() -> None:
    """A reply of the model's own is kept up to its end token; one that does not end is none."""

    def record(reply: Sequence[int], max_tokens: int, cut_at: int | None = None) -> tuple[int, ...] | None:
        return record_reply(
            trace_of(),
            REPLAYED["off"],
            Scripted(reply).target,
            CODEC,
            COSTS,
            eos_tokens=frozenset({7}),
            max_tokens=max_tokens,
            cut_at=cut_at,
            prefill_slice=512,
        )

    assert (5, 6, 7) == record([5, 6, 7, 8], 9)
    assert record([5, 6, 5, 6, 7], 4) is None
    assert (5, 6, 5) == record([5, 6, 5, 6, 7], 4, 3)
    assert (5, 6, 7) == record([5, 6, 7, 8], 9, 4)
    assert record([5, 6, 5, 6, 7], 4, 5) is None


def test_the_sample_fits_and_is_the_same_every_time() -> None:
    """Of each kind so many traces that fit into the context; of renames, Python modules of some length alone."""
    traces = [replace(trace_of(), name=f"{n}.py") for n in range(9)]
    huge = replace(traces[0], name="huge.py", prompt=traces[0].prompt * 9)
    renames = [replace(traces[0], kind="rename", name=name) for name in ("a.js", "b.py")]
    renames.append(replace(renames[1], source=(1,) * 200))
    take = partial(choose_traces, [huge, *traces, *renames], context_limit=4000)
    chosen = take(3, max_tokens=40)
    assert ["release"] * 3 + ["rename"] == sorted(trace.kind for trace in chosen)
    assert "huge.py" not in {trace.name for trace in chosen}
    assert {40} == {len(trace.reply) for trace in chosen}
    assert {"b.py"} == {trace.name for trace in chosen if trace.kind == "rename"}
    assert chosen == take(3, max_tokens=40)
    assert all(trace.is_cut == (len(trace.reply) == 40) for trace in chosen)
    assert 10 == len(take(99, max_tokens=None))


def test_a_run_ends_before_its_deadline() -> None:
    """Nothing is begun that would end too late if it took as long as the longest before; the first always is."""
    ticks = [0.0]
    deadline = Deadline(10.0, clock=lambda: ticks[-1])
    taken = []
    for item in deadline.take([3.0, 4.0, 1.0, 3.0, 1.0]):
        taken.append(item)
        ticks.append(ticks[-1] + item)
    assert [3.0, 4.0] == taken
    assert [99.0] == list(Deadline(0.0, clock=lambda: ticks[-1]).take([99.0]))
    assert 5 == len(list(Deadline(None, clock=partial(next, itertools.count())).take(range(5))))


def test_people_get_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Each edit has a row for each policy; the last rows are geometric means."""
    trace = trace_of()
    found = (judge(Scripted(trace.reply).time(trace, LiveCosts(COSTS)), dict.fromkeys(TABLES, COSTS), CODEC),)
    show_traces(
        TracesResult(
            environment=ENVIRONMENT,
            n_repeats=1,
            n_left_out=2,
            tables={"initial": COSTS.to_data()},
            traces=found,
            means={policy: mean(found, policy) for policy in TIMED},
        ),
        Console(width=200),
    )
    printed = capsys.readouterr().out
    assert "1 edits in real time" in printed
    assert "2 more" in printed
    assert f"{found[0].policies['cost'].speedup:.2f}" in printed
    assert "(1.00)" in printed


def test_real_passes_follow_a_trace(tmp_path: Path) -> None:
    """`--traces --pairs DIR` leads any model along the edits of a folder; all rounds are real."""
    model = write_model(tmp_path / "model", {**LLAMA, "max_position_embeddings": 8192})
    for tree, text in (("before", LONG[:400]), ("after", CHANGED[:400])):
        (tmp_path / tree).mkdir()
        (tmp_path / tree / "a.py").write_text(text, encoding="utf-8")
    words = ["--traces", "--pairs", tmp_path, "--model", model, "--repeats", "2", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "plgd", "bench", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PLGD_HOME": str(tmp_path / "home")},
    )
    assert (0, "") == (done.returncode, done.stderr)
    data = json.loads(done.stdout)
    (trace,) = data["traces"]
    assert trace["as_meant"]
    assert trace["n_tokens"] == trace["policies"]["off"]["n_rounds"] > trace["policies"]["cost"]["n_rounds"]
    assert 2 == len(trace["policies"]["cost"]["decode_ms"])
    assert data["means"]["cost"]["speedup"] > 0
    # On a busy machine nothing is kept.
    assert {path.suffix for path in (tmp_path / "home").rglob("step-costs/*")} <= {".json"}


def test_every_pair_of_shapes_is_warmed_up(tmp_path: Path) -> None:
    """Where shapes are fixed, warming up runs each width at each length of keys that a reply can reach."""
    folder = write_model(tmp_path / "model", {**LLAMA, "max_position_embeddings": 4096})
    machine = open_machine(str(folder), (), Paths(tmp_path, tmp_path, tmp_path), Config())
    network = WatchedNetwork(machine.model.network)
    shapes = FixedShapes(widths=(2, 8), kv_step=64)
    model = MlxModel(
        network, machine.model.tokenizer, name="m", eos_tokens=frozenset(), context_limit=4096, shapes=shapes
    )
    Machine(model, machine.plain, machine.environment).warm_up([1, 2, 5, 8], 300)
    assert {(width, n_keys) for width in (2, 8) for n_keys in range(64, 320, 64)} <= network.seen
