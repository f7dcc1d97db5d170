"""Docstrings, methods and functions added to Python."""

from __future__ import annotations

import ast
import re
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.new_code import (
    new_class,
    new_function,
    new_method,
)
from training.operations.python_places import checked, end_of_signature, start_of_body, with_lines
from training.python_text import parse_python
from training.spans import indent_of
from training.words import sentence

__all__ = (
    "OPERATIONS",
    "add_docstring",
    "add_method",
    "append_code",
)

PYTHON: Final = ("python",)


def add_docstring(passage: Passage, rng: Random) -> Edit | None:
    """Document a function or class that has no docstring."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    bare = [node for node in parsed.definitions() if not parsed.docstring(node) and start_of_body(parsed, node)]
    unique = [node for node in bare if sum(one.name == node.name for one in parsed.definitions()) == 1]
    if not unique:
        return None
    node = rng.choice(unique)
    first = node.body[0]
    index = parsed.line_span(first)[0]
    doc = sentence(rng) + ("." if rng.random() < 0.7 else "")
    indent = indent_of(parsed.lines[index])
    if first.lineno == node.lineno:
        return None
    head = end_of_signature(parsed, index)
    if head is None:
        return None
    text = with_lines(parsed, head, [f'{indent}"""{doc}"""'])
    return checked(Edit("add_docstring", text, {"doc": doc, "function": node.name}))


def add_method(passage: Passage, rng: Random) -> Edit | None:
    """Add a given method at the end of a class."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    classes = [node for node in parsed.classes() if sum(one.name == node.name for one in parsed.classes()) == 1]
    classes = [node for node in classes if isinstance(node.body[-1], ast.FunctionDef | ast.AsyncFunctionDef)]
    if not classes:
        return None
    node = rng.choice(classes)
    code = new_method(rng)
    last = node.body[-1]
    indent = indent_of(parsed.lines[parsed.line_span(last)[0]])
    if _defined(code) in {one.name for one in parsed.functions()} or "\t" in indent:
        return None
    lines = ["", *(indent + line if line else "" for line in code.rstrip("\n").split("\n"))]
    text = with_lines(parsed, parsed.line_span(last)[1], lines)
    return checked(Edit("add_method", text, {"code": _block(code, rng), "class": node.name}))


def append_code(passage: Passage, rng: Random) -> Edit | None:
    """Add a given function or class at the end, after two blank lines."""
    parsed = parse_python(passage.text)
    if parsed is None or parsed.indent:
        return None
    code = new_class(rng) if rng.random() < 0.25 else new_function(rng)
    if _defined(code) in parsed.text:
        return None
    body = parsed.tree.body  # empty for a text of comments alone
    if not body or not isinstance(body[-1], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return None
    text = passage.text.rstrip("\n") + "\n\n\n" + code
    return checked(Edit("append_code", text, {"code": _block(code, rng)}))


def _defined(code: str) -> str:
    match = re.search(r"(?:def|class) (\w+)", code)
    return match[1] if match else ""


def _block(code: str, rng: Random) -> str:
    """Return code as it stands under an instruction, sometimes in a fence."""
    draw = rng.random()
    if draw < 0.7:
        return "\n" + code.rstrip("\n")
    return "\n```" + ("python" if draw < 0.85 else "") + "\n" + code + "```"


OPERATIONS: Final = (
    Operation("add_docstring", add_docstring, PYTHON, 4),
    Operation("add_method", add_method, PYTHON, 2, "class "),
    Operation("append_code", append_code, PYTHON, 1.5, "def "),
)
