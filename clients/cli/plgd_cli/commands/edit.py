"""`plgd edit`: rewrite a file, some lines of it, or standard input."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Final

from rich.console import Console

from plgd.errors import Cancelled, EmptyInstruction, FileMissing, FileUnreadable, NotText, PlgdError
from plgd.protocol.messages import EditMode, EditParams, LineRange
from plgd.protocol.methods import EDIT
from plgd_cli.answer import Form, present
from plgd_cli.ask import ask
from plgd_cli.output import printable, stderr_is_terminal, write
from plgd_cli.parser import Parser, positive, text
from plgd_cli.progress import EditDisplay
from plgd_cli.recommendation import recommend_once
from plgd_cli.sampling import add_sampling_options, sampling_params

__all__ = ("line_range", "register", "run")

STANDARD_INPUT: Final = "-"


def register(_name: str, parser: Parser) -> None:
    """Add the arguments of `plgd edit`."""
    parser.add_argument("path", metavar="PATH", help="the file; - reads standard input and prints the new text")
    parser.add_argument("-i", "--instruction", metavar="TEXT", type=text, help="what to change; asked for when missing")
    parser.add_argument("--lines", metavar="A:B", type=line_range, help="change only these lines, both included")
    parser.add_argument("--write", action="store_true", help="write the new text to the file")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--diff", action="store_true", help="print the diff, ready for `git apply` or `patch`")
    form.add_argument("--json", action="store_true", help="print the whole result as JSON")
    parser.add_argument("--model", metavar="NAME", type=text, help="use this model instead of the selected one")
    parser.add_argument("--max-tokens", metavar="N", type=positive, help="end the reply after so many tokens")
    parser.add_argument("--name", type=text, help="the file name that the model is told")
    add_sampling_options(parser)
    parser.set_defaults(run=run, usage_error=parser.error)


def run(arguments: argparse.Namespace) -> int:
    """Carry out `plgd edit`."""
    if arguments.path == STANDARD_INPUT:
        return _edit_standard_input(arguments)
    instruction = _instruction(arguments)
    params = _params(
        arguments,
        instruction,
        path=_absolute(arguments.path),
        mode=EditMode.APPLY if arguments.write else EditMode.PROPOSE,
    )
    # The daemon may have begun to write in the very moment of Ctrl-C.
    outcome = (
        "the edit is cancelled unless it was just being written"
        if arguments.write
        else f"{arguments.path} is unchanged"
    )
    return _edit(
        params, _form(arguments, otherwise=Form.REVIEW), name=arguments.path, interrupted=f"Interrupted; {outcome}."
    )


def _edit_standard_input(arguments: argparse.Namespace) -> int:
    if arguments.write:
        arguments.usage_error("--write needs a file; with - the new text goes to standard output")
    form = _form(arguments, otherwise=Form.TEXT)
    content = _read_standard_input()
    try:
        given = _decode(content)
        params = _params(arguments, _instruction(arguments), text=given)
        return _edit(params, form, name="standard input", interrupted="Interrupted; nothing was changed.")
    except PlgdError as error:
        if form is Form.TEXT and not isinstance(error, Cancelled):
            write(content)  # a filter that fails gives back what it got, so that no buffer is emptied
        raise


def _form(arguments: argparse.Namespace, *, otherwise: Form) -> Form:
    if arguments.json:
        return Form.JSON
    return Form.DIFF if arguments.diff else otherwise


def _edit(params: EditParams, form: Form, *, name: str, interrupted: str) -> int:
    try:
        with EditDisplay() as display:
            result = ask(EDIT, params, on_notification=display.show)
    except KeyboardInterrupt:
        raise Cancelled(interrupted) from None
    code = present(result, form, name=name)
    if form is not Form.JSON:
        recommend_once(result.model)
    return code


def _params(
    arguments: argparse.Namespace,
    instruction: str,
    *,
    path: str | None = None,
    text: str | None = None,
    mode: EditMode = EditMode.PROPOSE,
) -> EditParams:
    return EditParams(
        instruction=instruction,
        path=path,
        text=text,
        name=arguments.name,
        range=arguments.lines,
        mode=mode,
        max_tokens=arguments.max_tokens,
        model=arguments.model,
        sampling=sampling_params(arguments),
    )


def _instruction(arguments: argparse.Namespace) -> str:
    """Return the instruction of the command line, or ask for it where a person sits."""
    instruction: str | None = arguments.instruction
    if instruction is None and sys.stdin.isatty() and stderr_is_terminal():
        try:
            instruction = Console(stderr=True).input("What should change? ", markup=False)
        except EOFError:
            instruction = ""
    if not (instruction and instruction.strip()):
        raise EmptyInstruction
    return instruction


def _absolute(path: str) -> str:
    """Make a path absolute that is relative to this process's folder; the daemon's folder is another one.

    `..` is left in it: only the file system knows what is above a symbolic link.
    """
    if path != printable(path):
        raise FileUnreadable.at(printable(path), "its name is not UTF-8")
    try:
        absolute = Path(path) if Path(path).is_absolute() else Path.cwd() / path
        known = absolute.exists()
    except OSError as error:
        raise FileUnreadable.at(path, str(error.strerror)) from error
    if not known:
        raise FileMissing.at(path)
    return str(absolute)


def _read_standard_input() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        raise FileUnreadable.at("Standard input", str(error.strerror)) from error


def _decode(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise NotText.not_utf8("Standard input", error.start) from error


def line_range(word: str) -> LineRange:
    """Read `A:B`, or `A` for one line. Whether the text has these lines is for the daemon to say.

    Raises:
        argparse.ArgumentTypeError: the word is neither.
    """
    match = re.fullmatch(r"([0-9]{1,9})(?::([0-9]{1,9}))?", word)
    if match is None:
        raise argparse.ArgumentTypeError(f"{word!r} is not A:B, such as 10:42")
    return LineRange(first=int(match[1]), last=int(match[2] or match[1]))
