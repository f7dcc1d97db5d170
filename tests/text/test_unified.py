"""`git apply` and `patch` make exactly the new bytes from plgd's diff."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plgd.text.unified import unified_diff
from strategies import texts

EXAMPLES = [
    ("lf", "a\nb\nc\n", "a\nB\nc\n"),
    ("crlf", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"),
    ("mixed", "a\r\nb\nc\rd\n", "a\r\nB\nc\rD\n"),
    ("to-crlf", "a\nb\n", "a\r\nb\r\n"),
    ("no-final-newline", "a\nb", "a\nc"),
    ("newline-added", "a\nb", "a\nb\n"),
    ("newline-removed", "a\nb\n", "a\nb"),
    ("tabs", "\tif x:\n\t\treturn\n", "\tif y:\n    \treturn \n"),
    ("emoji", "# 😀 漢字\nx = 1\n", "# 👩‍💻 漢字\nx = 2\n"),
    ("separators", "a\fb\nc\u2028d\n\x85\n", "a\fB\nc\u2028D\n\x85\n"),
    ("only-cr", "a\rb\rc\r", "a\rB\rc\r"),
    ("bom", "\ufeffa\nb\n", "\ufeffA\nb\n"),
    ("to-nothing", "a\nb\n", ""),
    ("from-nothing", "", "a\nb"),
    ("grows", "a\n", "a\n" + "b\n" * 50),
    ("shrinks", "a\n" * 50, "a\n"),
    (
        "far-apart",
        "".join(f"{n}\n" for n in range(100)),
        "".join(f"{n}{'!' if n in (3, 50, 98) else ''}\n" for n in range(100)),
    ),
    ("looks-like-a-patch", "-- a\n++ b\n@@ -1 +1 @@\n", "--- a\n+++ b\n@@ -1 +1 @@\n\\ No newline\n"),
]
EXAMPLES += [
    (
        f"apart-{gap}",
        "".join(f"{n}\n" for n in range(30)),
        "".join(f"{n}{'!' * (n in (9, 9 + gap))}\n" for n in range(30)),
    )
    for gap in range(1, 10)
]


def _patched(tool: list[str], folder: Path, name: str, old: str, new: str) -> bytes:
    target = folder / name
    target.write_bytes(old.encode())
    diff = unified_diff(old, new, name)
    if diff:
        subprocess.run(tool, cwd=folder, input=diff.encode(), check=True, capture_output=True)
    return target.read_bytes()


GIT = ["git", "apply", "--whitespace=nowarn", "-"]
PATCH = ["patch", "--binary", "--no-backup-if-mismatch", "--fuzz=0", "-p1"]


@pytest.mark.parametrize("tool", [GIT, PATCH], ids=["git", "patch"])
@pytest.mark.parametrize(("old", "new"), [pytest.param(old, new, id=name) for name, old, new in EXAMPLES])
def test_tools_reproduce_the_bytes(tool: list[str], tmp_path: Path, old: str, new: str) -> None:
    """Line endings, a missing final newline, tabs and emoji go through a patch unharmed."""
    assert new.encode() == _patched(tool, tmp_path, "file.txt", old, new)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts(min_lines=1), texts(min_lines=1))
def test_any_two_texts(tmp_path: Path, old: str, new: str) -> None:
    """`git apply` reproduces any new text from any old one."""
    assert new.encode() == _patched(GIT, tmp_path, "file.txt", old, new)


@pytest.mark.parametrize("name", ["my file.py", 'quo"te.py', "tab\there.py", "back\\slash.py", "ünïcode 😀.py"])
@pytest.mark.parametrize("tool", [GIT, PATCH], ids=["git", "patch"])
def test_names_with_odd_characters(tool: list[str], tmp_path: Path, name: str) -> None:
    """A diff names files with blanks, quotes and tabs so that tools find them."""
    assert _patched(tool, tmp_path, name, "old\n", "new\n") == b"new\n"


def test_the_words_of_a_diff() -> None:
    """A unified diff is laid out as `diff -u` does, byte for byte."""
    expected = "--- a/f.py\n+++ b/f.py\n@@ -1,4 +1,5 @@\n-a\n+A\n b\n c\n-d\n\\ No newline at end of file\n+d\n+e\n"
    assert expected == unified_diff("a\nb\nc\nd", "A\nb\nc\nd\ne\n", "f.py")


@pytest.mark.parametrize(
    ("old", "new", "ranges"),
    [("a\n", "", "@@ -1 +0,0 @@"), ("", "a\n", "@@ -0,0 +1 @@"), ("a\n", "a\nb\n", "@@ -1 +1,2 @@")],
)
def test_the_words_of_a_range(old: str, new: str, ranges: str) -> None:
    """A range of one line has no count, and an empty one names the line before it."""
    assert ranges == unified_diff(old, new, "f").splitlines()[2]


@given(texts(), st.sampled_from(["f", "g h"]))
def test_no_change_is_no_diff(text: str, name: str) -> None:
    """Equal texts have an empty diff."""
    assert unified_diff(text, text, name) == ""
