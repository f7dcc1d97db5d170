"""`plgd bench --divergences`: how often drafted replies leave plain decoding's, with `exact` and without."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table

from plgd.bench.compare.measure import find_divergence
from plgd.bench.compare.prompts import tokenize
from plgd.bench.compare.workloads import WORKLOADS
from plgd.bench.machine import open_machine
from plgd.bench.progress import Progress
from plgd.bench.report import describe_environment
from plgd.bench.results import Environment, Record
from plgd.config import load_config
from plgd.engine.fixed import FixedGovernor
from plgd.engine.model import Model
from plgd.engine.proposer import NO_DRAFT, Draft
from plgd.engine.sampling import Sampling
from plgd.engine.session import Session
from plgd.engine.stats import Stats
from plgd.engine.stops import Stops
from plgd.paths import Paths

__all__ = ("DivergenceResult", "Divergences", "count_divergences", "run", "show_divergences")

# A block that narrow kernels serve, one that fills theirs up, and one for wide kernels.
DRAFTS: Final = (3, 7, 31)
PREFILL_SLICE: Final = 512


class Divergences(Record, frozen=True):
    """What was counted with drafts of one length.

    Attributes:
        n_drafted: tokens in one draft.
        exact: whether `engine.exact` was on.
        n_tokens: tokens that were compared.
        n_rounds: passes that the drafted replies took for them.
        n_near_ties: choices of wide passes that one-token passes might have made otherwise, as the target counts.
        n_divergences: tokens of drafted replies that were not plain decoding's.
    """

    n_drafted: int
    exact: bool
    n_tokens: int
    n_rounds: int
    n_near_ties: int
    n_divergences: int

    @property
    def per_10_000(self) -> float:
        """Divergences in 10,000 tokens."""
        return 10_000 * self.n_divergences / max(self.n_tokens, 1)


class DivergenceResult(Record, frozen=True):
    """A whole measurement.

    Attributes:
        environment: what it was measured on.
        max_tokens: the longest reply.
        counted: one entry for each length of draft, without and with `exact`.
    """

    environment: Environment
    max_tokens: int
    counted: tuple[Divergences, ...]


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Count over the replies of all workloads and report.

    Raises:
        ModelError: the model cannot be found or loaded.
        EngineError: the model failed.
    """
    paths = Paths.from_environment()
    with Progress() as progress:
        machine = open_machine(
            arguments.model,
            (1, *(n + 1 for n in DRAFTS)),
            paths,
            load_config(paths.config_file),
            on_progress=progress.say,
        )
        names = arguments.only or tuple(WORKLOADS)
        longest = max(WORKLOADS[name].max_tokens for name in names)
        max_tokens = arguments.max_tokens or longest
        prompts = {name: tokenize(WORKLOADS[name], machine.model.tokenizer) for name in names}
        counted = tuple(count_divergences(machine.model, prompts, max_tokens=max_tokens, on_reply=progress.say))
    result = DivergenceResult(environment=machine.environment, max_tokens=max_tokens, counted=counted)
    if arguments.json:
        console.file.write(msgspec.json.encode(result).decode() + "\n")
    else:
        show_divergences(result, console)


def count_divergences(
    model: Model,
    prompts: Mapping[str, Sequence[int]],
    *,
    max_tokens: int,
    drafts: Sequence[int] = DRAFTS,
    on_reply: Callable[[str], None] = lambda _: None,
) -> Iterator[Divergences]:
    """Draft what plain decoding says, and compare token by token.

    With such drafts nearly every token is chosen by a wide pass, behind keys and values that wide passes wrote: no
    drafting could diverge more often. After a divergence both go on behind plain decoding's token, from a prompt that
    ends with it, so that every token of every reply is compared.

    Args:
        model: the model.
        prompts: name -> tokens.
        max_tokens: the longest reply; it ends earlier where the model ends it.
        drafts: the lengths of draft.
        on_reply: is told before each reply.
    """
    plain = _PlainReplies(model)
    for n_drafted in drafts:
        for exact in (False, True):
            found = _Counted()
            for name, prompt in prompts.items():
                on_reply(f"{name}: drafts of {n_drafted}{', exact' * exact}")
                _compare(model, prompt, plain, found, n_drafted=n_drafted, exact=exact, max_tokens=max_tokens)
            yield Divergences(
                n_drafted=n_drafted,
                exact=exact,
                n_tokens=found.n_tokens,
                n_rounds=found.n_rounds,
                n_near_ties=found.n_near_ties,
                n_divergences=found.n_divergences,
            )


