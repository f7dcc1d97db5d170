"""Places in Python where something is added."""

from __future__ import annotations

import ast
from random import Random

from training.edit import Edit
from training.python_text import PythonText, parse_python
from training.spans import indent_of, is_blank

__all__ = (
    "checked",
    "end_of_signature",
    "some_function",
    "start_of_body",
    "with_lines",
)


def some_function(parsed: PythonText | None, rng: Random) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return a function whose name no other has."""
    if parsed is None:
        return None
    functions = parsed.functions()
    unique = [node for node in functions if sum(one.name == node.name for one in functions) == 1]
    return rng.choice(unique) if unique else None


def start_of_body(
    parsed: PythonText, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
) -> tuple[int, str] | None:
    """Return the line where code may begin, behind the docstring, and its indent; None for a body behind the colon."""
    doc = parsed.docstring(node)
    first = node.body[0]
    index = parsed.line_span(first)[0]
    indent = indent_of(parsed.lines[index])
    if len(indent) <= len(indent_of(parsed.lines[parsed.line_span(node)[0]])):
        return None
    if doc is None:
        head = end_of_signature(parsed, index)
        return None if head is None else (head, indent)
    after = parsed.line_span(doc)[1]
    if after >= len(parsed.lines) or len(node.body) == 1 or is_blank(parsed.lines[after]):
        return None
    return after, indent


def end_of_signature(parsed: PythonText, index: int) -> int | None:
    """Return the line after a definition's colon, if nothing but the body's first statement follows it."""
    return index if index > 0 and parsed.lines[index - 1].rstrip().endswith(":") else None


def with_lines(parsed: PythonText, index: int, new: list[str]) -> str:
    """Return the text with new lines, given without their ends, before the line of that number, from 0."""
    lines = [line + "\n" for line in new]
    return "".join([*parsed.lines[:index], *lines, *parsed.lines[index:]])


def checked(edit: Edit) -> Edit | None:
    """Return the edit if its text is still Python."""
    return edit if parse_python(edit.new_text) is not None else None
