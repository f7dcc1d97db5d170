"""Faults in Python that an instruction names: something is missing in a function, a limit is left out."""

from __future__ import annotations

import ast
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.operations.python_expressions import fits
from training.python_text import PythonText, parse_python
from training.spans import Replacement, replace_spans

__all__ = ("OPERATIONS", "fix_missing", "include_limit")

PYTHON: Final = ("python",)
_STRICT: Final = {ast.Lt: "<", ast.Gt: ">"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def fix_missing(passage: Passage, rng: Random) -> Edit | None:
    """Put back a `return`, an `await` or a `self.` that the text is made to lack in one function."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    function = _some_function(parsed, rng)
    if function is None:
        return None
    bare = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    found = [(what, span) for node in ast.walk(function) for what, span in _removable(parsed, node, bare)]
    if not found:
        return None
    what, span = rng.choice(sorted(found))
    shown = replace_spans(parsed.text, [span])
    if parse_python(shown) is None:
        return None
    return Edit("fix_missing", passage.text, {"what": what, "function": function.name}, shown=shown)


def include_limit(passage: Passage, rng: Random) -> Edit | None:
    """Let the one strict comparison of a function take its limit in."""
    parsed = parse_python(passage.text)
    function = _some_function(parsed, rng) if parsed is not None else None
    if parsed is None or function is None:
        return None
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Compare) and any(type(one) in _STRICT for one in node.ops)
    ]
    if len(found) != 1 or len(found[0].ops) != 1 or not fits(parsed, found[0]):
        return None
    node, limit = found[0], found[0].comparators[0]
    operator = _STRICT[type(node.ops[0])]
    start, end = parsed.end(node.left), parsed.start(limit)
    if parsed.text[start:end] != f" {operator} " or not isinstance(limit, ast.Constant | ast.Name | ast.Attribute):
        return None
    text = replace_spans(parsed.text, [Replacement(start, end, f" {operator}= ")])
    slots = {"limit": parsed.source(limit), "function": function.name}
    return Edit("include_limit", text, slots, {"operator": operator, "other": f"{operator}="})


def _some_function(parsed: PythonText, rng: Random) -> _Function | None:
    """Return a function whose name no other has."""
    functions = parsed.functions()
    unique = [one for one in functions if sum(other.name == one.name for other in functions) == 1]
    return rng.choice(unique) if unique else None


def _removable(parsed: PythonText, node: ast.AST, bare: set[str]) -> list[tuple[str, Replacement]]:
    """Return what can be taken away at a node, by its name; a `self.` not where a variable has the attribute's name."""
    if isinstance(node, ast.Return) and node.value is not None and fits(parsed, node.value):
        return [("return", Replacement(parsed.start(node), parsed.start(node.value), ""))]
    if isinstance(node, ast.Await) and isinstance(node.value, ast.Call):
        return [("await", Replacement(parsed.start(node), parsed.start(node.value), ""))]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        source = parsed.source(node)
        if isinstance(node.ctx, ast.Load) and source == f"self.{node.attr}" and node.attr not in bare:
            return [("self", Replacement(parsed.start(node), parsed.start(node) + len("self."), ""))]
    return []


OPERATIONS: Final = (
    Operation("fix_missing", fix_missing, PYTHON, 8, "def "),
    Operation("include_limit", include_limit, PYTHON, 1.5, "def "),
)
