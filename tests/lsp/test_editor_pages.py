"""The snippets of docs/editors/ are what the editors and plgd understand."""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from lsp.editor import capabilities, opened_editor
from lsp.talking import Talker, talking_daemon
from plgd.config import load_config
from plgd.paths import Paths
from plgd_cli.main import build_parser
from plgd_lsp.options import Options, read_options

PAGES: Final = Path(__file__).parents[2] / "docs/editors"


def snippets(page: str, language: str) -> list[str]:
    """Return the code of a page in one language."""
    found = re.findall(rf"```{language}\n(.*?)```", (PAGES / page).read_text(encoding="utf-8"), re.DOTALL)
    return [str(code) for code in found]


def parse(words: list[str]) -> Any:  # noqa: ANN401  # argparse's own
    """Parse a command line of plgd; a mistake ends the test."""
    assert "plgd" == words[0]
    return build_parser(words[1:]).parse_args(words[1:])


def test_helix_starts_the_server() -> None:
    """Helix's snippets are one TOML file, start `plgd lsp`, and name it where it is used."""
    read = tomllib.loads("\n".join(snippets("helix.md", "toml")))
    server = read["language-server"]["plgd"]
    assert parse([server["command"], *server["args"]]).run
    assert all("plgd" in language["language-servers"] for language in read["language"])
    options, complaints = read_options(server["config"])
    assert ((), "british") == (complaints, options.presets[0].id)


def test_helix_pipes_through_the_command() -> None:
    """The piped command line is understood."""
    (pipe,) = [
        line for line in (PAGES / "helix.md").read_text(encoding="utf-8").splitlines() if line.startswith(":pipe")
    ]
    assert "Use f-strings." == parse(shlex.split(pipe)[1:]).instruction


@pytest.mark.anyio
async def test_sublime_starts_the_server_and_its_commands_run(paths: Paths) -> None:
    """Sublime's snippets are JSON, start `plgd lsp`, and the commands, filled in as Sublime does, edit."""
    settings, commands = (json.loads(code) for code in snippets("sublime.md", "json"))
    client = settings["clients"]["plgd"]
    assert parse(client["command"]).run
    assert (Options(), ()) == read_options(client["initializationOptions"])
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    filled: dict[str, object] = {"$document_id": {"uri": "file:///a.py"}, "$range": place}
    talker = Talker()
    talker.reply = "A\n"
    async with talking_daemon(paths, talker), opened_editor(can=capabilities("vscode")) as editor:
        buffer = editor.open("file:///a.py", "a\nb\n")
        edit, cancel = (command["args"] for command in commands)
        answer = await editor.execute(
            edit["command_name"],
            [
                filled.get(argument, argument) if isinstance(argument, str) else argument
                for argument in edit["command_args"]
            ],
        )
        await editor.finished(answer["session"])
        assert "A\nb\n" == buffer.text
        assert {"cancelled": []} == await editor.execute(cancel["command_name"], [])


def test_kate_starts_the_server() -> None:
    """Kate's settings are JSON and start `plgd lsp`; the external tool's command line is understood."""
    (code,) = snippets("kate.md", "json")
    (server,) = json.loads(code)["servers"].values()
    assert parse(server["command"]).run
    assert re.fullmatch(server["highlightingModeRegex"], "Markdown")
    assert (Options(), ()) == read_options(server["initializationOptions"])
    tool = configparser.ConfigParser(interpolation=None)
    tool.read_string("[tool]\n" + "".join(snippets("kate.md", "ini")))
    assert "-" == parse([tool["tool"]["executable"], *shlex.split(tool["tool"]["arguments"])]).path


@pytest.mark.parametrize("shell", ["sh", "bash", "zsh"])
def test_zed_runs_the_command(tmp_path: Path, shell: str) -> None:
    """Zed's tasks are JSON; both command lines are understood, and any shell asks for the second one's instruction."""
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    (code,) = snippets("zed.md", "json")
    typos, asked = json.loads(code)
    assert parse([typos["command"], *typos["args"]]).write
    command = tmp_path / "plgd"
    command.write_text("#!/bin/sh\nprintf '\\n%s' plgd \"$@\"\n", encoding="utf-8")
    command.chmod(0o700)
    done = subprocess.run(
        [shell, "-c", asked["command"]],
        input="Sort \\n it.\n",
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "ZED_FILE": "/a b.py"},
        capture_output=True,
        text=True,
        check=True,
    )
    question, *words = done.stdout.split("\n")
    assert ("Change what? ", "") == (question, done.stderr)
    understood = parse(words)
    assert ("Sort \\n it.", True) == (understood.instruction, understood.diff)
    assert "/a b.py" in words


def test_presets_of_the_page_are_read(tmp_path: Path) -> None:
    """The configuration on the page is one that plgd reads."""
    (code,) = re.findall(r"```toml\n(.*?)```", (PAGES / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "config.toml"
    file.write_text(code, encoding="utf-8")
    (preset,) = load_config(file).editor.presets
    assert ("british", ("markdown", "plaintext")) == (preset.id, preset.languages)


def test_the_page_lists_every_option_and_command() -> None:
    """Options and commands of the server are all in the tables, with the defaults that hold."""
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+|[^|]+?) \|", text, re.MULTILINE))
    assert set(Options.__dataclass_fields__) <= set(rows)
    assert ('`"apply"`', '`"plgd:"`') == (rows["review"], rows["comment_marker"])
    assert {"edit", "accept", "reject", "retry", "cancel", "status"} == set(
        re.findall(r"^\| `plgd\.(\w+)`", text, re.MULTILINE)
    )


def test_every_page_is_linked() -> None:
    """The table of editors leads to each page."""
    text = (PAGES / "README.md").read_text(encoding="utf-8")
    missing = [page.name for page in PAGES.glob("*.md") if page.name != "README.md" and f"({page.name})" not in text]
    assert [] == missing
