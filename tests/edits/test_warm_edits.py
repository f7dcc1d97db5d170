"""Warm edits: what was read before is not read again, and the reply is the same."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doubles import HistoryTarget
from edit_histories import histories
from plgd.config import Config, EngineConfig
from plgd.documents.document import Document
from plgd.documents.spill import Spill
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.head import document_label, prompt_head
from plgd.edits.job import edit_steps
from plgd.edits.request import prepare
from plgd.edits.view import view
from plgd.edits.warm_up import warm_steps
from plgd.engine.kept import KeepingTarget
from plgd.engine.sampling import GREEDY, Sampling
from plgd.errors import TextTooLong
from plgd.protocol.documents import WarmResult
from plgd.protocol.edits import EditParams, EditResult, LineRange, Stage
from scripted_model import ScriptedModel

ResultT = TypeVar("ResultT")

CONFIG = Config(engine=EngineConfig(prefill_slice=64))
TEXT = "def f(x):\n    return x\n\n" * 80


class HistoryModel(ScriptedModel):
    """A model whose every word depends on all that it was fed."""

    def __init__(self, *, trims_far: bool = True, context_limit: int = 1 << 20) -> None:
        super().__init__("", context_limit=context_limit)
        self._trims_far = trims_far

    def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:
        self.samplings.append(sampling)
        return HistoryTarget(vocabulary=250, context_limit=self.context_limit, trims_far=self._trims_far)


class Desk:
    """Edits texts under one name, on one model."""

    def __init__(self, model: HistoryModel, limit_bytes: int = 1 << 40, *, config: Config = CONFIG) -> None:
        self.model = model
        self._config = config
        self.store = WarmStore(lambda: 0.0)
        self.store.resize(limit_bytes)

    def edit(self, text: str, instruction: str, lines: LineRange | None = None, *, warm: bool = True) -> EditResult:
        """Carry out an edit that ends after some tokens."""
        return run(self.steps(text, instruction, lines, warm=warm))

    def steps(
        self, text: str, instruction: str, lines: LineRange | None = None, *, warm: bool = True
    ) -> Generator[object, None, EditResult]:
        """Begin such an edit."""
        documents = DocumentStore()
        asked = EditParams(instruction=instruction, text=text, name="a.py", range=lines, max_tokens=24)
        return edit_steps(
            prepare(asked, documents),
            session="s",
            received=0.0,
            documents=documents,
            model=self.model,
            config=self._config,
            warm=self.store if warm else None,
        )

    def warm_up(self, text: str, slice_tokens: int = 64) -> WarmResult:
        """Prefill a text."""
        document = Document.of_text(text, "a.py")
        steps = warm_steps(document, received=0.0, model=self.model, warm=self.store, slice_tokens=slice_tokens)
        return run(steps)


def run(steps: Generator[object, None, ResultT]) -> ResultT:
    """Run a generator to its end."""
    while True:
        try:
            next(steps)
        except StopIteration as done:
            result: ResultT = done.value
            return result


def take_turns(*jobs: Generator[object, None, ResultT]) -> list[ResultT]:
    """Run generators to their ends, each a step in turn."""
    results: dict[int, ResultT] = {}
    while len(results) < len(jobs):
        for place, job in enumerate(jobs):
            if place not in results:
                try:
                    next(job)
                except StopIteration as done:
                    results[place] = done.value
    return [results[place] for place in range(len(jobs))]


@st.composite
def requests(draw: st.DrawFn) -> Sequence[tuple[str, str, LineRange | None]]:
    """Texts made by edits, each with an instruction and perhaps a range."""
    first, later = draw(histories().filter(lambda history: all(not text.isspace() and text for text in history[1])))
    found = []
    for text in [first, *later] if first and not first.isspace() else later:
        n_lines = len(Document.of_text(text, "a").lines)
        begin = draw(st.integers(1, n_lines))
        lines = draw(st.none() | st.just(LineRange(first=begin, last=min(n_lines, begin + 5))))
        found.append((text, draw(st.sampled_from(("a", "rename it", "make a code block", "``` x"))), lines))
    return found


@settings(deadline=None, max_examples=60)
@given(asked=requests(), trims_far=st.booleans(), data=st.data())
def test_warm_replies_equal_cold_ones(
    asked: Sequence[tuple[str, str, LineRange | None]], trims_far: bool, data: st.DataObject
) -> None:
    """Over any history of changes, requests, ranges and memory, warm replies equal cold ones token for token."""
    model = HistoryModel(trims_far=trims_far)
    desk = Desk(model, data.draw(st.sampled_from((1 << 40, 200_000))))
    for text, instruction, lines in asked:
        if data.draw(st.booleans()):
            desk.warm_up(text)
        cold = desk.edit(text, instruction, lines, warm=False)
        warm = desk.edit(text, instruction, lines)
        assert (cold.status, cold.raw_reply, cold.new_text) == (warm.status, warm.raw_reply, warm.new_text)
        assert cold.stats.prompt_tokens == warm.stats.prompt_tokens
        assert 0 == cold.stats.cached_tokens <= warm.stats.cached_tokens < warm.stats.prompt_tokens


@settings(deadline=None, max_examples=15)
@given(asked=requests(), trims_far=st.booleans(), data=st.data())
def test_edits_that_take_turns_equal_cold_ones(
    asked: Sequence[tuple[str, str, LineRange | None]], trims_far: bool, data: st.DataObject
) -> None:
    """Edits of one document that run at the same time, some of them cancelled, have the replies that each has alone."""
    desk = Desk(HistoryModel(trims_far=trims_far))
    asked = [*asked, *asked]
    expected = [desk.edit(*each, warm=False).raw_reply for each in asked]
    running = dict(enumerate(desk.steps(*each) for each in asked))
    found: dict[int, str] = {}
    while running:
        place = data.draw(st.sampled_from(sorted(running)))
        if data.draw(st.integers(0, 40)) == 0:
            running.pop(place).close()
            continue
        for _ in range(data.draw(st.integers(1, 12))):
            try:
                next(running[place])
            except StopIteration as done:
                found[place] = done.value.raw_reply
                del running[place]
                break
    assert {place: expected[place] for place in found} == found


def test_two_edits_of_a_text_read_it_once() -> None:
    """Edits of one text that begin together read it once: the second waits, and copies what the first has read."""
    desk = Desk(HistoryModel())
    first, second = (desk.steps(TEXT, instruction) for instruction in ("rename f", "document f"))
    results = take_turns(first, second)
    assert 0 == results[0].stats.cached_tokens
    assert results[1].stats.prompt_tokens - results[1].stats.cached_tokens < 40


def test_a_second_edit_begins_warm_while_the_first_replies() -> None:
    """An edit that comes while another of the same text replies reads its instruction alone."""
    desk = Desk(HistoryModel())
    first = desk.steps(TEXT, "rename f")
    while getattr(next(first), "stage", None) is not Stage.DECODE:
        pass
    stats = desk.edit(TEXT, "document f").stats
    assert stats.prompt_tokens - stats.cached_tokens < 40
    first.close()


def test_warming_waits_for_the_edit() -> None:
    """A text that is being edited is not read a second time to become warm: the edit leaves it so."""
    desk = Desk(HistoryModel())
    document = Document.of_text(TEXT, "a.py")
    warming = warm_steps(document, received=0.0, model=desk.model, warm=desk.store, slice_tokens=64)
    edited, made = take_turns(desk.steps(TEXT, "rename f"), warming)
    assert isinstance(edited, EditResult)
    assert isinstance(made, WarmResult)
    assert (0, made.head_tokens - 1) == (edited.stats.cached_tokens, made.cached_tokens)


def test_another_instruction_reads_itself_alone() -> None:
    """The second edit of a text feeds the instruction and the turn's end, however long the text."""
    desk = Desk(HistoryModel())
    assert 0 == desk.edit(TEXT, "rename f").stats.cached_tokens
    stats = desk.edit(TEXT, "document f").stats
    assert stats.prompt_tokens - stats.cached_tokens < 40


