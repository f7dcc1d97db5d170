"""The project's own rules: style, types, import contracts, public surfaces."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    file
    for folder in ("daemon", "lsp", "clients")
    for file in ROOT.glob(f"{folder}/**/*.py")
    if "node_modules" not in file.parts
]


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--no-cache", "."],
        ["ruff", "format", "--check", "--no-cache", "."],
        ["mypy"],
        ["lint-imports", "--no-cache"],
    ],
    ids=" ".join,
)
def test_the_tree_is_clean(command: list[str]) -> None:
    """Linter, formatter, type checker and import contracts find nothing in the whole tree."""
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run([program, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_public_surface_is_declared(path: Path) -> None:
    """A module's `__all__` names exactly the public classes and functions that it defines, and nothing undefined.

    A package may hand on what its own modules define.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    declared: set[str] | None = None
    defined: set[str] = set()
    public: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            defined.add(node.name)
            if not node.name.startswith("_"):
                public.add(node.name)
        elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
            defined |= {name.name for name in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {target.id for target in targets if isinstance(target, ast.Name)}
            defined |= names
            if "__all__" in names:
                declared = set(ast.literal_eval(node.value))
    if declared is None:
        assert public == set()
    else:
        assert declared - defined == set()
        assert public <= declared
