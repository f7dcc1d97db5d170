"""`plgd edit` on real files of published packages: the answer is right and every other byte is as it was."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.command import plgd
from end_to_end.published import read_published

pytestmark = pytest.mark.builtin


@dataclass(frozen=True)
class Case:
    """An edit of a published file that was made harder: other line endings, tabs, emoji, no final newline.

    Attributes:
        requirement: the package, pinned.
        member: the file in its wheel.
        name: what the file is called on disk.
        harden: turns the published text into the one on disk.
        instruction: what to change.
        expected: turns the text on disk into the right answer.
    """

    requirement: str
    member: str
    name: str
    harden: Callable[[str], str]
    instruction: str
    expected: Callable[[str], str]


CASES = {
    "python": Case(
        "idna==3.20",
        "idna/intranges.py",
        "intranges.py",
        lambda text: (
            text.replace("import bisect\n", "import bisect  # 😀 naïve, 日本\n").rstrip("\n").replace("\n", "\r\n")
        ),
        "Rename sorted_list to ordered.",
        lambda text: re.sub(r"\bsorted_list\b", "ordered", text),
    ),
    "python default": Case(
        "idna==3.20",
        "idna/intranges.py",
        "intranges.py",
        lambda text: text.replace("import bisect\n", "import bisect  # 😀 naïve, 日本\n"),
        "Change the shift from 32 to 40 in _encode_range.",
        lambda text: text.replace("(start << 32) | end\n\n", "(start << 40) | end\n\n"),
    ),
    "json": Case(
        "jsonschema-specifications==2025.9.1",
        "jsonschema_specifications/schemas/draft202012/vocabularies/content",
        "content.json",
        lambda text: re.sub(r"^( {4})+", lambda run: "\t" * (len(run[0]) // 4), text, flags=re.MULTILINE),
        'Change the title to "Contents".',
        lambda text: text.replace('"title": "Content vocabulary meta-schema"', '"title": "Contents"'),
    ),
    "markdown": Case(
        "mlx-lm==0.32.2",
        "mlx_lm/MANAGE.md",
        "MANAGE.md",
        lambda text: text.replace("They\n", "They 😀\n").replace(
            "mlx_lm.manage --scan\n", "\tmlx_lm.manage --scan\n", 1
        ),
        'Replace "Scan models" with "List models".',
        lambda text: text.replace("Scan models", "List models"),
    ),
}


@pytest.fixture(scope="module")
def daemon(builtin_model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A daemon of these tests' own; gives the folder where packages are kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLGD_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("PLGD_CACHE_DIR", str(builtin_model_dir.parents[1]))
        yield builtin_model_dir.parents[1] / "published"
        plgd("stop", "--now")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_edit_of_a_published_file(case: Case, daemon: Path, tmp_path: Path) -> None:
    """The diff is a patch that git applies to the right answer, and `--write` puts the same bytes on disk."""
    before = case.harden(read_published(case.requirement, case.member, daemon)).encode()
    right = case.expected(before.decode()).encode()
    assert before != right
    path = tmp_path / case.name
    path.write_bytes(before)
    shown = plgd("edit", case.name, "-i", case.instruction, "--diff", cwd=tmp_path)
    assert (0, before) == (shown.returncode, path.read_bytes()), shown.stderr
    patched = tmp_path / "patched"
    patched.mkdir()
    (patched / case.name).write_bytes(before)
    subprocess.run(["git", "apply", "-"], input=shown.stdout, cwd=patched, check=True)  # noqa: S607 - git of the PATH
    written = plgd("edit", case.name, "-i", case.instruction, "--write", "--json", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    assert right == path.read_bytes()
    assert right == (patched / case.name).read_bytes()
    stats = json.loads(written.stdout)["stats"]
    assert stats["accepted_prediction_tokens"] > 0.5 * stats["output_tokens"]


def test_a_rename_keeps_the_meaning(daemon: Path, tmp_path: Path) -> None:
    """After a rename both versions have the same syntax tree up to the name."""
    case = CASES["python"]
    before = read_published(case.requirement, case.member, daemon)
    done = plgd("edit", "-", "-i", case.instruction, "--name", case.name, stdin=before.encode(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    trees = [ast.dump(ast.parse(text)) for text in (before, done.stdout.decode())]
    assert trees[1] == trees[0].replace("'sorted_list'", "'ordered'")
    assert trees[1] != trees[0]
