"""Edits of a long document take little of plgd's own work; counted, not timed."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, partial
from types import FrameType
from typing import Any

import pytest

from characters import pieces
from plgd.bench.host.edits import EDIT_LINES, TABLE, make_document, measure_edit, train_tokenizer
from plgd.bench.material.choice import make_traces
from plgd.bench.material.pairs import FilePair
from plgd.bench.material.synthetic import SYNTHETIC
from plgd.bench.replay.cost_tables import load_cost_tables
from plgd.bench.replay.run import REPLAYED
from plgd.bench.replay.target import TraceTarget
from plgd.bench.replay.trace import PlainTokenizer, Trace, stops_at_end
from plgd.engine.session import Session

N_REPLY = 1500


@dataclass(frozen=True)
class Work:
    """What a reply took: functions called, characters tokenized, rounds."""

    n_calls: int
    n_characters: int
    n_rounds: int


@cache
def edits_of(n_lines: int) -> tuple[PlainTokenizer, dict[str, Trace]]:
    """Make an edit of each kind of a document."""
    text = make_document(n_lines)
    tokenizer = pieces()
    traces = make_traces([FilePair("host", "document.py", text, text)], tuple(SYNTHETIC), tokenizer)
    return tokenizer, {trace.kind: replace(trace, reply=trace.reply[:N_REPLY]) for trace in traces}


def count_calls(run: Callable[[], None]) -> int:
    """Return how many functions are called, of Python and of C."""
    n_calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:  # noqa: ANN401 - whatever the interpreter tells
        nonlocal n_calls
        n_calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return n_calls


def work_on(n_lines: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> Work:
    """Decode the beginning of an edit's reply and count."""
    tokenizer, traces = edits_of(n_lines)
    trace, costs, policy = traces[kind], load_cost_tables()[TABLE], REPLAYED["cost"]
    tokenized: list[int] = []
    encode = tokenizer.encode

    def watched(text: str) -> list[int]:
        tokenized.append(len(text))
        return encode(text)

    monkeypatch.setattr(tokenizer, "encode", watched)
    target = TraceTarget(trace.reply, costs)
    session = Session(target, policy.make_proposer(trace, tokenizer), policy.make_governor(costs), clock=target.clock)
    for _ in session.prefill(trace.prompt, 4096):
        pass

    def decode() -> None:
        with closing(session.decode(stops_at_end(trace))) as rounds:
            for _ in rounds:
                pass

    return Work(count_calls(decode), sum(tokenized), session.stats.n_rounds)


@pytest.mark.parametrize("kind", SYNTHETIC)
def test_a_round_takes_bounded_work(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is done to 5,000 lines, a round calls a few thousand functions and tokenizes a few lines."""
    work = work_on(EDIT_LINES, kind, monkeypatch)
    assert work.n_calls <= 3000 * work.n_rounds
    assert work.n_characters <= 16 * N_REPLY


def test_a_longer_document_takes_no_more_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times the lines, and a round calls about as many functions."""
    short, long = (work_on(n_lines, "re-indent", monkeypatch) for n_lines in (EDIT_LINES // 10, EDIT_LINES))
    assert long.n_calls / long.n_rounds <= 1.2 * short.n_calls / short.n_rounds


def test_each_kind_of_edit_is_timed() -> None:
    """The time of a reply is shared between its rounds and its tokens; a document has edits of every kind."""
    tokenizer, traces = edits_of(EDIT_LINES // 10)
    assert list(SYNTHETIC) == list(traces)
    found = measure_edit(traces["rename"], tokenizer, n_repeats=3, clock=partial(next, itertools.count()))
    assert "rename" == found.kind
    assert found.round_us == pytest.approx(1e6 / found.n_rounds)
    assert found.token_us == pytest.approx(1e6 / len(traces["rename"].reply))


def test_the_document_is_tokenized_as_models_do() -> None:
    """The tokenizer of the measurement gives every text back and has words of the document as tokens."""
    text = make_document(60)
    tokenizer = train_tokenizer(text)
    tokens = tokenizer.encode(text)
    assert text == tokenizer.decode(tokens)
    assert len(tokens) < len(text) / 2
