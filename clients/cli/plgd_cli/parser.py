"""The argument parser of every command, and the argument types that several commands share."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from typing import Final, NoReturn

from plgd_cli.output import say

__all__ = ("Once", "Parser", "positive", "text")

_WRONG_USAGE: Final = 2


class Parser(argparse.ArgumentParser):
    """argparse with three habits of plgd.

    A mistake is answered with a sentence and a hint, without a page of usage before it. A misspelt command or option
    names the nearest one. Options are never abbreviated: an abbreviation that works today becomes ambiguous, or another
    option, with the next release.
    """

    def __init__(self, **settings: object) -> None:
        settings = {"allow_abbrev": False, "formatter_class": argparse.RawDescriptionHelpFormatter, **settings}
        super().__init__(**settings)  # type: ignore[arg-type]  # argparse checks its own keywords

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command line, and where the help is; then exit.

        Raises:
            SystemExit: always, with 2.
        """
        say(f"{self.prog}: {message}")
        say(f"See: {self.prog} --help")
        self.exit(_WRONG_USAGE)

    def unrecognized(self, extra: Sequence[str]) -> str:
        """Say that the command has no such arguments, and what a misspelt option among them was to be.

        Args:
            extra: what was left of the command line.
        """
        options = [word.partition("=")[0] for word in extra if word.startswith("--")]
        known = [option for action in self._actions for option in action.option_strings]
        near = [found for option in options for found in difflib.get_close_matches(option, known, n=1, cutoff=0.7)]
        hint = f"; did you mean {' '.join(near)}?" if near else ""
        return f"unrecognized arguments: {' '.join(extra)}{hint}"

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        near = difflib.get_close_matches(str(value), known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
        kind = "command" if isinstance(action, argparse._SubParsersAction) else "choice"  # noqa: SLF001  # no public name
        raise argparse.ArgumentError(None, f"there is no {kind} {str(value)!r}; {hint}")


class Once(argparse.Action):
    """Stores an argument that may be given once: argparse would drop all but the last without a word."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Take the argument."""
        if getattr(namespace, self.dest) is not None:
            parser.error(f"{option_string} is given twice")
        setattr(namespace, self.dest, values)


def text(word: str) -> str:
    """Take an argument that travels to the daemon as text.

    Python maps bytes of the command line that are not UTF-8 to lone surrogates; JSON has no place for those.

    Raises:
        argparse.ArgumentTypeError: the argument is not UTF-8.
    """
    if not word.isascii() and any("\ud800" <= char <= "\udfff" for char in word):
        raise argparse.ArgumentTypeError("not valid UTF-8")
    return word


def positive(word: str) -> int:
    """Take a whole number of at least 1.

    Raises:
        argparse.ArgumentTypeError: the argument is none.
    """
    if not (word.isascii() and word.isdigit() and len(word) <= 9 and int(word) > 0):  # fits 32 bits
        raise argparse.ArgumentTypeError(f"{word!r} is not a whole number from 1 to 999999999")
    return int(word)
