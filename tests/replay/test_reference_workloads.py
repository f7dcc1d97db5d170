"""The five reference workloads at the prices of known devices: what `cost` reaches beside the reference policies.

Their replies are the recorded ones, so that text and acceptance are the same in every run.
"""

from __future__ import annotations

from pathlib import Path
from statistics import geometric_mean
from typing import Final

import pytest

from plgd.bench.compare.prompts import foresee, tokenize, tokenize_source
from plgd.bench.compare.recordings import RECORDINGS
from plgd.bench.compare.workloads import WORKLOADS
from plgd.bench.replay.cost_tables import load_cost_tables
from plgd.bench.replay.run import REPLAYED, replay_trace
from plgd.bench.replay.trace import PlainTokenizer, Trace, open_tokenizer

pytestmark = pytest.mark.builtin

TABLES: Final = ("cpu", "m4pro", "h200-8b-q4")
OTHERS: Final = ("ds4", "graded", "gated")


@pytest.fixture(scope="module")
def tokenizer(builtin_model_dir: Path) -> PlainTokenizer:
    """The built-in model's own."""
    return open_tokenizer(builtin_model_dir)


@pytest.fixture(scope="module", params=TABLES)
def speedups(request: pytest.FixtureRequest, tokenizer: PlainTokenizer) -> dict[str, dict[str, float]]:
    """Speed-ups over plain decoding on one device, by policy and workload."""
    costs = load_cost_tables()[request.param]
    found: dict[str, dict[str, float]] = {}
    for policy in (*OTHERS, "cost-ngram", "cost"):
        for name, workload in WORKLOADS.items():
            trace = Trace(
                name,
                "reference",
                tokenize(workload, tokenizer),
                tokenize_source(workload, tokenizer),
                tuple(tokenizer.encode(RECORDINGS[name])),
                foresee(workload),
            )
            replayed = replay_trace(trace, REPLAYED[policy], costs, tokenizer)
            plain_ms = len(trace.reply) * costs.plain_ms(0)
            found.setdefault(policy, {})[name] = plain_ms / replayed.elapsed_ms
    return found


def test_no_reference_policy_is_better_by_three_percent(speedups: dict[str, dict[str, float]]) -> None:
    """On no workload does a reference policy beat `cost` by more than 3 %, and in the mean none comes near."""
    for policy in OTHERS:
        for name, speedup in speedups["cost"].items():
            assert speedup >= 0.97 * speedups[policy][name], (policy, name)
        assert geometric_mean(speedups["cost"].values()) > 1.5 * geometric_mean(speedups[policy].values())


def test_prose_is_as_fast_as_plain_decoding(speedups: dict[str, dict[str, float]]) -> None:
    """Where nothing can be copied, `cost` is at least 0.99 of plain decoding."""
    assert min(speedups["cost"][name] for name in ("write", "story")) >= 0.99


def test_edits_gain_by_the_file_draft(speedups: dict[str, dict[str, float]]) -> None:
    """A rename takes half the time that n-grams alone would, a field added to each object three quarters at most."""
    with_file, ngrams_alone = speedups["cost"], speedups["cost-ngram"]
    assert with_file["edit_fn"] > 2 * ngrams_alone["edit_fn"]
    assert with_file["edit_json"] > 1.25 * ngrams_alone["edit_json"]
