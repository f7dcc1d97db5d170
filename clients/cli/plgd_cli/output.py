"""The two ends that a person or a pipe reads: standard output, byte-exact, and standard error, one line at a time."""

from __future__ import annotations

import contextlib
import json
import os
import sys

from plgd.errors import PlgdError
from plgd_cli.controls import visible

__all__ = (
    "OutputClosed",
    "OutputFailed",
    "colours",
    "printable",
    "report",
    "say",
    "stderr_is_terminal",
    "stdout_is_terminal",
    "tell",
    "write",
)


class OutputClosed(Exception):
    """Nobody reads standard output any more, as after `plgd logs | head -1`."""


class OutputFailed(Exception):
    """Standard output cannot be written, such as to a full disk; says why."""


def write(content: str | bytes) -> None:
    """Write to standard output exactly these bytes, text as UTF-8, whatever the locale and its newline rules are.

    Raises:
        OutputClosed: the reader is gone; nothing more can be written.
        OutputFailed: it cannot be written for another reason; neither can an error in JSON.
    """
    stream = sys.stdout.buffer
    try:
        stream.write(content.encode() if isinstance(content, str) else content)
        stream.flush()
    except OSError as error:
        # Python flushes again on exit; into the null device, so that it does not fail a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(error, BrokenPipeError):
            raise OutputClosed from None
        raise OutputFailed(error.strerror) from error


def say(line: str) -> None:
    """Tell the person one line, on standard error, its control characters made visible."""
    # Where standard error is gone or its disk is full, nobody can be told, and the work is done nevertheless.
    with contextlib.suppress(OSError):
        print(visible(printable(line)), file=sys.stderr, flush=True)  # noqa: T201  # this is the one place that talks


def tell(text: str) -> None:
    """Tell the person several lines as they are, colours included, on standard error."""
    with contextlib.suppress(OSError):  # as in `say`
        sys.stderr.buffer.write(text.encode())
        sys.stderr.buffer.flush()


def report(error: PlgdError, *, as_json: bool) -> int:
    """Say what went wrong, on standard error or, for a program, as JSON on standard output.

    Returns:
        The exit code that stands for the error.
    """
    if as_json:
        body = {"error": {"code": error.code, "message": printable(error.message)}}
        write(json.dumps(body, ensure_ascii=False) + "\n")
    else:
        say(f"plgd: {error.message}")
    return error.exit_code


def printable(line: str) -> str:
    """Show bytes that are not UTF-8, which Python keeps as lone surrogates, as backslash escapes."""
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def stdout_is_terminal() -> bool:
    """Say whether a person looks at standard output."""
    return sys.stdout.isatty()


def stderr_is_terminal() -> bool:
    """Say whether a person looks at standard error."""
    return sys.stderr.isatty()


def colours(*, on_stderr: bool = False) -> bool:
    """Say whether an output may be coloured: a terminal that can, and no wish against it (no-color.org)."""
    is_terminal = stderr_is_terminal() if on_stderr else stdout_is_terminal()
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
