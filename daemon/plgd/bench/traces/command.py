"""`plgd bench --traces`: real edits in real time; every pass is the model's, the choices are the trace's."""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec
from rich.console import Console

from plgd.bench.deadline import Deadline
from plgd.bench.machine import Machine, know_costs, open_machine
from plgd.bench.material.choice import KINDS, RELEASE, choose, load_pairs, make_traces
from plgd.bench.progress import Progress
from plgd.bench.replay.run import REPLAYED
from plgd.bench.replay.trace import OVERHANG, Trace
from plgd.bench.traces.report import show_traces
from plgd.bench.traces.results import TracesResult
from plgd.bench.traces.run import TIMED, TimedTrace, corrected, judge, mean, time_policies
from plgd.bench.traces.timed import record_reply
from plgd.config import load_config
from plgd.engine.correction import LiveCosts
from plgd.errors import BenchError
from plgd.paths import Paths

__all__ = ("choose_traces", "run")

N_TRACES: Final = 10

# Renames are asked of Python modules of this many tokens.
RENAMED: Final = range(250, 2001)

# A reply of the model's own that grows beyond this share of its source will not end.
MAX_GROWTH: Final = 1.5

# What the policies of fixed reach may verify: up to seven drafted tokens.
REFERENCE_WIDTHS: Final = range(1, 9)


@dataclass(frozen=True, slots=True)
class _Run:
    """What stays the same from trace to trace.

    Attributes:
        machine: the model and what it runs on.
        costs: corrected by each reply of the policy `cost`.
        measured: the same, corrected by each reply.
        own: the model's own replies are decoded.
        max_tokens: replies are cut to this length; None leaves them whole.
        n_repeats: timed replies of each policy.
        prefill_slice: prompt tokens per pass.
        say: told what happens.
    """

    machine: Machine
    costs: LiveCosts
    measured: LiveCosts
    own: bool
    max_tokens: int | None
    n_repeats: int
    prefill_slice: int
    say: Callable[[str], None]

    def time(self, trace: Trace) -> TimedTrace | None:
        """Time a trace; None when the model's own reply to it does not end."""
        reply = self._record(trace) if self.own else trace.reply
        if reply is None:
            return None
        decoded = trace
        if self.own:
            decoded = replace(trace, reply=reply, is_cut=reply[-1] not in self.machine.model.eos_tokens)
        led = self.machine.led_along([*trace.prompt, *reply]).model
        replies = time_policies(
            decoded,
            led.target,
            led.tokenizer,
            self.costs,
            self.measured,
            n_repeats=self.n_repeats,
            prefill_slice=self.prefill_slice,
            on_call=lambda policy, repeat: self.say(f"{trace.name}: {policy} {repeat} of {self.n_repeats}"),
        )
        return TimedTrace(decoded, own=self.own, as_meant=reply[: len(trace.reply)] == trace.reply, replies=replies)

    def _record(self, trace: Trace) -> tuple[int, ...] | None:
        self.say(f"{trace.name}: the model's own reply")
        model = self.machine.model
        max_tokens = min(int(MAX_GROWTH * len(trace.source)), model.context_limit - len(trace.prompt))
        return record_reply(
            trace,
            REPLAYED["cost"],
            model.target,
            model.tokenizer,
            self.costs.table,
            eos_tokens=model.eos_tokens,
            max_tokens=max_tokens,
            cut_at=self.max_tokens,
            prefill_slice=self.prefill_slice,
        )


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and report.

    Raises:
        BenchError: a file, the corpus or a name is missing or wrong, or no trace can be run.
        ModelError: the model cannot be found or loaded.
        EngineError: the model failed.
    """
    deadline = Deadline(arguments.max_seconds)
    kinds = tuple(choose("kind of edit", dict.fromkeys(KINDS), arguments.kinds or (RELEASE,)))
    paths = Paths.from_environment()
    config = load_config(paths.config_file)
    with Progress() as progress:
        pairs = load_pairs(arguments, paths, progress.say)
        machine = open_machine(arguments.model, (), paths, config, on_progress=progress.say)
        progress.say("tokenizing")
        traces = choose_traces(
            list(make_traces(pairs, kinds, machine.model.tokenizer, n_synthetic=None)),
            arguments.n_traces or N_TRACES,
            max_tokens=arguments.max_tokens,
            context_limit=machine.model.context_limit,
        )
        if not traces:
            raise BenchError.unreadable("these files", "none of them can be edited in that way within the context")
        initial = know_costs(machine.model, paths, on_progress=progress.say)
        current = _Run(
            machine,
            LiveCosts(initial),
            LiveCosts(initial),
            own=arguments.replies == "own",
            max_tokens=arguments.max_tokens,
            n_repeats=arguments.repeats or 1,
            prefill_slice=config.engine.prefill_slice,
            say=progress.say,
        )
        progress.say("warming up")
        machine.led_along(traces[0].prompt).warm_up(
            sorted({*REFERENCE_WIDTHS, *initial.candidates()}),
            max(len(trace.prompt) + len(trace.reply) for trace in traces),
        )
        timed = [each for trace in deadline.take(traces) if (each := current.time(trace)) is not None]
        if not timed:
            raise BenchError.unreadable("this model", "none of its own replies ended")
        progress.say("replaying")
        tables = {"initial": initial, "final": corrected(current.costs), "measured": corrected(current.measured)}
        found = tuple(judge(each, tables, machine.model.tokenizer) for each in timed)
    result = TracesResult(
        environment=msgspec.structs.replace(machine.environment, load_after=round(os.getloadavg()[0], 2)),
        n_repeats=current.n_repeats,
        n_left_out=len(traces) - len(found),
        tables={name: table.to_data() for name, table in tables.items()},
        traces=found,
        means={policy: mean(found, policy) for policy in TIMED},
    )
    if arguments.json:
        console.file.write(msgspec.json.encode(result).decode() + "\n")
    else:
        show_traces(result, console)


def choose_traces(
    traces: Sequence[Trace], n_traces: int, *, max_tokens: int | None, context_limit: int
) -> Sequence[Trace]:
    """Choose a sample, the same every time, of the traces of each kind that fit into the context.

    Args:
        traces: to choose from. Of renames, only those of Python modules of the lengths in `RENAMED` count.
        n_traces: most of each kind.
        max_tokens: replies are cut to this length; None leaves them whole.
        context_limit: the model's.
    """
    by_kind: dict[str, list[Trace]] = {}
    for trace in traces:
        is_cut = max_tokens is not None and len(trace.reply) > max_tokens
        cut = replace(trace, reply=trace.reply[:max_tokens], is_cut=is_cut)
        longest = max(len(cut.reply), int(MAX_GROWTH * len(trace.source)))
        is_asked_for = trace.kind != "rename" or (trace.name.endswith(".py") and len(trace.source) in RENAMED)
        if is_asked_for and len(trace.prompt) + longest + OVERHANG <= context_limit:
            by_kind.setdefault(trace.kind, []).append(cut)
    chance = random.Random(0)  # noqa: S311 - the same sample every time
    chosen = [trace for found in by_kind.values() for trace in chance.sample(found, min(n_traces, len(found)))]
    chance.shuffle(chosen)
    return chosen
