"""Replays run the engine's own loop on known replies, at a table's prices."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from rich.console import Console
from tokenizers import Tokenizer as TokenizerFile
from tokenizers.models import BPE

from characters import characters
from plgd.bench.material.choice import make_traces
from plgd.bench.material.pairs import FilePair
from plgd.bench.options import add_options
from plgd.bench.replay.bound import bound_ms, copied_runs
from plgd.bench.replay.command import ReplayReport, load_plotter, run, show_replay
from plgd.bench.replay.cost_tables import load_cost_tables
from plgd.bench.replay.run import REPLAYED, replay, replay_trace
from plgd.bench.replay.target import TraceTarget
from plgd.bench.replay.trace import Trace, make_trace, open_tokenizer
from plgd.errors import BenchError
from releases import CHANGED, LONG

TABLES = load_cost_tables()
PAIR = FilePair("p", "a.py", LONG, CHANGED)
THREE = {name: TABLES[name] for name in ("cpu", "m4pro", "h200-8b-q4")}


def trace_of(pair: FilePair = PAIR) -> Trace:
    """Make a trace of one token per character."""
    return make_trace(pair, "Change it.", "release", characters())


def test_a_trace_is_the_products_own_prompt_and_the_new_text() -> None:
    """The prompt holds the older text and the instruction and opens the reply; reply and source end with the fence."""
    trace = trace_of()
    text = characters().decode(trace.prompt)
    assert f"```python\n{LONG}```\n\nChange it.\n```python\n" == text[text.index("```python") :]
    assert CHANGED + "```" == characters().decode(trace.reply)
    assert LONG + "```" == characters().decode(trace.source)


def test_the_target_says_the_trace_at_the_tables_prices() -> None:
    """Right drafts get the next token as well, wrong ones the correction; each round costs what its width costs."""
    target = TraceTarget((1, 2, 3, 4, 5), TABLES["cpu"])
    target.prefill([9, 9])
    assert [1, 2, 3] == list(target.verify((1, 2)))
    target.rollback(0)
    assert [4, -1] == list(target.verify((7,)))
    target.rollback(1)
    assert 5 == target.advance()
    assert 1.36 + 1.24 + 1.0 == pytest.approx(target.elapsed_ms)
    assert 2 + 5 - 1 == target.offset


@pytest.mark.parametrize("policy", REPLAYED)
def test_every_policy_replays_every_token(policy: str) -> None:
    """Whatever is drafted, the tokens of the reply are all there, and `off` takes a round for each."""
    trace = trace_of()
    stats = replay_trace(trace, REPLAYED[policy], TABLES["m4pro"], characters()).stats
    assert len(trace.reply) == stats.n_tokens
    assert (stats.n_rounds == len(trace.reply)) == (policy == "off")


def test_results_are_sums_over_all_traces() -> None:
    """Speed-up is plain time over time, the bound is that of the alignment, and their ratio is the share."""
    traces = [trace_of(), trace_of(FilePair("p", "b.py", LONG, LONG + CHANGED))]
    results = replay(traces, {"cpu": TABLES["cpu"]}, characters(), policies=("off", "graded", "cost"))
    n_tokens = sum(len(trace.reply) for trace in traces)
    bound = sum(
        bound_ms(copied_runs(trace.source, trace.reply), len(trace.reply), TABLES["cpu"], 0) for trace in traces
    )
    found = results["cpu"]
    assert n_tokens / bound == pytest.approx(found.bound)
    assert 1.0 == pytest.approx(found.policies["off"].speedup)
    cost = found.policies["cost"]
    assert cost.speedup > found.policies["graded"].speedup > 1.0
    assert cost.share_of_bound == pytest.approx(cost.speedup / found.bound)
    assert cost.tokens_per_round == pytest.approx(n_tokens / cost.n_rounds)
    assert cost.by_kind == {"release": pytest.approx(cost.speedup)}
    assert {"p/a.py", "p/b.py"} == {worst.name for worst in cost.worst}


def test_replays_are_deterministic() -> None:
    """The same traces at the same prices give the same results to the last digit."""
    results = [replay([trace_of()], THREE, characters()) for _ in range(2)]
    assert msgspec.json.encode(results[0]) == msgspec.json.encode(results[1])


def test_policies_that_know_no_prices_do_the_same_on_every_device() -> None:
    """A policy that does not look at the table runs the same rounds on each, and pays other prices."""
    found = replay([trace_of()], THREE, characters(), policies=("graded",))
    rounds = {table: result.policies["graded"].n_rounds for table, result in found.items()}
    speedups = {round(result.policies["graded"].speedup, 6) for result in found.values()}
    assert 1 == len(set(rounds.values()))
    assert 3 == len(speedups)
    trace = trace_of()
    for table, costs in THREE.items():
        direct = replay_trace(trace, REPLAYED["graded"], costs, characters())
        assert rounds[table] == direct.stats.n_rounds


def test_the_report_has_the_documented_shape(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has tables, bounds and policies by name; people get a row for each policy."""
    kinds = ("release", "re-indent", "repetition")
    other = FilePair("q", "c.py", "if x:\n" + 9 * "    y = 1\n", LONG)
    traces = list(make_traces([PAIR, other], kinds, characters()))
    assert set(kinds) == {trace.kind for trace in traces}
    found = replay(traces, {"cpu": TABLES["cpu"]}, characters(), policies=("off", "cost"))
    report = ReplayReport(found, dict.fromkeys(kinds, 1), n_tokens=100, n_bounded_by_ends=1)
    data = msgspec.json.decode(msgspec.json.encode(report))
    assert {"off", "cost"} == data["tables"]["cpu"]["policies"].keys()
    assert {"speedup", "tokens_per_round"} <= data["tables"]["cpu"]["policies"]["cost"].keys()
    show_replay(report, Console(width=160))
    printed = capsys.readouterr().out
    assert "1 of them repeat too much" in printed
    assert f"cpu: bound {found['cpu'].bound:.2f}" in printed
    assert re.search(r"\bfile \d+/\d+", printed)


