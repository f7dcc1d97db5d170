"""Changes of values in Python: literals, conditions, returned values, messages, errors."""

from __future__ import annotations

import ast
import re
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.operations.python_expressions import fits, put
from training.python_text import PythonText, parse_python
from training.spans import Replacement, replace_spans, word_pattern
from training.spoken import said
from training.values import bare, new_condition, new_expression, new_literal, new_string

__all__ = (
    "OPERATIONS",
    "change_condition",
    "change_error",
    "change_literal",
    "change_message",
    "change_operator",
    "change_return",
    "replace_value",
    "set_variable",
)

PYTHON: Final = ("python",)
MAX_SHOWN: Final = 60
# How often a variable is told by the words of its name.
SPOKEN: Final = 0.4
_OPPOSITES: Final = {
    ast.Lt: ("<", ("<=", ">", ">=")),
    ast.Gt: (">", (">=", "<", "<=")),
    ast.LtE: ("<=", ("<", ">=", ">")),
    ast.GtE: (">=", (">", "<=", "<")),
    ast.Eq: ("==", ("!=", ">=", "<=")),
    ast.NotEq: ("!=", ("==", ">")),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
    ast.Is: ("is", ("is not", "==")),
    ast.IsNot: ("is not", ("is", "!=")),
}
_ERRORS: Final = (
    "ValueError",
    "TypeError",
    "KeyError",
    "RuntimeError",
    "LookupError",
    "NotImplementedError",
    "OSError",
    "AssertionError",
)


def change_literal(passage: Passage, rng: Random) -> Edit | None:
    """Give a variable that is set once another value."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = []
    for node in parsed.nodes:
        if (
            isinstance(node, ast.Assign | ast.AnnAssign)
            and isinstance(node.value, ast.Constant)
            and fits(parsed, node.value)
        ):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name | ast.Attribute) and _n_assignments(parsed, parsed.source(target)) == 1:
                found.append((parsed.source(target), node.value))
    if not found:
        return None
    name, value = rng.choice(found)
    old = parsed.source(value)
    new = new_literal(old, rng)
    if new is None:
        return None
    text = put(parsed, value, new)
    shown = rng.random() < 0.5
    words = said(name, set(re.findall(r"[A-Za-z_]\w+", passage.text))) if rng.random() < SPOKEN else None
    if words:
        return Edit("change_literal", text, {"spoken": words, "new": bare(new)}, {"old": bare(old)})
    return Edit(
        "change_literal", text, {"name": name, "new": bare(new) if shown else new}, {"old": bare(old) if shown else old}
    )


def replace_value(passage: Passage, rng: Random) -> Edit | None:
    """Replace a literal that the text has once."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = [
        node
        for node in parsed.nodes
        if isinstance(node, ast.Constant) and fits(parsed, node) and node.value not in (None, True, False, "", 0, 1)
    ]
    unique = [
        node for node in found if _n_times(parsed.text, parsed.source(node)) == 1 and not _is_docstring(parsed, node)
    ]
    if not unique:
        return None
    node = rng.choice(unique)
    old = parsed.source(node)
    new = new_literal(old, rng)
    if new is None or word_pattern(bare(new)).search(passage.text):
        return None
    shown = rng.random() < 0.5 and _n_times(parsed.text, bare(old)) == 1
    words = {"old": bare(old), "new": bare(new)} if shown else {"old": old, "new": new}
    return Edit("replace_value", put(parsed, node, new), words)


def change_operator(passage: Passage, rng: Random) -> Edit | None:
    """Compare by another operator."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    compares = [
        node for node in parsed.nodes if isinstance(node, ast.Compare) and len(node.ops) == 1 and fits(parsed, node)
    ]
    if not compares:
        return None
    node = rng.choice(compares)
    operator, others = _OPPOSITES[type(node.ops[0])]
    old = parsed.source(node)
    start, end = parsed.end(node.left), parsed.start(node.comparators[0])
    if parsed.text[start:end] != f" {operator} " or _n_times(parsed.text, old) != 1:
        return None
    other = rng.choice(others)
    text = replace_spans(parsed.text, [Replacement(start, end, f" {other} ")])
    new = f"{parsed.source(node.left)} {other} {parsed.source(node.comparators[0])}"
    if (
        parsed.text.count(f" {operator} ") == 1
        and operator in ("<", ">", "<=", ">=", "==", "!=")
        and rng.random() < 0.5
    ):
        return Edit("change_operator", text, {"operator": operator, "other": other}, {"old": old, "new": new})
    return Edit("change_operator", text, {"old": old, "new": new}, {"operator": operator, "other": other})


def change_return(passage: Passage, rng: Random) -> Edit | None:
    """Return something else from a function with one `return`."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = []
    for function in parsed.functions():
        returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
        if len(returns) == 1 and returns[0].value is not None and fits(parsed, returns[0].value):
            found.append((function, returns[0].value))
    if not found:
        return None
    function, value = rng.choice(found)
    old = parsed.source(value)
    new = new_literal(old, rng) if isinstance(value, ast.Constant) else new_expression(old, rng)
    if new is None or new == old or sum(one.name == function.name for one in parsed.functions()) > 1:
        return None
    slots, hints = {"new": new}, {"function": function.name, "old": old}
    if sum(isinstance(node, ast.Return) for node in parsed.nodes) > 1:
        slots["function"] = hints.pop("function")
    return Edit("change_return", put(parsed, value, new), slots, hints)


