"""Each feature of the reference systems has tests that name it, and the engine's page tells which."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "engine.md"
ROWS = [*(f"A{n}" for n in range(1, 17)), *(f"B{n}" for n in range(1, 6))]

# In a docstring: "(reference A5)" or "(references A4, B2)".
NAMED = re.compile(r"references? ((?:[AB]\d+(?:, )?)+)")


def named_in_tests() -> dict[str, set[str]]:
    """Find which test files have tests that name each feature."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for named in NAMED.findall(ast.get_docstring(node) or ""):
                    for row in named.split(", "):
                        found.setdefault(row, set()).add(str(path.relative_to(ROOT / "tests")))
    return found


def told_on_the_page() -> dict[str, set[str]]:
    """Read the page's table: feature -> test files."""
    lines = [line.split("|") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    return {
        cells[1].strip(): set(re.findall(r"`(\S+\.py)`", cells[3]))
        for cells in lines
        if len(cells) == 5 and re.fullmatch(r"[AB]\d+", cells[1].strip())
    }


def test_no_feature_is_without_a_test() -> None:
    """Every feature of both references is named by a test, and no test names one that does not exist."""
    assert set(ROWS) == set(named_in_tests())


def test_the_page_tells_which_tests() -> None:
    """The table of the engine's page names, for each feature, just those files that test it."""
    assert named_in_tests() == told_on_the_page()
    assert ROWS == list(told_on_the_page())
