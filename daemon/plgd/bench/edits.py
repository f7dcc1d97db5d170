"""`plgd bench --edits`: how good a model's edits are, asked and answered as the daemon does it."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec
from rich.console import Console

from plgd.bench.edits_held_out import load_held_out, read_held_out
from plgd.bench.edits_report import show_edits
from plgd.bench.edits_results import EditOutcome, Speedup, summarize
from plgd.bench.edits_score import find_damage, parses
from plgd.bench.edits_suite import SuiteEdit, choose_edits, read_gate
from plgd.bench.machine import know_costs, open_machine
from plgd.bench.progress import Progress
from plgd.config import Config, load_config
from plgd.documents.store import DocumentStore
from plgd.edits.job import edit_steps
from plgd.edits.request import prepare
from plgd.engine.model import Model
from plgd.errors import InputError
from plgd.paths import Paths
from plgd.protocol.drafting import DraftingParams
from plgd.protocol.edits import EditParams, EditResult, EditStatus
from plgd.text.lines import split_lines

__all__ = ("Editor", "judge", "run", "run_suite")

ResultT = TypeVar("ResultT")

# Edits of a quick run, and those that are timed with and without drafting.
N_QUICK: Final = 40
N_TIMED: Final = 20
# The outcome of a request that the daemon would not take, such as a text too long for the model.
REFUSED: Final = "refused"


@dataclass(frozen=True, slots=True)
class Editor:
    """Carries edits out as the daemon does: the same checks, prompt, drafting, guards and text.

    Attributes:
        model: in memory.
        config: the user's settings.
        clock: seconds from any start.
    """

    model: Model
    config: Config
    clock: Callable[[], float] = time.perf_counter

    def __call__(self, edit: SuiteEdit, *, plain: bool = False) -> EditResult:
        """Carry an edit out; nothing is kept from one to the next.

        Args:
            edit: the request.
            plain: without drafting, whatever is configured.

        Raises:
            InputError: the daemon would not take the request.
            EngineError: the model failed.
        """
        documents = DocumentStore()
        received = self.clock()
        params = EditParams(
            text=edit.before,
            name=edit.path,
            instruction=edit.instruction,
            range=edit.lines,
            drafting=DraftingParams(policy="off") if plain else None,
        )
        steps = edit_steps(
            prepare(params, documents),
            session=edit.name,
            received=received,
            documents=documents,
            model=self.model,
            config=self.config,
            clock=self.clock,
        )
        return _finish(steps)


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Measure and report.

    Raises:
        BenchError: the suite cannot be read or fetched, or has no edit of a kind.
        ModelError: the model cannot be found or loaded.
        EngineError: the model failed.
    """
    paths = Paths.from_environment()
    config = load_config(paths.config_file)
    suite = arguments.suite or "gate"
    with Progress() as progress:
        chosen = _load(suite, arguments.kinds, N_QUICK if arguments.quick else None, paths, progress.say)
        machine = open_machine(arguments.model, (1,), paths, config, on_progress=progress.say)
        if config.engine.policy == "cost":
            machine.model.use_costs(know_costs(machine.model, paths, on_progress=progress.say))
        outcomes, speedup = run_suite(
            chosen, Editor(machine.model, config), n_timed=N_TIMED if arguments.speedup else 0, say=progress.say
        )
    environment = msgspec.structs.replace(machine.environment, load_after=round(os.getloadavg()[0], 2))
    result = summarize(suite, outcomes, environment=environment, speedup=speedup)
    if arguments.json:
        console.file.write(msgspec.json.encode(result).decode() + "\n")
    else:
        show_edits(result, console)


def _load(
    suite: str, kinds: Sequence[str] | None, limit: int | None, paths: Paths, say: Callable[[str], None]
) -> list[SuiteEdit]:
    if suite == "gate":
        return choose_edits(read_gate(), kinds, limit)
    stored = read_held_out()
    # Only what is run is fetched.
    chosen = msgspec.structs.replace(stored, edits=tuple(choose_edits(stored.edits, kinds, limit)))
    return load_held_out(chosen, paths.cache_dir / "corpus", say)


def run_suite(
    edits: Sequence[SuiteEdit], editor: Editor, *, n_timed: int, say: Callable[[str], None]
) -> tuple[list[EditOutcome], Speedup | None]:
    """Carry out all edits.

    Args:
        edits: of the suite.
        editor: carries them out.
        n_timed: how many of them, spread evenly, are carried out without drafting, too, right after.
        say: told what is being done.

    Returns:
        An outcome for each edit, and what drafting gained.
    """
    timed = {edit.name for edit in choose_edits(edits, None, n_timed)}
    outcomes: list[EditOutcome] = []
    pairs: list[tuple[EditResult, EditResult]] = []
    n_exact = 0
    for number, edit in enumerate(edits, 1):
        say(f"{number} of {len(edits)}, {n_exact} exact: {edit.name}")
        try:
            result = editor(edit)
        except InputError:
            outcomes.append(_refused(edit))
            continue
        outcomes.append(judge(edit, result))
        n_exact += outcomes[-1].exact
        if edit.name in timed:
            say(f"{number} of {len(edits)}: {edit.name} without drafting")
            pairs.append((result, editor(edit, plain=True)))
    return outcomes, _speedup(pairs)


def judge(edit: SuiteEdit, result: EditResult) -> EditOutcome:
    """Tell what became of an edit."""
    stands = result.status in (EditStatus.PROPOSED, EditStatus.NO_CHANGE)
    after = result.new_text
    can_parse = any(parses(answer, edit.language) for answer in edit.answers)
    return EditOutcome(
        name=edit.name,
        kind=edit.kind,
        phrasing=edit.phrasing,
        ranged=edit.lines is not None,
        n_lines=len(split_lines(edit.before)),
        status=result.status.value,
        exact=stands and after in edit.answers,
        ended=result.status is not EditStatus.TRUNCATED,
        parses=parses(after, edit.language) if stands and can_parse else None,
        damage=tuple(find_damage(edit.before, edit.answers, after)) if stands else (),
        seconds=result.stats.total_ms / 1000.0,
        n_tokens=result.stats.output_tokens,
        n_rounds=result.stats.rounds,
    )


def _refused(edit: SuiteEdit) -> EditOutcome:
    return EditOutcome(
        name=edit.name,
        kind=edit.kind,
        phrasing=edit.phrasing,
        ranged=edit.lines is not None,
        n_lines=len(split_lines(edit.before)),
        status=REFUSED,
        exact=False,
        ended=False,
        parses=None,
        damage=(),
    )


def _speedup(pairs: Sequence[tuple[EditResult, EditResult]]) -> Speedup | None:
    if not pairs:
        return None
    drafted, plain = ([pair[index].stats for pair in pairs] for index in range(2))
    return Speedup(
        n_edits=len(pairs),
        tokens_per_round=sum(stats.output_tokens for stats in drafted) / sum(stats.rounds for stats in drafted),
        decode_ms=sum(stats.decode_ms for stats in drafted),
        plain_decode_ms=sum(stats.decode_ms for stats in plain),
        total_ms=sum(stats.total_ms for stats in drafted),
        plain_total_ms=sum(stats.total_ms for stats in plain),
        n_same=sum(one.new_text == other.new_text for one, other in pairs),
    )


def _finish(steps: Generator[object, None, ResultT]) -> ResultT:
    """Run a generator to its end and return its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: ResultT = end.value
            return result
