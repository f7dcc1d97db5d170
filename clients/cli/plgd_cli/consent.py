"""`plgd edit --ask`: what was shown is written once the person at the terminal says so."""

from __future__ import annotations

from rich.console import Console

from plgd.errors import Cancelled
from plgd.protocol.edits import EditResult, EditStatus
from plgd.protocol.methods import EDIT_ACCEPT
from plgd.protocol.sessions import AcceptParams, HunkState
from plgd_cli.answer import EXIT_CODES, explain, say_written
from plgd_cli.ask import ask
from plgd_cli.output import say

__all__ = ("write_if_wanted",)


def write_if_wanted(result: EditResult, name: str) -> int:
    """Ask whether to write a proposal; the daemon writes what was shown, and nothing over lines that changed since.

    Args:
        result: a proposal that the person has seen.
        name: what the user called the file.

    Returns:
        The exit code.

    Raises:
        Cancelled: Ctrl-C instead of an answer.
        PlgdError: the daemon does not know the proposal any more, or cannot write.
    """
    try:
        answer = Console(stderr=True, highlight=False).input(f"Write this to {name}? [y/N] ", markup=False)
    except EOFError:
        answer = ""
    except KeyboardInterrupt:
        raise Cancelled(f"Interrupted; {name} is unchanged.") from None
    if answer.strip().lower() not in ("y", "yes"):
        say(f"{name} is unchanged")
        return EXIT_CODES[EditStatus.PROPOSED]
    accepted = ask(EDIT_ACCEPT, AcceptParams(session=result.session), start=False)
    explain(accepted.status, accepted.warnings, accepted.conflict)
    if accepted.status is EditStatus.APPLIED:
        say_written(name, sum(hunk.state is HunkState.ACCEPTED for hunk in accepted.hunks))
    return EXIT_CODES[accepted.status]
