"""An agent's loop: `python agent.py TASKS.json`, where each task is `{"path": ..., "instruction": ...}`.

It shows what unattended edits need: a key per task, so that a task that is started again is not done twice; a reviewer
that sees each hunk before it is written; and another try when somebody else changed the same lines meanwhile.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import anyio

from plgd.errors import SessionUnknown
from plgd.lasting_client import LastingClient, connect_lasting
from plgd.paths import Paths
from plgd.protocol.edits import EditDelta, EditParams, EditResult, EditStatus, Hunk
from plgd.protocol.methods import EDIT, EDIT_ACCEPT
from plgd.protocol.sessions import AcceptParams
from plgd.streamed import streamed

# Says whether a hunk of a proposal may be written. Yours is a model, a test run, or a person.
Review = Callable[[EditResult, Hunk], bool]

N_TRIES = 3


async def carry_out(client: LastingClient, path: Path, instruction: str, review: Review) -> str:
    """Let plgd propose an edit, review it, and write what was approved.

    Returns:
        `applied`, or why nothing was written.
    """
    outcome = "not tried"
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
            return ": ".join([proposal.status.value, *proposal.warnings])
        approved = tuple(hunk.id for hunk in proposal.hunks if review(proposal, hunk))
        if not approved:
            return "rejected by the reviewer"
        try:
            written = await client.call(EDIT_ACCEPT, AcceptParams(session=proposal.session, hunks=approved))
        except SessionUnknown as error:
            outcome = error.message  # the daemon was restarted between the two
            continue
        if written.status is not EditStatus.CONFLICT:
            return written.status.value
        outcome = ": ".join([written.status.value, *written.warnings])
    return outcome


async def main(tasks: Iterable[tuple[Path, str]], review: Review = lambda _proposal, _hunk: True) -> None:
    """Carry out tasks, one after the other."""
    async with connect_lasting(Paths.from_environment(), client="agent.py") as client:
        for path, instruction in tasks:
            outcome = await carry_out(client, path, instruction, review)
            sys.stdout.write(f"{path}: {outcome}\n")


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    anyio.run(main, [(Path(task["path"]).resolve(), task["instruction"]) for task in given])
