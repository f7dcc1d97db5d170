"""Decodes the same edits plainly and drafted, in a process that was started with a fast BLAS; prints JSON lines."""

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
from collections.abc import Callable
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
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.models.builtin import ADAPTER
from plgd.protocol.drafting import Policy
from plgd.protocol.edits import EditParams

MAX_TOKENS: Final = 48
FUNCTIONS: Final[list[Callable[..., Any]]] = [
    calendar.leapdays, calendar.monthrange, calendar.weekday,
    colorsys.rgb_to_yiq, colorsys.hls_to_rgb, colorsys.rgb_to_hsv,
    fnmatch.filter, fnmatch.fnmatch, shlex.quote, shlex.join, shlex.split,
    statistics.mode, string.capwords, textwrap.indent, textwrap.shorten,
]  # fmt: skip
PLAIN: Final[list[Policy]] = ["off"]
INSTRUCTIONS: Final = ["Add a type annotation to every parameter.", "Remove all comments and the docstring."]


def decode(model: MlxModel, edit: PreparedEdit, prompt: Prompt, policy: Policy) -> tuple[list[int], int]:
    """Return a reply's tokens and how many of them were drafted."""
    proposer = make_edit_proposer(edit, prompt, model, EngineConfig(policy=policy))
    session = Session(model.target(), proposer, make_governor(policy))
    for _ in session.prefill(prompt.tokens, 512):
        pass
    with contextlib.closing(session.decode(Stops(model.eos_tokens, MAX_TOKENS))) as rounds:
        reply = [token for round_ in rounds for token in round_.tokens]
    return reply, session.stats.n_accepted


def main(folder: Path, policies: list[Policy]) -> None:
    """Print one line for each prompt: its replies by policy, and the drafted tokens that were accepted."""
    model, documents = load_model(folder, name="builtin", adapter=ADAPTER), DocumentStore()
    for function, instruction in zip(FUNCTIONS, itertools.cycle(INSTRUCTIONS), strict=False):
        source = textwrap.dedent(inspect.getsource(function))[:1200]
        edit = prepare(EditParams(instruction=instruction, text=source, name="stdlib.py"), documents)
        prompt = make_prompt(edit.document, edit.lines, instruction, model.tokenizer)
        replies = {policy: decode(model, edit, prompt, policy) for policy in PLAIN + policies}
        print(json.dumps({"function": function.__name__, "replies": replies}), flush=True)  # noqa: T201 - its answer


if __name__ == "__main__":
    main(Path(sys.argv[1]), msgspec.convert(sys.argv[2:], list[Policy]))
