"""Decodes the same edits plainly and drafted, in a process that was started with a fast BLAS; prints JSON lines."""

from __future__ import annotations

import calendar
import colorsys
import contextlib
import fnmatch
import inspect
import json
import shlex
import statistics
import string
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from plgd.documents.document import Document
from plgd.edits.prompt import make_prompt
from plgd.engine.governor import make_governor, make_proposer
from plgd.engine.mlx.load import load_model
from plgd.engine.mlx.model import MlxModel
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from plgd.models.builtin import ADAPTER
from plgd.protocol.messages import LineRange

MAX_TOKENS: Final = 64
FUNCTIONS: Final[list[Callable[..., Any]]] = [
    calendar.leapdays, calendar.monthrange, calendar.weekday,
    colorsys.rgb_to_yiq, colorsys.hls_to_rgb, colorsys.rgb_to_hsv,
    fnmatch.filter, fnmatch.fnmatch, shlex.quote, shlex.join, shlex.split,
    statistics.mode, string.capwords, textwrap.indent, textwrap.shorten,
]  # fmt: skip
INSTRUCTIONS: Final = ["Add a type annotation to every parameter.", "Remove all comments and the docstring."]


def decode(model: MlxModel, tokens: tuple[int, ...], policy: str) -> tuple[list[int], int]:
    """Return a reply's tokens and how many of them were drafted."""
    session = Session(model.target(), make_proposer(policy), make_governor(policy))
    for _ in session.prefill(tokens, 512):
        pass
    with contextlib.closing(session.decode(Stops(model.eos_tokens, MAX_TOKENS))) as rounds:
        reply = [token for round_ in rounds for token in round_.tokens]
    return reply, session.stats.n_accepted


def main(folder: Path, policies: list[str]) -> None:
    """Print one line for each prompt: its replies by policy, and the drafted tokens that were accepted."""
    model = load_model(folder, name="builtin", adapter=ADAPTER)
    for function in FUNCTIONS:
        for instruction in INSTRUCTIONS:
            document = Document.of_text(textwrap.dedent(inspect.getsource(function))[:1200], "stdlib.py")
            lines = LineRange(first=1, last=len(document.lines))
            prompt = make_prompt(document, lines, instruction, model.tokenizer)
            replies = {policy: decode(model, prompt.tokens, policy) for policy in ["off", *policies]}
            print(json.dumps({"function": function.__name__, "replies": replies}), flush=True)  # noqa: T201 - its answer


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