@dataclass
class _Counted:
    """Counts over several replies."""

    n_tokens: int = 0
    n_rounds: int = 0
    n_near_ties: int = 0
    n_divergences: int = 0


@dataclass
class _PlainReplies:
    """Decodes plainly, each prompt once."""

    model: Model
    known: dict[tuple[int, ...], list[int]] = field(default_factory=dict)

    def __call__(self, prompt: Sequence[int], max_tokens: int) -> list[int]:
        key = tuple(prompt)
        if key not in self.known:
            self.known[key], _ = _decode(self.model, Sampling(), prompt, [], 0, max_tokens)
        return self.known[key]


class _Foretelling:
    """Proposes what a known text says next.

    Args:
        history: prompt and reply.
    """

    def __init__(self, history: Sequence[int]) -> None:
        self._history = history
        self._n_seen = 0

    def extend(self, tokens: Sequence[int]) -> None:
        """Count what was committed."""
        self._n_seen += len(tokens)

    def propose(self, max_tokens: int) -> Draft:
        """Propose the next tokens."""
        tokens = tuple(self._history[self._n_seen : self._n_seen + max_tokens])
        return Draft(tokens, "foretelling", self._n_seen) if tokens else NO_DRAFT


def _compare(
    model: Model,
    prompt: Sequence[int],
    plain: _PlainReplies,
    found: _Counted,
    *,
    n_drafted: int,
    exact: bool,
    max_tokens: int,
) -> None:
    history, n_left = list(prompt), max_tokens
    while n_left:
        expected = plain(history, n_left)
        reply, stats = _decode(model, Sampling(exact=exact), history, expected, n_drafted, n_left)
        place = find_divergence(reply, expected)
        n_compared = len(expected) if place is None else place + 1
        found.n_tokens += n_compared
        found.n_rounds += stats.n_rounds
        found.n_near_ties += stats.n_near_ties
        found.n_divergences += place is not None
        history += expected[:n_compared]
        n_left = 0 if n_compared == len(expected) else n_left - n_compared


def _decode(
    model: Model, sampling: Sampling, prompt: Sequence[int], foretold: Sequence[int], n_drafted: int, max_tokens: int
) -> tuple[list[int], Stats]:
    governor = FixedGovernor("foretelling", n_drafted)
    session = Session(model.target(sampling), _Foretelling([*prompt, *foretold]), governor)
    for _ in session.prefill(prompt, PREFILL_SLICE):
        pass
    reply: list[int] = []
    with closing(session.decode(Stops(model.eos_tokens, max_tokens, loop_guard=False))) as rounds:
        for each in rounds:
            reply.extend(each.tokens)
            if foretold and find_divergence(reply, foretold[: len(reply)]) is not None:
                break  # what comes now has another history
    return reply, session.stats


def show_divergences(result: DivergenceResult, console: Console) -> None:
    """Print one row for each length of draft, without and with `exact`."""
    console.print(describe_environment(result.environment), highlight=False)
    table = Table(title="drafted replies against plain decoding", title_justify="left")
    table.add_column("drafts of", justify="right")
    table.add_column("exact")
    for heading in ("tokens", "tok/round", "near ties", "divergences", "per 10,000"):
        table.add_column(heading, justify="right")
    for found in result.counted:
        table.add_row(
            "" if found.exact else str(found.n_drafted),
            "yes" if found.exact else "no",
            f"{found.n_tokens:,}",
            f"{found.n_tokens / max(found.n_rounds, 1):.1f}",
            f"{found.n_near_ties:,}",
            str(found.n_divergences),
            f"{found.per_10_000:.1f}",
        )
    console.print(table)
