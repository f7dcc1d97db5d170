"""Which names a Python text binds, where, and what else may mean them."""

from __future__ import annotations

import ast
import re

from training.new_names import RESERVED
from training.python_text import PythonText

__all__ = ("bindings", "binds", "bound_by_imports", "keywords_are_foreign", "named_in_decorators", "parameters")


def bindings(parsed: PythonText) -> dict[str, list[ast.AST | None]]:
    """Return the names that are plain variables wherever they are bound, with the functions that bind them."""
    found: dict[str, list[ast.AST | None]] = {}
    excluded = bound_by_imports(parsed) | {node.name for node in parsed.definitions()}
    for scope in [None, *parsed.functions()]:
        for name in sorted(binds(scope if scope is not None else parsed.tree)):
            found.setdefault(name, []).append(scope)
    for owner in parsed.classes():
        excluded |= binds(owner)
    for node in parsed.nodes:
        if isinstance(node, ast.Global | ast.Nonlocal):
            excluded |= set(node.names)
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping):
            excluded |= {str(getattr(node, "name", None) or getattr(node, "rest", None))}
    return {
        name: scopes
        for name, scopes in found.items()
        if name not in excluded and name not in RESERVED and not name.startswith("__")
    }


def named_in_decorators(parsed: PythonText, name: str) -> bool:
    """Tell whether a decorator has the name in a string, as pytest's parameters are named."""
    decorators = [one for node in parsed.definitions() for one in node.decorator_list]
    quoted = re.compile(rf"(?s)['\"][^'\"]*(?<!\w){re.escape(name)}(?!\w)")
    return any(quoted.search(parsed.source(one)) for one in decorators)


def binds(scope: ast.AST) -> set[str]:
    """Return the names that a scope binds itself, comprehensions and lambdas in it included."""
    names = parameters(scope) if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else set()
    todo = list(ast.iter_child_nodes(scope))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.Lambda):
            names |= parameters(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            todo += ast.iter_child_nodes(node)
    return names


def parameters(function: ast.AST) -> set[str]:
    """Return the names of a function's parameters; none of anything else."""
    arguments = getattr(function, "args", None)
    if not isinstance(arguments, ast.arguments):
        return set()
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return {one.arg for one in every}


def bound_by_imports(parsed: PythonText) -> set[str]:
    """Return the names that imports bind, anywhere in the text."""
    names = set()
    for node in parsed.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names


def keywords_are_foreign(parsed: PythonText, name: str) -> bool:
    """Tell whether no call in the text passes the name as a keyword to a function that the text defines."""
    own = {node.name for node in parsed.definitions()}
    for node in parsed.nodes:
        if isinstance(node, ast.Call) and any(one.arg == name for one in node.keywords):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in own or called in ("cls", "partial", "__init__"):
                return False
    return True
