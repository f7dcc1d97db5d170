"""A walk over model types: builds each small, decodes with drafts and without, and says how its caches go back.

`python tests/model_walk.py` walks over all of them and writes the table of `docs/models.md`.
"""

from __future__ import annotations

import importlib
import random
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import mlx.core as mx
import mlx.nn as nn
from mlx_lm.generate import generate_step
from mlx_lm.models.cache import CacheList

from plgd.engine.mlx.caches import CacheMaker
from plgd.engine.mlx.joint import JointNetwork
from plgd.engine.mlx.passes import Forward
from plgd.engine.mlx.rollback import TRIMS_ONLY, RollbackMethod
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.together import Together
from plgd.errors import UnsupportedModel
from replies import Drafter, drafted_reply
from tiny_configs import NOT_RUN, WINDOW, make_config, model_types
from tiny_models import make_network

__all__ = ("PAGE", "Finding", "read_table", "walk", "write_table")

PAGE: Final = Path(__file__).parents[1] / "docs" / "models.md"
BEGIN: Final = "<!-- the table is written by tests/model_walk.py -->"
N_REPLY: Final = 2 * WINDOW
REASON_WIDTH: Final = 100
SHAPES: Final = FixedShapes(widths=(4, 8, 16), kv_step=32)
# One prompt that the window holds, so that the reply runs past it, and one that is longer.
PROMPTS: Final = [[(7 * i * i + 3 * i + 1) % 256 for i in range(n)] for n in (WINDOW - 5, 2 * WINDOW + 5)]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the walk found about one model type.

    Attributes:
        model_type: its name.
        caches: the kinds of cache, with how many layers hold each.
        rollback: how drafts are rolled back, and the layer that decides.
        parity: whether drafted output equals plain output.
        quantized: whether it does with 8-bit keys and values, if the model can use them.
        fixed: whether it does with the fixed shapes that CUDA gets, if the model can use them.
        joint: whether it does when several replies share their passes, also with fixed shapes; with the modules that
            run row by row then, or why replies take turns.
    """

    model_type: str
    caches: str
    rollback: str
    parity: str
    quantized: str
    fixed: str
    joint: str

    def row(self) -> str:
        """Write the table's row."""
        cells = (self.caches, self.rollback, self.parity, self.quantized, self.fixed, self.joint)
        return f"| `{self.model_type}` | {' | '.join(cells)} |"


def walk(model_type: str) -> Finding:
    """Build a small model of one type and find out."""
    network = _build(model_type)
    make = CacheMaker(network, model_type)
    plain = [[token for token, _ in generate_step(mx.array(p), network, max_tokens=N_REPLY)] for p in PROMPTS]
    return Finding(
        model_type,
        _describe_caches(make()),
        _describe_rollback(network, make),
        _compare(network, make, plain, ("no", "wrong", "right", "mixed")),
        _try_quantized(network, model_type),
        _try_fixed(network, model_type, plain),
        _try_every_joint(network, model_type, plain),
    )


def _build(model_type: str) -> nn.Module:
    module = importlib.import_module(f"mlx_lm.models.{model_type}")
    return make_network(make_config(model_type), classes=(module.Model, module.ModelArgs))


def _try_quantized(network: nn.Module, model_type: str) -> str:
    try:
        make = CacheMaker(network, model_type, kv_bits=8)
    except UnsupportedModel:
        return "not possible"
    if "Quantized" not in _describe_caches(make()):
        return "nothing to quantize"
    plain = [drafted_reply(_target(network, make, prompt), N_REPLY, lambda _: ()) for prompt in PROMPTS]
    return _compare(network, make, plain, ("mixed",))


def _try_fixed(network: nn.Module, model_type: str, plain: list[list[int]]) -> str:
    make = CacheMaker(network, model_type, shapes=SHAPES)
    if make.shapes is None:
        return "left off"
    if "Rounded" not in _describe_caches(make()):
        return "nothing to round"
    return _compare(network, make, plain, ("mixed",))


def _try_every_joint(network: nn.Module, model_type: str, plain: list[list[int]]) -> str:
    found = _try_joint(network, CacheMaker(network, model_type), plain)
    # What a network was taught stays; so this is another one.
    network = _build(model_type)
    fixed = CacheMaker(network, model_type, shapes=SHAPES)
    if fixed.shapes is None or "Rounded" not in _describe_caches(fixed()):
        return found
    with_fixed = _try_joint(network, fixed, plain)
    return found if with_fixed == found else f"{found}; with fixed shapes {with_fixed}"


