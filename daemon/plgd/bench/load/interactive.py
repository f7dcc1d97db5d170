"""Interactive edits that arrive while batch edits keep the model busy: how many rounds of others come before them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import anyio
import msgspec

from plgd.bench.load.asking import Asked, Asking, Reply, ask, is_reply
from plgd.bench.load.lanes import BATCH, INTERACTIVE
from plgd.bench.load.own_daemon import BENCH_CLIENT
from plgd.bench.load.results import Interactive, InteractiveWait
from plgd.bench.load.summary import count_failures, percentiles, sameness
from plgd.bench.load.texts import LoadEdit
from plgd.bench.load.together import run_together
from plgd.client import Client, connect
from plgd.paths import Paths
from plgd.protocol.base import NoParams
from plgd.protocol.edits import EditDelta
from plgd.protocol.methods import STATUS

__all__ = ("measure_interactive", "replies_of")

# Rounds of the batch edits between one interactive edit and the next: at any place of theirs.
_PAUSE_ROUNDS: Final = range(4, 24)


@dataclass(slots=True)
class _Rounds:
    """Rounds of batch edits as they are heard of, in the order in which the daemon ran them.

    All edits are asked for on one connection, and the daemon sends what happens in the order in which it happens. A
    round is heard of by the text that it adds; one that adds none is missed.

    Attributes:
        by_edit: a batch edit's place in its lane -> rounds so far.
        n_lanes: batch edits under way.
        changed: set, and replaced, when any of this changes.
    """

    by_edit: Counter[tuple[int, int]] = field(default_factory=Counter)
    n_lanes: int = 0
    changed: anyio.Event = field(default_factory=anyio.Event)

    def hear(self, edit: tuple[int, int], note: msgspec.Struct) -> None:
        """Take a notification of a batch edit."""
        if isinstance(note, EditDelta):
            self.by_edit[edit] += 1
            self.tell()

    def tell(self) -> None:
        """Wake whoever waits."""
        self.changed.set()
        self.changed = anyio.Event()

    async def wait(self, n_rounds: int) -> None:
        """Wait for so many more rounds, or until no batch edit is left."""
        awaited = self.by_edit.total() + n_rounds
        while self.n_lanes and self.by_edit.total() < awaited:
            await self.changed.wait()


async def measure_interactive(
    paths: Paths,
    edits: Sequence[LoadEdit],
    asking: Asking,
    *,
    n_batch: int,
    n_interactive: int,
    alone: Mapping[int, Asked],
    on_progress: Callable[[str], None] = lambda _: None,
) -> Interactive:
    """Keep batch edits going and ask for interactive ones, one after the other.

    Args:
        paths: of the daemon that runs.
        edits: of both classes, each again and again.
        asking: how edits are asked for.
        n_batch: batch edits that are asked for at any time.
        n_interactive: interactive edits to ask for.
        alone: number of an edit -> how it went alone.
        on_progress: told how far it is.

    Raises:
        DaemonError: the daemon cannot be reached, or went away.
    """
    rounds = _Rounds(n_lanes=n_batch)
    asked: list[Asked] = []
    waits: list[InteractiveWait] = []
    chance = random.Random(5)  # noqa: S311  # the same in every run
    over = anyio.Event()

    async with connect(paths, client=BENCH_CLIENT, start=False) as client:

        async def keep_asking(lane: int) -> None:
            place, failed = lane, False
            while not over.is_set() and not failed:
                done = await ask(
                    client,
                    edits[place % len(edits)],
                    asking,
                    priority=BATCH,
                    number=lane,
                    on_note=partial(rounds.hear, (lane, place)),
                )
                place, failed = place + n_batch, bool(done.error)
                asked.append(done)
            rounds.n_lanes -= 1
            rounds.tell()

        async def interrupt() -> None:
            for number in range(n_interactive):
                await rounds.wait(chance.choice(_PAUSE_ROUNDS))
                on_progress(f"interactive edits: {number} of {n_interactive}")
                done, wait = await _ask_beside(client, edits[number % len(edits)], asking, rounds, alone)
                asked.append(done)
                waits.extend([wait] if wait is not None else [])
            over.set()

        await run_together([interrupt, *(partial(keep_asking, lane) for lane in range(n_batch))])
    return Interactive(
        n_batch=n_batch,
        waits=tuple(waits),
        most_turns=max((wait.turns for wait in waits), default=0),
        first_token_ms=percentiles(wait.first_token_ms for wait in waits),
        same=sameness(asked, replies_of(alone)),
        failures=count_failures(asked),
    )


def replies_of(alone: Mapping[int, Asked]) -> Mapping[int, Reply]:
    """Return the replies of edits that were answered."""
    return {number: each.reply for number, each in alone.items() if each.reply is not None}


async def _ask_beside(
    client: Client, edit: LoadEdit, asking: Asking, rounds: _Rounds, alone: Mapping[int, Asked]
) -> tuple[Asked, InteractiveWait | None]:
    """Ask for an interactive edit and count what comes before its first token; None when that never comes."""
    n_before, before, between = await _count_turns(client), rounds.by_edit.copy(), list[Counter[tuple[int, int]]]()
    begun, n_then, asked = anyio.Event(), 0, list[Asked]()

    def hear(note: msgspec.Struct) -> None:
        if not between and is_reply(note):
            between.append(rounds.by_edit - before)
            begun.set()

    async def go_on() -> None:
        asked.append(await ask(client, edit, asking, priority=INTERACTIVE, on_note=hear))
        begun.set()

    async def count_then() -> None:
        nonlocal n_then
        await begun.wait()
        n_then = await _count_turns(client)

    await run_together([go_on, count_then])
    (done,), solo = asked, alone[edit.number]
    if done.first_s is None or solo.first_s is None or done.result is None:
        return done, None
    stats = done.result.stats
    # Of its own there are the slices of its prompt, and the round that brought the token.
    n_own = -(-(stats.prompt_tokens - stats.cached_tokens) // asking.prefill_slice) + 1
    return done, InteractiveWait(
        turns=max(0, n_then - n_before - n_own),
        rounds_of_one=max(between[0].values(), default=0),
        rounds_of_all=between[0].total(),
        first_token_ms=1000.0 * (done.first_s - done.asked_s),
        alone_ms=1000.0 * (solo.first_s - solo.asked_s),
    )


async def _count_turns(client: Client) -> int:
    """Return how many turns the model has had: each is a slice of a prompt, or a round of one edit or of several."""
    sharing = (await client.call(STATUS, NoParams())).sharing
    return sharing.turns + sharing.joint_turns