def test_a_warm_text_is_indexed_once() -> None:
    """What drafts are read from is found when a text becomes warm, and serves every edit until the text changes."""
    desk = Desk(HistoryModel())
    desk.warm_up(TEXT)
    index = desk.store.index("a.py", TEXT, desk.model.tokenizer)
    assert index.n_source > len(TEXT) // 2
    made = index.source()
    desk.edit(TEXT, "rename f")
    desk.edit(TEXT, "rename f", LineRange(first=7, last=8))
    assert made is index.source()
    desk.edit(TEXT + "g()\n", "rename f")
    assert made is not index.source()


def test_ranges_share_the_text() -> None:
    """A range of a text that was edited as a whole begins behind the text."""
    desk = Desk(HistoryModel())
    desk.edit(TEXT, "rename f")
    stats = desk.edit(TEXT, "rename f", LineRange(first=7, last=8)).stats
    assert stats.cached_tokens > len(TEXT)


def test_exact_edits_read_nothing_from_disk(tmp_path: Path) -> None:
    """What is on disk is for edits that may begin warm; an exact one begins cold all the same."""
    n_cached = []
    for exact in (False, False, True):
        desk = Desk(HistoryModel(), config=Config(engine=EngineConfig(exact=exact)))
        desk.store.spill_to(Spill(tmp_path / "kv", 10**9, "history"))
        n_cached.append(desk.edit(TEXT, "Do it.").stats.cached_tokens)
        desk.store.clear()
    assert (0, True, 0) == (n_cached[0], n_cached[1] > 1000, n_cached[2])