def change_message(passage: Passage, rng: Random) -> Edit | None:
    """Say something else in a string of several words."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = [
        node
        for node in parsed.nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and fits(parsed, node)
        and not _is_docstring(parsed, node)
    ]
    plain = [
        node for node in found if re.fullmatch(r"[\w .,!?:-]+", str(node.value)) and " " in str(node.value).strip()
    ]
    if not plain:
        return None
    node = rng.choice(plain)
    old, source = str(node.value), parsed.source(node)
    new = new_string(old, rng)
    if source[1:-1] != old or _n_times(parsed.text, old) != 1 or new in parsed.text:
        return None
    return Edit("change_message", put(parsed, node, source[0] + new + source[0]), {"old": old, "new": new})


def change_condition(passage: Passage, rng: Random) -> Edit | None:
    """Put a given condition in the place of another."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    tests = [node.test for node in parsed.nodes if isinstance(node, ast.If | ast.While) and fits(parsed, node.test)]
    unique = [node for node in tests if _n_times(parsed.text, parsed.source(node)) == 1]
    if not unique:
        return None
    node = rng.choice(unique)
    old = parsed.source(node)
    new = new_condition(old, rng)
    return Edit("change_condition", put(parsed, node, new), {"old": old, "new": new}) if new != old else None


def change_error(passage: Passage, rng: Random) -> Edit | None:
    """Raise another exception."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = [
        node.exc.func
        for node in parsed.nodes
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)
    ]
    unique = [one for one in found if len(word_pattern(one.id).findall(parsed.text)) == 1]
    if not unique:
        return None
    name = rng.choice(unique)
    new = rng.choice([error for error in _ERRORS if not word_pattern(error).search(parsed.text)] or [""])
    return Edit("change_error", put(parsed, name, new), {"old": name.id, "new": new}) if new else None


def set_variable(passage: Passage, rng: Random) -> Edit | None:
    """Compute a variable by a given expression."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = []
    for node in parsed.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and fits(parsed, node.value):
            target = node.targets[0]
            if isinstance(target, ast.Name | ast.Attribute) and _n_assignments(parsed, parsed.source(target)) == 1:
                found.append((parsed.source(target), node.value))
    if not found:
        return None
    name, value = rng.choice(found)
    new = new_expression(parsed.source(value), rng)
    if new == parsed.source(value):
        return None
    return Edit("set_variable", put(parsed, value, new), {"name": name, "new": new}, {"old": parsed.source(value)})


def _is_docstring(parsed: PythonText, node: ast.AST) -> bool:
    return isinstance(parsed.parent(node), ast.Expr)


def _n_times(text: str, part: str) -> int:
    """Count occurrences that are no part of a longer word."""
    lead = r"(?<![\w.])" if re.match(r"\w", part) else ""
    tail = r"(?!\w)" if re.search(r"\w$", part) else ""
    return len(re.findall(lead + re.escape(part) + tail, text))


def _targets(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple | ast.List) else [node]


def _n_assignments(parsed: PythonText, target: str) -> int:
    count = 0
    for node in parsed.nodes:
        if isinstance(node, ast.Assign):
            count += sum(parsed.source(one) == target for whole in node.targets for one in _targets(whole))
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For | ast.NamedExpr):
            count += parsed.source(node.target) == target
    return count


OPERATIONS: Final = (
    Operation("change_literal", change_literal, PYTHON, 5),
    Operation("replace_value", replace_value, PYTHON, 7),
    Operation("change_operator", change_operator, PYTHON, 2.5),
    Operation("change_return", change_return, PYTHON, 2, "return "),
    Operation("change_message", change_message, PYTHON, 3),
    Operation("change_condition", change_condition, PYTHON, 3),
    Operation("change_error", change_error, PYTHON, 1.5, "raise "),
    Operation("set_variable", set_variable, PYTHON, 1),
)
