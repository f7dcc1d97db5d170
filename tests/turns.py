"""Jobs of several sequences that take their turns together, and what each says alone."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import mlx.nn as nn

from doubles import PlannedGovernor, PlannedProposer
from plgd.engine.company import JointCosts, PassSize
from plgd.engine.correction import LiveCosts
from plgd.engine.cost import ASSUMED_COSTS
from plgd.engine.mlx.model import MlxModel
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.sampling import GREEDY, Sampling
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from session_replies import NEVER
from tiny_configs import make_config
from tiny_models import make_network

__all__ = ("KINDS", "SLICE", "Job", "Plan", "Told", "make_model", "reply_alone", "run_together")

SLICE = 8
SHAPES = FixedShapes(widths=(2, 4, 8, 16, 32, 64), kv_step=32)

# A kind of caches: the model type, bits of keys and values, fixed shapes or none.
KINDS: dict[str, tuple[str, int, FixedShapes | None]] = {
    "rows": ("qwen3", 0, None),
    "8 bits": ("qwen3", 8, None),
    "4 bits": ("qwen3", 4, None),
    "fixed shapes": ("qwen3", 0, SHAPES),
    "windows and rows": ("gemma3_text", 0, None),
    "states and rows": ("lfm2", 0, None),
    "two caches a layer": ("deepseek_v32", 0, None),
    "chunks and rows": ("llama4", 0, None),
}


@dataclass(frozen=True)
class Plan:
    """What a job does.

    Attributes:
        prompt: its tokens.
        n_reply: tokens of its reply.
        drafts: as for `PlannedProposer`.
        rounds: as for `PlannedGovernor`.
        sampling: how its tokens are taken.
        arrives: the turn in which it joins.
        leaves: after how many of its steps it is cancelled; None: never.
    """

    prompt: tuple[int, ...]
    n_reply: int = 12
    drafts: tuple[tuple[int, int | None], ...] = ((6, None), (5, 2), (3, 0))
    rounds: tuple[tuple[int, bool], ...] = ((6, False), (0, True), (4, False), (0, False))
    sampling: Sampling = GREEDY
    arrives: int = 0
    leaves: int | None = None


@dataclass
class Job:
    """A job as it goes on: its reply so far, and what ended it."""

    plan: Plan
    reply: list[int] = field(default_factory=list)
    error: BaseException | None = None
    n_steps: int = 0
    steps: Generator[None, None, None] | None = None

    def start(self, model: MlxModel, expected: Sequence[int]) -> None:
        """Begin; the drafts are taken from the reply that is to come."""
        plan = self.plan
        proposer = PlannedProposer([*plan.prompt, *expected], plan.drafts)
        session = Session(model.target(plan.sampling), proposer, PlannedGovernor(plan.rounds))
        self.steps = self._go_on(session)

    def _go_on(self, session: Session) -> Generator[None, None, None]:
        for _ in session.prefill(self.plan.prompt, SLICE):
            yield
        for round_ in session.decode(Stops(NEVER, self.plan.n_reply)):
            self.reply.extend(round_.tokens)
            yield


class Told(JointCosts):
    """Costs by which passes run as one when they are told to."""

    def __init__(self, choose: Callable[[], bool]) -> None:
        super().__init__(LiveCosts(ASSUMED_COSTS))
        self._choose = choose

    def pays(self, passes: Sequence[PassSize]) -> bool:  # noqa: ARG002 - whatever they are
        return self._choose()


@cache
def network_of(model_type: str) -> nn.Module:
    """Build a small network, once."""
    return make_network(make_config(model_type))


def make_model(kind: str) -> MlxModel:
    """Make a model with one of the kinds of caches."""
    model_type, kv_bits, shapes = KINDS[kind]
    model = MlxModel(
        network_of(model_type),
        None,  # type: ignore[arg-type]  # nothing here has a text
        name=kind,
        eos_tokens=frozenset(),
        context_limit=512,
        kv_bits=kv_bits,
        shapes=shapes,
    )
    model.together.costs = None
    return model


def reply_alone(model: MlxModel, plan: Plan) -> list[int]:
    """Decode a reply alone, token by token."""
    target = model.target(plan.sampling)
    for start in range(0, len(plan.prompt), SLICE):
        target.prefill(plan.prompt[start : start + SLICE])
    return [target.verify(())[0] for _ in range(plan.n_reply)]


def run_together(model: MlxModel, plans: Sequence[Plan], expected: Sequence[Sequence[int]]) -> list[Job]:
    """Run jobs turn by turn, each from its arrival until it is done or cancelled."""
    jobs = [Job(plan) for plan in plans]
    turn = 0
    open_jobs = list(jobs)
    while open_jobs:
        live = [job for job in open_jobs if job.plan.arrives <= turn]
        for job, reply in zip(jobs, expected, strict=True):
            if job in live and job.steps is None:
                job.start(model, reply)
        outcomes = model.together.run([partial(next, job.steps) for job in live if job.steps is not None])
        for job, outcome in zip(live, outcomes, strict=True):
            job.n_steps += 1
            if isinstance(outcome, BaseException):
                job.error = None if isinstance(outcome, StopIteration) else outcome
                open_jobs.remove(job)
            elif job.n_steps == job.plan.leaves and job.steps is not None:
                job.steps.close()
                open_jobs.remove(job)
        turn += 1
    return jobs
