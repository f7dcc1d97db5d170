"""The command line itself: help, version, and words that make no sense."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cli.command import plgd
from plgd.paths import Paths
from plgd.version import __version__
from plgd_cli.main import COMMANDS, main


def test_version_is_one_line() -> None:
    """`plgd --version` prints the version and nothing else."""
    done = plgd("--version")
    assert (0, f"plgd {__version__}\n".encode(), b"") == (done.returncode, done.stdout, done.stderr)


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    """`plgd` alone prints the help, which names every command."""
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert [] == [name for name in COMMANDS if f"\n    {name} " not in shown]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`plgd COMMAND --help` explains each command."""
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    assert end.value.code == 0
    assert f"usage: plgd {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        (["edti", "a.py"], "'edit'"),
        (["statsu"], "'status'"),
        (["model", "lst"], "'list'"),
    ],
)
def test_misspelt_command_names_the_nearest(words: list[str], nearest: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt command is refused with exit code 2 and the name of the nearest one."""
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert f"did you mean {nearest}?" in capsys.readouterr().err


@pytest.mark.parametrize("option", [("-i", "x"), ("--lines", "2:3")], ids=lambda pair: pair[0])
def test_what_is_given_twice_is_not_dropped(option: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """A second instruction or range is refused, instead of taking the place of the first without a word."""
    with pytest.raises(SystemExit) as end:
        main(["edit", "a.py", *option, *option])
    assert end.value.code == 2
    assert "is given twice" in capsys.readouterr().err


def test_far_off_command_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    """A word that resembles no command is answered with the list of commands."""
    with pytest.raises(SystemExit):
        main(["xyzzy"])
    assert f"there are {', '.join(COMMANDS)}." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["edit", "-i", "x"], "required: PATH\n"),
        (["edit", "a.py", "-i", "x", "b.py"], "plgd edit: files stand together, before the options"),
        (["edit", "a.py", "b.py", "-i", "x", "--lines", "3"], "--lines is about one file"),
        (["edit", "a.py", "b.py", "-i", "x", "--sketch", "s"], "--sketch is about one file"),
        (["edit", "a.py", "-", "-i", "x"], "- is edited alone"),
        (["edit", "a.py", "b.py", "-i", "x", "--all-or-nothing"], "add --write"),
        (["edit", "a.py", "add types"], "the instruction follows -i, such as: plgd edit a.py -i 'add types'"),
        (["edit", "a.py", "add", "all", "types"], "such as: plgd edit a.py -i 'add all types'\n"),
        (["edit", "a.py", "--write", "add", "types"], "such as: plgd edit a.py -i 'add types'\n"),
        (["model", "use", "builtin", "other"], "plgd model use: unrecognized arguments: other"),
        (["status", "--all"], "plgd status: unrecognized arguments: --all\nSee: plgd status --help\n"),
        (["--all"], "plgd: unrecognized arguments: --all"),
        (["edit", "a.py", "-i"], "expected one argument"),
        (["edit", "a.py", "-i", "x", "--diff", "--json"], "not allowed with"),
        (["edit", "a.py", "-i", "x", "--lines", "five"], "'five' is not A:B"),
        (["edit", "a.py", "-i", "x", "--lines", "1:2:3"], "is not A:B"),
        (["edit", "a.py", "-i", "x", "--lines", "٣"], "is not A:B"),
        (["edit", "a.py", "-i", "x", "--max-tokens", "0"], "not a whole number"),
        (["edit", "a.py", "-i", "x", "--max-tokens", "many"], "not a whole number"),
        (["edit", "a.py", "-i", "x", "--max", "7"], "unrecognized arguments"),
        (["edit", "a.py", "-i", "x", "--wirte"], "unrecognized arguments: --wirte; did you mean --write?\n"),
        (["edit", "a.py", "-i", "x", "--modle=a"], "unrecognized arguments: --modle=a; did you mean --model?\n"),
        (["status", "--jsno"], "plgd status: unrecognized arguments: --jsno; did you mean --json?\n"),
        (["edit", "a.py", "-i", "x", "--temperature", "5"], "5 is out of bounds: it must be <= 2.0\n"),
        (["edit", "a.py", "-i", "x", "--top-k", "-1"], "-1 is out of bounds: it must be >= 0\n"),
        (["edit", "-", "-i", "x", "--write"], "--write needs a file"),
        (["mcp", "--root", "/", "/no/such"], "argument --root: /no/such: No such file or directory"),
        (["mcp", "--root", __file__], f"argument --root: {__file__} is not a folder"),
        (["model"], "required: COMMAND"),
        (["model", "pull"], "required: NAME"),
        (["logs", "-n", "-3"], "-n/--lines"),
        (["bench", "--rpc", "--count", "0"], "not a whole number"),
        (["bench", "--rpc", "--plot", "x.png"], "--plot says nothing to --rpc"),
        (["bench", "--count", "3"], "--count belongs to --rpc and --lsp"),
    ],
)
def test_wrong_usage_is_explained(words: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A command line that makes no sense ends with exit code 2, a line on which word is wrong, and one on help."""
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert reason in said
    assert [" --help"] == [line[-7:] for line in said.splitlines()[1:]]


@pytest.mark.parametrize("instruction", [[], ["-i", ""], ["-i", " \n"]], ids=["missing", "empty", "blank"])
def test_empty_instruction_is_wrong_usage(instruction: list[str], paths: Paths) -> None:
    """An instruction that is missing or blank ends with exit code 2 and starts no daemon."""
    done = plgd("edit", __file__, *instruction)
    assert (2, b"plgd: The instruction is empty. Say what to change with -i TEXT.\n") == (done.returncode, done.stderr)
    assert not paths.runtime_dir.exists()


def test_missing_file_starts_no_daemon(paths: Paths) -> None:
    """A misspelt path is answered at once, as it was typed."""
    done = plgd("edit", "no/such.py", "-i", "x")
    assert (1, b"plgd: no/such.py: no such file. Check the spelling, or create the file first.\n") == (
        done.returncode,
        done.stderr,
    )
    assert not paths.runtime_dir.exists()


def test_arguments_that_are_not_utf8_are_refused(paths: Paths) -> None:
    """An instruction or a path that is not UTF-8 is refused in readable words."""
    assert not paths.runtime_dir.exists()
    instruction = plgd("edit", "a.py", "-i", b"say \xff")
    assert instruction.returncode == 2
    assert b"argument -i/--instruction: not valid UTF-8" in instruction.stderr
    path = plgd("edit", b"caf\xe9.py", "-i", "x")
    assert (1, b"plgd: caf\\xe9.py cannot be read: its name is not UTF-8.\n") == (path.returncode, path.stderr)


def test_removed_folder_is_said(paths: Paths, tmp_path: Path) -> None:
    """In a folder that was removed, a relative path is refused in words."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = (
        f"import os, sys; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
        "from plgd_cli.main import main; sys.exit(main(['edit', 'a.py', '-i', 'x']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=30)
    assert (1, b"plgd: a.py cannot be read: No such file or directory.\n") == (done.returncode, done.stderr)
    assert not paths.runtime_dir.exists()


def test_path_below_a_file_is_refused(paths: Paths) -> None:
    """A path that leads through a file is a missing file, not a crash."""
    assert not paths.runtime_dir.exists()
    done = plgd("edit", f"{__file__}/x.py", "-i", "x")
    assert done.returncode == 1
    assert b"x.py: no such file" in done.stderr