def test_exact_edits_begin_cold() -> None:
    """An exact reply is that of a prompt read in its own slices, so nothing warm is used for it."""
    desk = Desk(HistoryModel(), config=Config(engine=EngineConfig(exact=True)))
    assert [0, 0] == [desk.edit(TEXT, "rename f").stats.cached_tokens for _ in range(2)]


def test_a_change_keeps_what_is_before_it() -> None:
    """After a change everything up to it is warm."""
    desk = Desk(HistoryModel())
    desk.edit(TEXT, "rename f")
    stats = desk.edit(f"{TEXT[:900]}y{TEXT[900:]}", "rename f").stats
    assert 900 < stats.cached_tokens < 1200


def test_a_warm_text_begins_at_once() -> None:
    """After a text was made warm, its first edit feeds the instruction alone."""
    desk = Desk(HistoryModel())
    made = desk.warm_up(TEXT)
    assert (0, made.head_tokens - 1) == (made.cached_tokens, made.warm_tokens)
    assert made.kv_bytes == desk.store.counts.n_bytes > 0
    stats = desk.edit(TEXT, "rename f").stats
    assert made.warm_tokens <= stats.cached_tokens
    assert stats.prompt_tokens - stats.cached_tokens < 40


def test_warming_twice_feeds_nothing() -> None:
    """What is warm already costs nothing; at the end of a text only what was added does."""
    desk = Desk(HistoryModel())
    first = desk.warm_up(TEXT)
    assert first.warm_tokens == desk.warm_up(TEXT).cached_tokens
    grown = desk.warm_up(TEXT + "g()\n")
    assert first.warm_tokens - 5 <= grown.cached_tokens


def test_a_text_that_does_not_fit_is_said_so() -> None:
    """A budget that is too small for the text ends the work, and nothing is claimed to be warm."""
    made = Desk(HistoryModel(), limit_bytes=50_000).warm_up(TEXT)
    assert (0, 0) == (made.warm_tokens, made.kv_bytes)


@pytest.mark.parametrize("context_limit", [100, 1500])
def test_a_text_longer_than_the_context(context_limit: int) -> None:
    """A text that leaves no room for anything is refused, with or without being tokenized."""
    with pytest.raises(TextTooLong):
        Desk(HistoryModel(context_limit=context_limit)).warm_up(TEXT)


def test_the_head_is_what_all_prompts_begin_with() -> None:
    """The head holds the whole text, and edits of any range and instruction begin with it."""
    model, store = HistoryModel(), WarmStore(lambda: 0.0)
    document = Document.of_text(TEXT, "a.py")
    index = store.index(document_label(document), view(document.lines), model.tokenizer)
    head = prompt_head(document, model, index)
    assert TEXT in model.tokenizer.decode(head)
