"""What the file draft promises, replayed on this project's own files."""

from __future__ import annotations

import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from characters import pieces
from plgd import client, errors
from plgd.bench.material.pairs import FilePair
from plgd.bench.material.synthetic import ADVERSARIAL, edit_of, instruction_of, unforeseen
from plgd.bench.replay.cost_tables import load_cost_tables
from plgd.bench.replay.run import REPLAYED, replay, replay_trace
from plgd.bench.replay.target import TraceTarget
from plgd.bench.replay.trace import Trace, make_trace
from plgd.engine.file_draft import FileDraftProposer
from plgd.engine.session import Session
from plgd.engine.stops import Stops

TABLES = load_cost_tables()
TOKENIZER = pieces()
CLIENT, ERRORS = (FilePair("plgd", Path(str(module.__file__)).name, text, text) for module, text in (
    (module, Path(str(module.__file__)).read_text(encoding="utf-8")) for module in (client, errors)
))  # fmt: skip


def accepted_marks(trace: Trace) -> list[bool]:
    """Return for each token of a reply whether it was inside an accepted draft."""
    costs, cost = TABLES["cpu"], REPLAYED["cost"]
    target = TraceTarget(trace.reply, costs)
    proposer, governor = cost.make_proposer(trace, TOKENIZER), cost.make_governor(costs)
    session = Session(target, proposer, governor, clock=target.clock)
    for _ in session.prefill(trace.prompt, 4096):
        pass
    marks: list[bool] = []
    with closing(session.decode(Stops(frozenset(), len(trace.reply), loop_guard=False))) as rounds:
        for done in rounds:
            marks += [True] * done.n_accepted + [False] * (len(done.tokens) - done.n_accepted)
    return marks


def test_a_rename_is_drafted_from_its_third_occurrence_on() -> None:
    """After the second occurrence at least nine of ten later ones lie inside accepted drafts."""
    edited = edit_of(CLIENT, "rename")
    assert edited is not None
    new = (set(re.findall(r"\w+", edited.after)) - set(re.findall(r"\w+", edited.before))).pop()
    trace = make_trace(edited, "Rename it.", "rename", TOKENIZER)
    marks = accepted_marks(trace)
    by_character = [mark for mark, token in zip(marks, trace.reply, strict=True) for _ in TOKENIZER.decode((token,))]
    words = re.finditer(rf"\b{new}\b", edited.after)
    later = [all(by_character[match.start() : match.end()]) for match in words][2:]
    assert len(later) >= 4
    assert sum(later) >= 0.9 * len(later)


def test_a_rename_that_the_instruction_announces_is_drafted_from_the_first_occurrence_on() -> None:
    """Where both names stand in the instruction, no occurrence waits for the reply to show the new one."""
    edited = edit_of(CLIENT, "rename")
    assert edited is not None
    instruction = instruction_of(CLIENT, "rename")
    trace = make_trace(edited, instruction, "rename", TOKENIZER)
    ((_, new),) = trace.announced
    marks = accepted_marks(trace)
    by_character = [mark for mark, token in zip(marks, trace.reply, strict=True) for _ in TOKENIZER.decode((token,))]
    words = list(re.finditer(rf"\b{new}\b", edited.after))
    assert len(words) >= 4
    assert sum(all(by_character[word.start() : word.end()]) for word in words) >= 0.9 * len(words)


@pytest.mark.parametrize("reply", ["as it was", "unrelated", "repetition"])
def test_an_announcement_that_does_not_come_true_costs_next_to_nothing(reply: str) -> None:
    """A reply that replaces nothing of what the instruction seems to say stays as fast as plain, or as without it.

    The first 600 tokens are looked at, of which what a governor spends to find out that nothing lands may be over 2 %.
    """
    changed = CLIENT if reply == "as it was" else unforeseen(CLIENT, ERRORS, reply)
    trace = make_trace(changed, instruction_of(CLIENT, "rename"), reply, TOKENIZER)
    assert trace.announced
    trace = replace(trace, reply=trace.reply[:600])
    for table in ("cpu", "m4pro", "h200-8b-q4"):
        spent_ms, without_ms = (
            replay_trace(each, REPLAYED["cost"], TABLES[table], TOKENIZER).cost_ms(TABLES[table])
            for each in (trace, replace(trace, announced=()))
        )
        plain_ms = len(trace.reply) * TABLES[table].plain_ms(0)
        assert spent_ms <= max(plain_ms, without_ms) / 0.98, table


@pytest.mark.parametrize("kind", ADVERSARIAL)
def test_what_cannot_be_foreseen_costs_next_to_nothing(kind: str) -> None:
    """A reply that has nothing to do with the file is at most two percent slower than plain, on every device."""
    trace = make_trace(unforeseen(CLIENT, ERRORS, kind), "Do something else.", kind, TOKENIZER)
    found = replay([trace], TABLES, TOKENIZER, policies=("cost",))
    assert [] == [table for table, result in found.items() if result.policies["cost"].speedup < 0.98]


def test_a_wrong_hint_costs_next_to_nothing() -> None:
    """A hint that the reply does not resemble leaves the draft from the file as it is."""
    trace = make_trace(edit_of(CLIENT, "rename") or CLIENT, "Rename it.", "rename", TOKENIZER)
    hint = TOKENIZER.encode(ERRORS.after)
    landed = []
    for sources in ([trace.source], [trace.source, hint]):
        proposer = FileDraftProposer(sources, 0, TOKENIZER)
        n_landed = 0
        for token in trace.reply:
            n_landed += proposer.propose(1).tokens == (token,)
            proposer.extend((token,))
        landed.append(n_landed)
    assert landed[1] >= 0.98 * landed[0]


def test_a_line_of_a_megabyte_is_drafted_like_any_other() -> None:
    """A rename in one endless line is followed; nothing is tokenized as a whole."""
    line = "total = total + step; " * 50_000
    codec = pieces()
    lengths: list[int] = []
    encode = codec.encode

    def watched(text: str) -> list[int]:
        lengths.append(len(text))
        return encode(text)

    source = encode(line)
    codec.encode = watched  # type: ignore[method-assign]  # counts and passes on
    proposer = FileDraftProposer([source], 0, codec)
    reply = encode(line[:3000].replace("total", "running_total"))
    n_landed = 0
    for token in reply:
        n_landed += proposer.propose(8).tokens[:1] == (token,)
        proposer.extend((token,))
    assert n_landed >= 0.9 * len(reply)
    assert max(lengths, default=0) <= 512
