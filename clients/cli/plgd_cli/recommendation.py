"""The one remark that a better model than the built-in one exists."""

from __future__ import annotations

import contextlib
from typing import Final

from plgd.errors import PlgdError
from plgd.paths import Paths, private_folder
from plgd.protocol.base import NoParams
from plgd.protocol.methods import MODEL_LIST
from plgd_cli.ask import ask
from plgd_cli.output import say, stderr_is_terminal

__all__ = ("recommend_once",)

BUILTIN: Final = "builtin"


def recommend_once(answered_by: str) -> None:
    """Tell a person, once ever, which model the catalog recommends for this machine.

    Args:
        answered_by: the model that made the edit; only the built-in one is worth the remark.
    """
    mark = Paths.from_environment().runtime_dir / "recommended"
    if answered_by != BUILTIN or not stderr_is_terminal() or mark.exists():
        return
    # The edit is made and shown; that the daemon cannot say more than that must not make it a failed one.
    with contextlib.suppress(PlgdError):
        recommended = ask(MODEL_LIST, NoParams(), start=False).recommended
        if recommended and recommended != BUILTIN:
            say(f"The built-in model is small; for real work here take {recommended} (see `plgd model list`).")
        private_folder(mark.parent)
        mark.touch()