def test_a_plot_is_drawn(tmp_path: Path) -> None:
    """A replay can be drawn; a file that cannot be written is an error that names it."""
    found = replay([trace_of()], THREE, characters(), policies=("off", "cost"))
    plot = load_plotter()
    plot(found, tmp_path / "replay.png")
    assert (tmp_path / "replay.png").stat().st_size
    with pytest.raises(BenchError, match="missing"):
        plot(found, tmp_path / "missing" / "replay.png")


def test_the_command_replays_pairs_of_ones_own(tmp_path: Path) -> None:
    """`--replay --pairs DIR` needs a folder and a tokenizer, no network and no weights."""
    for tree, text in (("before", LONG), ("after", CHANGED)):
        (tmp_path / tree).mkdir()
        (tmp_path / tree / "a.py").write_text(text, encoding="utf-8")
    tokenizer = TokenizerFile(
        BPE({character: place for place, character in enumerate(sorted(map(chr, range(128))))}, [])
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    words = [
        "--replay",
        "--pairs",
        tmp_path,
        "--tokenizer",
        tmp_path,
        "--tables",
        "cpu",
        "--policies",
        "off,cost",
        "--json",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "plgd", "bench", *map(str, words)], capture_output=True, text=True, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)
    policies = json.loads(done.stdout)["tables"]["cpu"]["policies"]
    assert 1.0 == policies["off"]["speedup"] < policies["cost"]["speedup"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tables", "abacus"], "abacus"),
        (["--policies", "best"], "best"),
        (["--kinds", "magic"], "magic"),
        (["--cost-tables", "none.toml"], r"none\.toml"),
    ],
)
def test_unknown_names_are_refused(words: list[str], message: str) -> None:
    """Each wrong name is an error that says it, before anything is fetched."""
    parser = argparse.ArgumentParser()
    add_options(parser)
    with pytest.raises(BenchError, match=message):
        run(parser.parse_args(["--replay", *words]), Console())


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    """The message names the file that is missing."""
    with pytest.raises(BenchError, match=r"tokenizer\.json"):
        open_tokenizer(tmp_path)


def test_a_damaged_tokenizer_is_refused(tmp_path: Path) -> None:
    """The message names the file and says what the library finds wrong with it."""
    (tmp_path / "tokenizer.json").write_text('{"version": 1}', encoding="utf-8")
    with pytest.raises(BenchError, match=r"tokenizer\.json cannot be used: ."):
        open_tokenizer(tmp_path)


def test_a_reply_that_is_cut_is_drafted_up_to_the_cut() -> None:
    """Where only so many tokens are asked for, no draft holds more; where the end is the text's, a draft may."""
    whole = replace(trace_of(), reply=trace_of().source[:100])
    drafted = {
        is_cut: replay_trace(replace(whole, is_cut=is_cut), REPLAYED["cost"], TABLES["h200-8b-q4"], characters()).stats
        for is_cut in (True, False)
    }
    assert [100, 100] == [stats.n_tokens for stats in drafted.values()]
    assert drafted[True].n_drafted < 100 < drafted[False].n_drafted
