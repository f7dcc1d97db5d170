"""An agent's loop: `python agent.py TASKS.json`, where each task is `{"path": ..., "instruction": ...}`.

It shows what unattended edits need: a key per task, so that a task that is started again is not done twice; a reviewer
that sees each hunk before it is written; another try when somebody else changed the same lines meanwhile; and a task
that fails says so and leaves the others alone. The exit status is 1 unless every file is now as its task wants it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import anyio
import msgspec

from plgd.errors import PlgdError, SessionUnknown
from plgd.lasting_client import LastingClient, connect_lasting
from plgd.paths import Paths
from plgd.protocol.edits import EditDelta, EditParams, EditResult, EditStatus, Hunk
from plgd.protocol.methods import EDIT, EDIT_ACCEPT
from plgd.protocol.sessions import AcceptParams
from plgd.streamed import streamed

# Says whether a hunk of a proposal may be written. Yours is a model, a test run, or a person.
Review = Callable[[EditResult, Hunk], bool]

N_TRIES = 3

# The file is as the task wants it.
DONE = (EditStatus.APPLIED, EditStatus.NO_CHANGE)


class Task(msgspec.Struct):
    """What is to be done to a file; a relative path starts at the folder that the loop runs in."""

    path: str
    instruction: str


@dataclass(frozen=True)
class Outcome:
    """How a task ended: whether the file is as the task wants it, and what to say about it."""

    done: bool
    text: str


async def carry_out(client: LastingClient, path: Path, instruction: str, review: Review) -> Outcome:
    """Let plgd propose an edit, review it, and write what was approved.

    Raises:
        PlgdError: the daemon refused or failed.
    """
    outcome = Outcome(False, "not tried")
    for attempt in range(N_TRIES):
        # The same task, tried for the same time: the same key. A repeat gets the first one's result.
        key = f"{path}: {instruction}: {attempt}"
        params = EditParams(path=str(path), instruction=instruction, idempotency_key=key)
        async with streamed(client, EDIT, params) as edit:
            async for note in edit:
                if isinstance(note, EditDelta):
                    sys.stderr.write(note.text)  # the new text as it comes
            proposal = await edit.result()
        if proposal.status is not EditStatus.PROPOSED:
            return Outcome(proposal.status in DONE, ": ".join([proposal.status.value, *proposal.warnings]))
        approved = tuple(hunk.id for hunk in proposal.hunks if review(proposal, hunk))
        if not approved:
            return Outcome(False, "rejected by the reviewer")
        try:
            written = await client.call(EDIT_ACCEPT, AcceptParams(session=proposal.session, hunks=approved))
        except SessionUnknown as error:
            outcome = Outcome(False, error.message)  # the daemon was restarted between the two
            continue
        if written.status is not EditStatus.CONFLICT:
            return Outcome(written.status in DONE, written.status.value)
        outcome = Outcome(False, ": ".join([written.status.value, *written.warnings]))
    return outcome


async def main(tasks: Iterable[tuple[Path, str]], review: Review = lambda _proposal, _hunk: True) -> bool:
    """Carry out tasks, one after the other; returns whether all are done."""
    all_done = True
    async with connect_lasting(Paths.from_environment(), client="agent.py") as client:
        for path, instruction in tasks:
            try:
                outcome = await carry_out(client, path, instruction, review)
            except PlgdError as error:
                outcome = Outcome(False, error.message.removeprefix(f"{path}: "))
            sys.stdout.write(f"{path}: {outcome.text}\n")
            all_done = all_done and outcome.done
    return all_done


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python agent.py TASKS.json")
    try:
        given = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=list[Task])
    except (OSError, msgspec.DecodeError) as problem:
        sys.exit(f"{sys.argv[1]}: {problem}")
    sys.exit(0 if anyio.run(main, [(Path(task.path).resolve(), task.instruction) for task in given]) else 1)
