"""Edits carried out by hand: on a scripted model, step by step, on a clock of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from plgd.config import Config
from plgd.documents.store import DocumentStore
from plgd.documents.warm import WarmStore
from plgd.edits.events import JobDelta, JobEvent, JobProgress
from plgd.edits.job import edit_steps
from plgd.edits.request import prepare
from plgd.engine.kept import KeepingTarget
from plgd.engine.sampling import GREEDY, Sampling
from plgd.protocol.edits import EditParams, EditResult, Stage
from scripted_model import ScriptedModel

__all__ = ("SOURCE", "Ran", "RepliesModel", "params", "run", "run_replies")

SOURCE = "def total(items):\n    result = 0\n    for item in items:\n        result += item\n    return result\n"


@dataclass
class Ran:
    """What came of an edit."""

    result: EditResult
    events: list[JobEvent] = field(default_factory=list)
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel(""))

    @property
    def deltas(self) -> str:
        """The reply's text as it came."""
        return "".join(event.text for event in self.events if isinstance(event, JobDelta))

    def progress(self, stage: Stage) -> list[JobProgress]:
        """The progress of one stage."""
        return [event for event in self.events if isinstance(event, JobProgress) and event.stage is stage]


def _ticks() -> Callable[[], float]:
    """A clock that moves by a second with every look."""
    seconds: Iterator[int] = count(1)
    return lambda: float(next(seconds))


def run(
    asked: EditParams,
    reply: str,
    *,
    config: Config | None = None,
    context_limit: int = 1 << 20,
    meanwhile: Callable[[], None] = lambda: None,
) -> Ran:
    """Carry out an edit on a model that gives this reply; `meanwhile` happens once the reply begins."""
    return _run(asked, ScriptedModel(reply, context_limit=context_limit, on_target=meanwhile), config or Config())


class RepliesModel(ScriptedModel):
    """A model that gives one reply after the other."""

    def __init__(self, replies: Sequence[str], on_target: Callable[[], None] = lambda: None) -> None:
        super().__init__("", on_target=on_target)
        self._replies = list(replies)

    def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:
        self._reply = self._replies.pop(0)
        return super().target(sampling)


def run_replies(asked: EditParams, replies: Sequence[str], *, warm: WarmStore | None = None) -> Ran:
    """Carry out several edits of a text on a model that gives these replies."""
    return _run(asked, RepliesModel(replies), Config(), warm)


def _run(asked: EditParams, model: ScriptedModel, config: Config, warm: WarmStore | None = None) -> Ran:
    documents = DocumentStore()
    edit = prepare(asked, documents)
    steps = edit_steps(
        edit, session="s1", received=0.0, documents=documents, model=model, config=config, warm=warm, clock=_ticks()
    )
    events: list[JobEvent] = []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as done:
            return Ran(done.value, events, model)


def params(text: str | None = SOURCE, **changes: object) -> EditParams:
    """Ask for a rename, with some parameters changed."""
    return EditParams(**{"instruction": "Rename result to subtotal", "text": text, "name": "app.py", **changes})  # type: ignore[arg-type]
