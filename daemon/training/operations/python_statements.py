"""Statements, comments and imports added to Python."""

from __future__ import annotations

import ast
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.new_code import (
    new_import,
    new_statement,
)
from training.operations.python_places import checked, some_function, start_of_body, with_lines
from training.python_text import PythonText, parse_python
from training.spans import indent_of, word_pattern
from training.words import sentence

__all__ = (
    "OPERATIONS",
    "add_comment",
    "add_guard",
    "add_import",
    "insert_at_end",
    "insert_at_start",
    "insert_statement",
)

PYTHON: Final = ("python",)
MAX_ANCHOR: Final = 70


def add_import(passage: Passage, rng: Random) -> Edit | None:
    """Import something more, behind the last import of the head."""
    parsed = parse_python(passage.text)
    if parsed is None or parsed.indent:
        return None
    head = [node for node in parsed.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    statement, name = new_import(rng)
    if not head or word_pattern(name).search(parsed.text):
        return None
    index = parsed.tree.body.index(head[0])
    last: ast.stmt = head[0]
    for node in parsed.tree.body[index:]:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            break
        last = node
    text = with_lines(parsed, parsed.line_span(last)[1], [statement])
    return checked(Edit("add_import", text, {"statement": statement}))


def insert_statement(passage: Passage, rng: Random) -> Edit | None:
    """Insert a given statement before or after a line that the text has once."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = []
    for body in parsed.bodies():
        found += [
            node
            for node in body
            if node.lineno == node.end_lineno and not isinstance(node, ast.Import | ast.ImportFrom)
        ]
    anchors = [node for node in found if _is_anchor(parsed, node)]
    if not anchors:
        return None
    node = rng.choice(anchors)
    first, last = parsed.line_span(node)
    statement = new_statement(rng)
    after = rng.random() < 0.6 and not isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)
    text = with_lines(parsed, last if after else first, [indent_of(parsed.lines[first]) + statement])
    kind = "insert_after" if after else "insert_before"
    return checked(Edit(kind, text, {"new": statement, "line": parsed.source(node)}))


def insert_at_start(passage: Passage, rng: Random) -> Edit | None:
    """Begin a function with a given statement, behind its docstring."""
    parsed = parse_python(passage.text)
    function = some_function(parsed, rng)
    if parsed is None or function is None:
        return None
    place = start_of_body(parsed, function)
    statement = new_statement(rng)
    if place is None or statement in parsed.text:
        return None
    text = with_lines(parsed, place[0], [place[1] + statement])
    return checked(Edit("insert_at_start", text, {"new": statement, "function": function.name}))


def insert_at_end(passage: Passage, rng: Random) -> Edit | None:
    """End a function, which does not return before that, with a given statement."""
    parsed = parse_python(passage.text)
    function = some_function(parsed, rng)
    if parsed is None or function is None:
        return None
    last = function.body[-1]
    if (
        isinstance(last, ast.Return | ast.Raise | ast.Pass | ast.Try | ast.If | ast.FunctionDef | ast.ClassDef)
        or function.body[0].lineno == function.lineno
    ):
        return None
    statement = new_statement(rng)
    indent = indent_of(parsed.lines[parsed.line_span(last)[0]])
    text = with_lines(parsed, parsed.line_span(last)[1], [indent + statement])
    return checked(Edit("insert_at_end", text, {"new": statement, "function": function.name}))


def add_guard(passage: Passage, rng: Random) -> Edit | None:
    """Leave a function early for some argument."""
    parsed = parse_python(passage.text)
    function = some_function(parsed, rng)
    if parsed is None or function is None:
        return None
    place = start_of_body(parsed, function)
    names = [one.arg for one in function.args.args if one.arg not in ("self", "cls")]
    if place is None or not names:
        return None
    name = rng.choice(names)
    words, test = rng.choice(
        (
            (f"{name} is None", f"{name} is None"),
            (f"{name} is empty", f"not {name}"),
            (f"{name} is empty", f"not {name}"),
            (f"{name} is not given", f"{name} is None"),
            (f"{name} is negative", f"{name} < 0"),
            (f"{name} is zero", f"{name} == 0"),
            (f"{name} is false", f"not {name}"),
            (f"not {name}", f"not {name}"),
        )
    )
    message = sentence(rng).lower()
    action, code = rng.choice(
        (
            *((f"return {value}", f"return {value}") for value in ("None", "0", "[]", "False", "{}", '""', name)),
            ("return", "return"),
            ("raise a ValueError", "raise ValueError"),
            (f'raise ValueError("{message}")', f'raise ValueError("{message}")'),
        )
    )
    indent = place[1]
    inner = indent + ("\t" if indent.endswith("\t") else "    " if len(indent) != 2 else "  ")
    text = with_lines(parsed, place[0], [f"{indent}if {test}:", inner + code])
    return checked(Edit("add_guard", text, {"condition": words, "action": action, "function": function.name}))


def add_comment(passage: Passage, rng: Random) -> Edit | None:
    """Put a given comment above a function or a line."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    comment = "# " + (sentence(rng) if rng.random() < 0.75 else f"TODO: {sentence(rng).lower()}")
    shown = comment if rng.random() < 0.6 else comment[2:]
    if rng.random() < 0.5:
        unique = [
            node for node in parsed.definitions() if sum(one.name == node.name for one in parsed.definitions()) == 1
        ]
        if not unique:
            return None
        node = rng.choice(unique)
        first, place = parsed.line_span(node)[0], {"function": node.name}
    else:
        lines = [node for body in parsed.bodies() for node in body if _is_anchor(parsed, node)]
        if not lines:
            return None
        anchor = rng.choice(lines)
        first, place = parsed.line_span(anchor)[0], {"line": parsed.source(anchor)}
    text = with_lines(parsed, first, [indent_of(parsed.lines[first]) + comment])
    return Edit("add_comment", text, {"comment": shown, **place})


def _is_anchor(parsed: PythonText, node: ast.stmt) -> bool:
    """Tell whether a statement is the whole of its line, and the text has it once."""
    if node.lineno != node.end_lineno or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return False
    source = parsed.source(node)
    first, _ = parsed.line_span(node)
    return 3 < len(source) <= MAX_ANCHOR and parsed.lines[first].strip() == source and parsed.text.count(source) == 1


OPERATIONS: Final = (
    Operation("add_import", add_import, PYTHON, 4, "import "),
    Operation("insert_statement", insert_statement, PYTHON, 4, makes=("insert_after", "insert_before")),
    Operation("insert_at_start", insert_at_start, PYTHON, 1, "def "),
    Operation("insert_at_end", insert_at_end, PYTHON, 0.6, "def "),
    Operation("add_guard", add_guard, PYTHON, 4, "def "),
    Operation("add_comment", add_comment, PYTHON, 2.5),
)
