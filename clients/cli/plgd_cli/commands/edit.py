"""`plgd edit`: rewrite a file, some lines of it, several files, or standard input."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rich.console import Console

from plgd.errors import (
    Cancelled,
    ConnectionLost,
    EmptyInstruction,
    FileUnreadable,
    InputError,
    NotText,
    PlgdError,
    WriteFailed,
)
from plgd.protocol.drafting import DraftSource
from plgd.protocol.edits import EditMode, EditParams, EditResult, EditStatus, LineRange
from plgd.protocol.methods import EDIT
from plgd_cli.answer import Form, present
from plgd_cli.ask import ask
from plgd_cli.consent import write_if_wanted
from plgd_cli.draft_page import check_place, draft_page, save_page
from plgd_cli.drafting import add_drafting_options, drafting_params
from plgd_cli.loss import FileBefore, daemon_lost
from plgd_cli.output import say, stderr_is_terminal, write
from plgd_cli.parser import Once, Parser, positive, text
from plgd_cli.places import absolute_file, absolute_model
from plgd_cli.progress import EditDisplay
from plgd_cli.recommendation import recommend_once
from plgd_cli.sampling import add_sampling_options, sampling_params
from plgd_cli.several import check_distinct, check_usage, edit_several

__all__ = ("line_range", "register", "run")

STANDARD_INPUT: Final = "-"
# What the daemon takes at most; a pipe without an end must not fill the memory.
STANDARD_INPUT_LIMIT: Final = 64 * 1024 * 1024
COPY_BYTES: Final = 1024 * 1024


def register(_name: str, parser: Parser) -> None:
    """Add the arguments of `plgd edit`."""
    parser.add_argument("path", metavar="PATH", help="the file; - reads standard input and prints the new text")
    # With a default, argparse does not count it among what is required.
    parser.add_argument(
        "more", metavar="PATH", nargs="*", default=(), help="more files, edited by the same instruction"
    )
    parser.add_argument(
        "-i",
        "--instruction",
        metavar="TEXT",
        type=text,
        action=Once,
        help="what to change, several things in one text; asked for when missing",
    )
    parser.add_argument(
        "--lines", metavar="A:B", type=line_range, action=Once, help="only these lines, both included; or one: 5"
    )
    parser.add_argument(
        "--sketch",
        metavar="FILE",
        help='a sketch of the new text; "... existing code ..." in a comment stands for what stays',
    )
    parser.add_argument("--write", action="store_true", help="write the new text to the file")
    parser.add_argument("--ask", action="store_true", help="show the diff, and ask whether to write it")
    parser.add_argument("--all-or-nothing", action="store_true", help="of several files, write all or none")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--diff", action="store_true", help="print the diff, ready for `git apply` or `patch`")
    form.add_argument("--json", action="store_true", help="print the whole result as JSON")
    parser.add_argument("--model", metavar="NAME", type=text, help="use this model instead of the selected one")
    parser.add_argument("--max-tokens", metavar="N", type=positive, help="end the reply after so many tokens")
    parser.add_argument("--name", type=text, help="the file name that the model is told")
    parser.add_argument(
        "--source",
        metavar="FILE",
        action="append",
        help="also draft from this file; the model does not see it; repeatable",
    )
    shown = parser.add_argument_group("who drafted the reply")
    shown.add_argument("--show-drafts", action="store_true", help="show it, and where rounds ended")
    shown.add_argument("--html", metavar="FILE", type=Path, help="write it as a page for a browser")
    add_sampling_options(parser)
    add_drafting_options(parser)
    parser.set_defaults(run=run, usage_error=parser.error, explain_extra=_explain_extra)


def run(arguments: argparse.Namespace) -> int:
    """Carry out `plgd edit`."""
    if arguments.all_or_nothing and not arguments.write:
        arguments.usage_error("--all-or-nothing is about what is written; add --write")
    if arguments.ask:
        _check_question(arguments)
    if arguments.more:
        return _edit_several(arguments)
    if arguments.path == STANDARD_INPUT:
        return _edit_standard_input(arguments)
    instruction = _instruction(arguments)
    path = absolute_file(arguments.path)
    mode = EditMode.APPLY if arguments.write else EditMode.PROPOSE
    params = _params(arguments, instruction, path=path, mode=mode)
    form, name = _form(arguments, otherwise=Form.REVIEW), arguments.path
    if arguments.write:
        # The daemon may have begun to write in the very moment of Ctrl-C.
        interrupted = "the edit is cancelled unless it was just being written"
        before = FileBefore(path)
        return _edit(
            arguments, params, form, name=name, interrupted=interrupted, standing=lambda: before.compared(name)
        )
    unchanged = f"{name} is unchanged"
    return _edit(arguments, params, form, name=name, interrupted=unchanged, standing=lambda: f"{unchanged}.")


def _check_question(arguments: argparse.Namespace) -> None:
    """Refuse --ask where there is nothing to ask, or nobody."""
    if arguments.write or arguments.json:
        arguments.usage_error(f"--ask and {'--write' if arguments.write else '--json'} exclude each other")
    if arguments.more or arguments.path == STANDARD_INPUT:
        arguments.usage_error("--ask is about one file")
    if not (sys.stdin.isatty() and stderr_is_terminal()):
        arguments.usage_error("--ask needs a person at a terminal; use --write, or look at the --diff first")


def _edit_several(arguments: argparse.Namespace) -> int:
    if arguments.instruction is None and not Path(arguments.more[0]).exists():
        arguments.usage_error(_explain_extra(arguments, arguments.more))
    check_usage(arguments)
    names = (arguments.path, *arguments.more)
    paths = [absolute_file(name) for name in names]
    check_distinct(arguments)
    instruction = _instruction(arguments)
    mode = EditMode.APPLY if arguments.write else EditMode.PROPOSE
    return edit_several(
        names,
        [_params(arguments, instruction, path=path, mode=mode) for path in paths],
        _form(arguments, otherwise=Form.REVIEW),
        all_or_nothing=arguments.all_or_nothing,
        with_drafts=arguments.show_drafts,
    )


def _edit_standard_input(arguments: argparse.Namespace) -> int:
    if arguments.write:
        arguments.usage_error("--write needs a file; with - the new text goes to standard output")
    form = _form(arguments, otherwise=Form.TEXT)
    content = _read_standard_input()
    if not content:  # what came before in the pipe has failed; a model would write anything into nothing
        raise InputError.without_text("Standard input")
    try:
        given = _decode(content)
        params = _params(arguments, _instruction(arguments), text=given)
        return _edit(
            arguments,
            params,
            form,
            name="standard input",
            interrupted="nothing was changed",
            standing=lambda: "Nothing was changed.",
        )
    except PlgdError as error:
        if form is Form.TEXT and not isinstance(error, Cancelled):
            _give_back(content)
        raise


def _form(arguments: argparse.Namespace, *, otherwise: Form) -> Form:
    if arguments.json:
        return Form.JSON
    return Form.DIFF if arguments.diff or arguments.ask else otherwise


def _edit(
    arguments: argparse.Namespace,
    params: EditParams,
    form: Form,
    *,
    name: str,
    interrupted: str,
    standing: Callable[[], str],
) -> int:
    """Ask for the edit and show it.

    Args:
        arguments: the command line.
        params: what to ask.
        form: what standard output gets.
        name: what the user called the text.
        interrupted: how the text stands after Ctrl-C.
        standing: says how it stands after the daemon died, in a sentence.
    """
    if arguments.html is not None:
        read = (params.path, *(source.path for source in params.sources))
        check_place(arguments.html, *(Path(path) for path in read if path is not None))
    try:
        with EditDisplay() as display:
            result = ask(EDIT, params, on_notification=display.show)
    except KeyboardInterrupt:
        raise Cancelled(f"Interrupted; {interrupted}.") from None
    except ConnectionLost as error:
        raise daemon_lost(error, standing()) from error
    code = present(result, form, name=name, loaded=display.loaded, with_drafts=arguments.show_drafts)
    if arguments.html is not None:
        code = _save_page(arguments.html, result, name) or code
    if arguments.ask and result.status is EditStatus.PROPOSED:
        code = write_if_wanted(result, name) or code
    if form is not Form.JSON:
        recommend_once(result.model)
    return code


def _save_page(path: Path, result: EditResult, name: str) -> int:
    """Write who drafted the reply; return the exit code of a failure, else 0.

    The edit is made and shown by now: that there is no page must not look as if there were no edit.
    """
    try:
        if result.drafts is None:
            raise WriteFailed.page(str(path), "there was no reply")
        save_page(path, draft_page(result, result.drafts, name=name))
    except WriteFailed as failure:
        say(f"plgd: {failure.message}")
        return failure.exit_code
    if stderr_is_terminal():
        say(f"{path} shows who drafted the reply")
    return 0


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
        model=None if arguments.model is None else absolute_model(arguments.model),
        sampling=sampling_params(arguments),
        drafting=drafting_params(arguments),
        sources=tuple(DraftSource(path=absolute_file(path)) for path in arguments.source or ()),
        show_drafts=arguments.show_drafts or arguments.html is not None,
        code_edit=None if arguments.sketch is None else _read_sketch(arguments.sketch),
    )


def _instruction(arguments: argparse.Namespace) -> str:
    """Return the instruction of the command line, or ask for it where a person sits."""
    instruction: str | None = arguments.instruction
    if instruction is None and arguments.sketch is not None:
        return ""
    if instruction is None and sys.stdin.isatty() and stderr_is_terminal():
        try:
            instruction = Console(stderr=True).input("What should change? ", markup=False)
        except EOFError:
            instruction = ""
    if not (instruction and instruction.strip()):
        raise EmptyInstruction("The instruction is empty. Say what to change with -i TEXT.")
    return instruction


def _read_sketch(path: str) -> str:
    try:
        return Path(absolute_file(path)).read_bytes().decode()
    except OSError as error:
        raise FileUnreadable.at(path, str(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise NotText.not_utf8(path, error.start) from error


def _read_standard_input() -> bytes:
    """Read all that the daemon takes and one byte more, to know that there is more."""
    try:
        return sys.stdin.buffer.read(STANDARD_INPUT_LIMIT + 1)
    except OSError as error:
        raise FileUnreadable.at("Standard input", str(error.strerror)) from error


def _give_back(content: bytes) -> None:
    """Write what was read and what was left unread: a filter that fails must not empty or cut the user's buffer."""
    write(content)
    while len(content) > STANDARD_INPUT_LIMIT and (more := sys.stdin.buffer.read(COPY_BYTES)):
        write(more)


def _decode(content: bytes) -> str:
    if len(content) > STANDARD_INPUT_LIMIT:
        raise FileUnreadable.at("Standard input", f"it is larger than {STANDARD_INPUT_LIMIT // 2**20} MB")
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


def _explain_extra(arguments: argparse.Namespace, extra: list[str]) -> str:
    """Say where a word belongs that `plgd edit` has no place for."""
    if any(word.startswith("-") for word in extra):
        parser: Parser = arguments.parser
        return parser.unrecognized(extra)
    if arguments.instruction is None:
        return f"the instruction follows -i, such as: plgd edit {arguments.path} -i {shlex.quote(' '.join(extra))}"
    return f"files stand together, before the options: plgd edit {arguments.path} {extra[0]} -i ..."
