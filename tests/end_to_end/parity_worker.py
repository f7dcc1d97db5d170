"""Decodes the same edits plainly, drafted and together, in a process with a fast BLAS; prints JSON lines."""

from __future__ import annotations

import calendar
import colorsys
import contextlib
import fnmatch
import inspect
import itertools
import json
import shlex
import statistics
import string
import sys
import textwrap
from collections.abc import Callable, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from plgd.config import EngineConfig
from plgd.documents.store import DocumentStore
from plgd.edits.drafting import make_edit_proposer
from plgd.edits.prompt import Prompt, make_prompt
from plgd.edits.request import PreparedEdit, prepare
from plgd.engine.governor import make_governor
from plgd.engine.mlx.load import load_model
from plgd.engine.mlx.model import MlxModel
from plgd.engine.sampling import GREEDY, Sampling
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.models.builtin import ADAPTER
from plgd.protocol.drafting import Policy
from plgd.protocol.edits import EditParams

MAX_TOKENS: Final = 40
# Long enough for a docstring and a signature; the prompt is fed once for each reply.
MAX_CHARACTERS: Final = 700
FUNCTIONS: Final[list[Callable[..., Any]]] = [
    calendar.leapdays, calendar.monthrange, calendar.weekday,
    colorsys.rgb_to_yiq, colorsys.hls_to_rgb, colorsys.rgb_to_hsv,
    fnmatch.filter, fnmatch.fnmatch, shlex.quote, shlex.join, shlex.split,
    statistics.mode, string.capwords, textwrap.indent, textwrap.shorten,
]  # fmt: skip
PLAIN: Final[list[Policy]] = ["off"]
INSTRUCTIONS: Final = ["Add a type annotation to every parameter.", "Remove all comments and the docstring."]
# Every third edit is sampled.
SAMPLINGS: Final = [GREEDY, GREEDY, Sampling(temperature=0.7, top_p=0.95, seed=11)]
AT_ONCE: Final = 4

# An edit, its prompt, and how its reply is sampled.
Edit = tuple[PreparedEdit, Prompt, Sampling]


def make_session(model: MlxModel, job: Edit, policy: Policy) -> Session:
    """Make a session as an edit does."""
    edit, prompt, sampling = job
    proposer = make_edit_proposer(edit, prompt, model, EngineConfig(policy=policy))
    costs = model.costs if policy == "cost" else None
    return Session(model.target(sampling), proposer, make_governor(policy, costs=costs))


def steps(model: MlxModel, session: Session, prompt: Prompt, reply: list[int]) -> Generator[None, None, None]:
    """Prefill and decode, a slice or a round at a time."""
    for _ in session.prefill(prompt.tokens, 512):
        yield
    with contextlib.closing(session.decode(Stops(model.eos_tokens, MAX_TOKENS))) as rounds:
        for round_ in rounds:
            reply.extend(round_.tokens)
            yield


def decode(model: MlxModel, job: Edit, policy: Policy) -> tuple[list[int], int]:
    """Return a reply's tokens and how many of them were drafted."""
    session, reply = make_session(model, job, policy), list[int]()
    for _ in steps(model, session, job[1], reply):
        pass
    return reply, session.stats.n_accepted


def decode_together(model: MlxModel, edits: Sequence[Edit], policy: Policy) -> list[tuple[list[int], int]]:
    """Return the replies of several edits that take their turns together, and how much of each was drafted."""
    sessions = [make_session(model, job, policy) for job in edits]
    replies: list[list[int]] = [[] for _ in edits]
    live = [
        steps(model, session, prompt, reply)
        for session, (_, prompt, _), reply in zip(sessions, edits, replies, strict=True)
    ]
    while live:
        outcomes = model.together.run([partial(next, job) for job in live])
        for outcome in outcomes:
            if isinstance(outcome, BaseException) and not isinstance(outcome, StopIteration):
                raise outcome
        live = [job for job, outcome in zip(live, outcomes, strict=True) if outcome is None]
    return [(reply, session.stats.n_accepted) for reply, session in zip(replies, sessions, strict=True)]


def main(folder: Path, policies: list[Policy]) -> None:
    """Print one line for each prompt: its replies by policy, and the drafted tokens that were accepted."""
    model, documents = load_model(folder, name="builtin", adapter=ADAPTER), DocumentStore()
    edits: list[Edit] = []
    for function, instruction, sampling in zip(
        FUNCTIONS, itertools.cycle(INSTRUCTIONS), itertools.cycle(SAMPLINGS), strict=False
    ):
        source = textwrap.dedent(inspect.getsource(function))[:MAX_CHARACTERS]
        edit = prepare(EditParams(instruction=instruction, text=source, name="stdlib.py"), documents)
        edits.append((edit, make_prompt(edit.document, edit.lines, instruction, model.tokenizer), sampling))
    together: list[tuple[list[int], int]] = []
    for start in range(0, len(edits), AT_ONCE):
        together += decode_together(model, edits[start : start + AT_ONCE], policies[0])
    for function, job, shared in zip(FUNCTIONS, edits, together, strict=True):
        replies: dict[str, tuple[list[int], int]] = {"together": shared}
        replies |= {policy: decode(model, job, policy) for policy in PLAIN + policies}
        line = {"function": function.__name__, "replies": replies}
        print(json.dumps(line), flush=True)  # noqa: T201 - its answer
    print(json.dumps({"n_joint_passes": model.together.counts.n_joint_passes}), flush=True)  # noqa: T201 - as above


if __name__ == "__main__":
    main(Path(sys.argv[1]), msgspec.convert(sys.argv[2:], list[Policy]))