def _try_joint(network: nn.Module, make: CacheMaker, plain: list[list[int]]) -> str:
    """Decode four replies in one turn: the greenlets of a turn need not be steps."""
    joint = JointNetwork(network, _forward_of(network), make, make.shapes)
    together = Together(joint)
    expected = [(prompt, reply) for prompt, reply in zip(PROMPTS, plain, strict=True) for _ in range(2)]
    drafters = [_drafters(reply)[name] for reply in plain for name in ("wrong", "mixed")]
    targets = [_target(network, make, prompt, together) for prompt, _ in expected]
    jobs = [partial(drafted_reply, each, N_REPLY, drafter) for each, drafter in zip(targets, drafters, strict=True)]
    if [reply for _, reply in expected] != together.run(jobs):
        return "**differs**"
    if joint.refusal:
        return f"takes turns ({textwrap.shorten(joint.refusal, REASON_WIDTH, placeholder=' ...')})"
    return f"yes, {', '.join(joint.by_rows)} row by row" if joint.by_rows else "yes"


def _compare(network: nn.Module, make: CacheMaker, plain: list[list[int]], drafts: tuple[str, ...]) -> str:
    for prompt, reply in zip(PROMPTS, plain, strict=True):
        for name in drafts:
            drafter = _drafters(reply)[name]
            if reply != drafted_reply(_target(network, make, prompt), N_REPLY, drafter):
                return f"**differs** ({name} drafts)"
    return "yes"


def _forward_of(network: nn.Module) -> Forward:
    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        logits: mx.array = network(tokens, cache=caches)
        return logits

    return forward


def _target(network: nn.Module, make: CacheMaker, prompt: list[int], together: Together | None = None) -> MlxTarget:
    target = MlxTarget(
        _forward_of(network),
        make(),
        context_limit=1 << 20,
        shapes=make.shapes,
        trims_only=getattr(network, "model_type", None) in TRIMS_ONLY,
        together=together,
    )
    if prompt:
        target.prefill(prompt)
    return target


def _drafters(reply: list[int]) -> dict[str, Drafter]:
    rng = random.Random(1)  # noqa: S311  # the same drafts in every run

    def right(done: list[int]) -> list[int]:
        return reply[len(done) : len(done) + 7]

    def wrong(done: list[int]) -> list[int]:
        return [(token + 1) % 256 for token in right(done)]

    def mixed(done: list[int]) -> list[int] | None:
        if rng.random() < 0.3:
            return None
        draft = right(done)[: rng.randrange(8)]
        n_right = rng.randrange(len(draft) + 1)
        return [*draft[:n_right], *((token + 1) % 256 for token in draft[n_right:])]

    return {"no": lambda _: None, "wrong": wrong, "right": right, "mixed": mixed}


def _describe_caches(caches: list[Any]) -> str:
    kinds = Counter(map(_name, caches))
    return ", ".join(f"{n} {kind}" for kind, n in kinds.items())


def _name(cache: object) -> str:
    if isinstance(cache, CacheList):
        return "(" + " + ".join(map(_name, cache.caches)) + ")"
    return type(cache).__name__


def _describe_rollback(network: nn.Module, make: CacheMaker) -> str:
    early = _target(network, make, []).rollback_method(1)
    late = _target(network, make, list(range(2 * WINDOW))).rollback_method(1)
    return _say(early, late, "plain only" if getattr(network, "model_type", None) in TRIMS_ONLY else "snapshot")


def _say(early: RollbackMethod, late: RollbackMethod, otherwise: str) -> str:
    if early.by_snapshot:
        return f"{otherwise} ({early.where})"
    return f"trim; {otherwise} once the window is full ({late.where})" if late.by_snapshot else "trim"


def write_table(findings: list[Finding]) -> None:
    """Put a table in the place of the page's old one."""
    head = PAGE.read_text(encoding="utf-8").partition(BEGIN)[0]
    lines = [
        BEGIN,
        "",
        f"mlx-lm {version('mlx-lm')}, {len(findings)} model types:",
        "",
        "| model type | caches of a small model | rollback | drafted = plain | 8-bit KV | fixed shapes | together |",
        "|---|---|---|---|---|---|---|",
        *(finding.row() for finding in findings),
        "",
    ]
    PAGE.write_text(head + "\n".join(lines), encoding="utf-8")


def read_table() -> tuple[str, dict[str, str]]:
    """Read the page's table: the version of mlx-lm it was made with, and the row of each model type."""
    table = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2]
    made_with = table.split("mlx-lm ", 1)[1].split(",", 1)[0]
    rows = {line.split("`")[1]: line for line in table.splitlines() if line.startswith("| `")}
    return made_with, rows


def main() -> None:
    """Walk over every model type and write the table."""
    mx.disable_compile()  # compiling costs more than running, for models this small
    findings = []
    for model_type in model_types():
        if model_type in NOT_RUN:
            finding = Finding(model_type, "-", NOT_RUN[model_type], *["not run"] * 4)
        else:
            finding = walk(model_type)
        sys.stdout.write(finding.row() + "\n")
        sys.stdout.flush()
        findings.append(finding)
    write_table(findings)


if __name__ == "__main__":
    main()
