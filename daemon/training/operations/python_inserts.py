"""Additions to Python: statements, parameters, decorators, imports, docstrings, annotations, whole functions."""

from __future__ import annotations

import ast
import re
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.new_code import (
    new_class,
    new_decorator,
    new_function,
    new_import,
    new_method,
    new_parameter,
    new_statement,
    new_type,
)
from training.python_text import PythonText, parse_python
from training.spans import Replacement, indent_of, is_blank, replace_spans, word_pattern
from training.words import sentence, word

__all__ = (
    "OPERATIONS",
    "add_base",
    "add_comment",
    "add_decorator",
    "add_docstring",
    "add_guard",
    "add_import",
    "add_method",
    "add_parameter",
    "annotate_all",
    "annotate_parameter",
    "annotate_return",
    "append_code",
    "insert_at_end",
    "insert_at_start",
    "insert_statement",
)

PYTHON: Final = ("python",)
MAX_ANCHOR: Final = 70


def add_parameter(passage: Passage, rng: Random) -> Edit | None:
    """Give a function one more parameter, behind the others."""
    parsed = parse_python(passage.text)
    function = _some_function(parsed, rng)
    if parsed is None or function is None:
        return None
    arguments = function.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        return None
    parameter = new_parameter(
        rng, with_default=bool(arguments.defaults), annotated=any(one.annotation for one in arguments.args)
    )
    name = re.split(r"[:=]", parameter)[0].strip()
    if word_pattern(name).search(parsed.source(function)):
        return None
    text = parsed.text
    if arguments.args:
        last = arguments.args[-1]
        at = max(parsed.end(last), *(parsed.end(one) for one in arguments.defaults[-1:]), 0)
        trailing = re.compile(r",?\s*\)").match(text, at)
        if trailing is None:
            return None
        if "\n" not in trailing[0]:
            if trailing[0].startswith(","):
                return None
            text = text[:at] + f", {parameter}" + text[at:]
        else:
            line_start = text.rfind("\n", 0, parsed.start(last)) + 1
            indent = indent_of(text[line_start:])
            if text[line_start : parsed.start(last)].strip() or not trailing[0].startswith(","):
                return None
            text = text[: at + 1] + f"\n{indent}{parameter}," + text[at + 1 :]
    else:
        empty = re.compile(rf"def\s+{re.escape(function.name)}\(\)").search(text, parsed.start(function))
        if empty is None:
            return None
        text = text[: empty.end() - 1] + parameter + text[empty.end() - 1 :]
    return _checked(Edit("add_parameter", text, {"parameter": parameter, "function": function.name}))


def add_decorator(passage: Passage, rng: Random) -> Edit | None:
    """Decorate a function that has no decorator."""
    parsed = parse_python(passage.text)
    function = _some_function(parsed, rng)
    if parsed is None or function is None or function.decorator_list:
        return None
    decorator = new_decorator(rng)
    if decorator in parsed.text:
        return None
    first, _ = parsed.line_span(function)
    text = _with_lines(parsed, first, [indent_of(parsed.lines[first]) + decorator])
    shown = decorator if rng.random() < 0.8 else decorator[1:]
    return Edit("add_decorator", text, {"decorator": shown, "function": function.name})


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
    text = _with_lines(parsed, parsed.line_span(last)[1], [statement])
    return _checked(Edit("add_import", text, {"statement": statement}))


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
    text = _with_lines(parsed, last if after else first, [indent_of(parsed.lines[first]) + statement])
    kind = "insert_after" if after else "insert_before"
    return _checked(Edit(kind, text, {"new": statement, "line": parsed.source(node)}))


def insert_at_start(passage: Passage, rng: Random) -> Edit | None:
    """Begin a function with a given statement, behind its docstring."""
    parsed = parse_python(passage.text)
    function = _some_function(parsed, rng)
    if parsed is None or function is None:
        return None
    place = _start_of_body(parsed, function)
    statement = new_statement(rng)
    if place is None or statement in parsed.text:
        return None
    text = _with_lines(parsed, place[0], [place[1] + statement])
    return _checked(Edit("insert_at_start", text, {"new": statement, "function": function.name}))


def insert_at_end(passage: Passage, rng: Random) -> Edit | None:
    """End a function, which does not return before that, with a given statement."""
    parsed = parse_python(passage.text)
    function = _some_function(parsed, rng)
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
    text = _with_lines(parsed, parsed.line_span(last)[1], [indent + statement])
    return _checked(Edit("insert_at_end", text, {"new": statement, "function": function.name}))


def add_guard(passage: Passage, rng: Random) -> Edit | None:
    """Leave a function early for some argument."""
    parsed = parse_python(passage.text)
    function = _some_function(parsed, rng)
    if parsed is None or function is None:
        return None
    place = _start_of_body(parsed, function)
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
    text = _with_lines(parsed, place[0], [f"{indent}if {test}:", inner + code])
    return _checked(Edit("add_guard", text, {"condition": words, "action": action, "function": function.name}))


def add_docstring(passage: Passage, rng: Random) -> Edit | None:
    """Document a function or class that has no docstring."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    bare = [node for node in parsed.definitions() if not parsed.docstring(node) and _start_of_body(parsed, node)]
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
    head = _end_of_signature(parsed, index)
    if head is None:
        return None
    text = _with_lines(parsed, head, [f'{indent}"""{doc}"""'])
    return _checked(Edit("add_docstring", text, {"doc": doc, "function": node.name}))


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
    text = _with_lines(parsed, first, [indent_of(parsed.lines[first]) + comment])
    return Edit("add_comment", text, {"comment": shown, **place})


def annotate_parameter(passage: Passage, rng: Random) -> Edit | None:
    """Annotate one parameter with a given type."""
    parsed = parse_python(passage.text)
    function = _some_function(parsed, rng)
    if parsed is None or function is None:
        return None
    names = [one for one in function.args.args if one.annotation is None and one.arg not in ("self", "cls")]
    spaced = re.compile(r"\s*[,)]")
    names = [one for one in names if spaced.match(parsed.text, parsed.end(one))]
    if not names:
        return None
    argument, kind = rng.choice(names), new_type(rng)
    text = replace_spans(parsed.text, [Replacement(parsed.end(argument), parsed.end(argument), f": {kind}")])
    return _checked(Edit("annotate_parameter", text, {"name": argument.arg, "type": kind, "function": function.name}))


def annotate_return(passage: Passage, rng: Random) -> Edit | None:
    """Annotate what a function returns."""
    parsed = parse_python(passage.text)
    function = _some_function(parsed, rng)
    if parsed is None or function is None or function.returns is not None:
        return None
    body = _end_of_signature(parsed, parsed.line_span(function.body[0])[0])
    head = parsed.text[: parsed.line_start(body)] if body is not None else ""
    colon = re.search(r"\)(:)[ \t]*\n$", head)
    if colon is None:
        return None
    kind = "None" if rng.random() < 0.25 else new_type(rng)
    text = replace_spans(parsed.text, [Replacement(colon.start(1), colon.start(1), f" -> {kind}")])
    return _checked(Edit("annotate_return", text, {"type": kind, "function": function.name}))


def annotate_all(passage: Passage, rng: Random) -> Edit | None:
    """Annotate all parameters of a function, and what it returns."""
    parsed = parse_python(passage.text)
    function = _some_function(parsed, rng)
    if parsed is None or function is None or function.returns is not None:
        return None
    names = [one for one in function.args.args if one.arg not in ("self", "cls")]
    body = _end_of_signature(parsed, parsed.line_span(function.body[0])[0])
    head = parsed.text[: parsed.line_start(body)] if body is not None else ""
    colon = re.search(r"\)(:)[ \t]*\n$", head)
    plain = not function.args.defaults and not any(one.annotation for one in names)
    if colon is None or not 1 < len(names) < 5 or not plain:
        return None
    types = [new_type(rng) for _ in names]
    result = new_type(rng)
    spans = [Replacement(parsed.end(one), parsed.end(one), f": {kind}") for one, kind in zip(names, types, strict=True)]
    text = replace_spans(parsed.text, [*spans, Replacement(colon.start(1), colon.start(1), f" -> {result}")])
    listed = ", ".join(f"{one.arg}: {kind}" for one, kind in zip(names, types, strict=True))
    return _checked(Edit("annotate_all", text, {"listed": listed, "type": result, "function": function.name}))


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
    text = _with_lines(parsed, parsed.line_span(last)[1], lines)
    return _checked(Edit("add_method", text, {"code": _block(code, rng), "class": node.name}))


def append_code(passage: Passage, rng: Random) -> Edit | None:
    """Add a given function or class at the end, after two blank lines."""
    parsed = parse_python(passage.text)
    if parsed is None or parsed.indent:
        return None
    code = new_class(rng) if rng.random() < 0.25 else new_function(rng)
    if _defined(code) in parsed.text:
        return None
    if not isinstance(parsed.tree.body[-1], ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return None
    text = passage.text.rstrip("\n") + "\n\n\n" + code
    return _checked(Edit("append_code", text, {"code": _block(code, rng)}))


def add_base(passage: Passage, rng: Random) -> Edit | None:
    """Derive a class that has no base from a given one."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    classes = [node for node in parsed.classes() if not node.bases and not node.keywords]
    classes = [node for node in classes if sum(one.name == node.name for one in parsed.classes()) == 1]
    if not classes:
        return None
    node = rng.choice(classes)
    base = rng.choice(
        (
            "Exception",
            "ABC",
            "BaseModel",
            "Protocol",
            "dict",
            "Thread",
            "Enum",
            "TestCase",
            f"Base{word(rng).capitalize()}",
        )
    )
    head = re.compile(rf"class\s+{re.escape(node.name)}(\(\s*\))?:").search(parsed.text, parsed.start(node))
    if head is None or word_pattern(base).search(parsed.text):
        return None
    at = parsed.text.index(node.name, head.start() + 5) + len(node.name)
    text = parsed.text[:at] + f"({base}):" + parsed.text[head.end() :]
    return _checked(Edit("add_base", text, {"class": node.name, "base": base}))


def _some_function(parsed: PythonText | None, rng: Random) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return a function whose name no other has."""
    if parsed is None:
        return None
    functions = parsed.functions()
    unique = [node for node in functions if sum(one.name == node.name for one in functions) == 1]
    return rng.choice(unique) if unique else None


def _is_anchor(parsed: PythonText, node: ast.stmt) -> bool:
    """Tell whether a statement is the whole of its line, and the text has it once."""
    if node.lineno != node.end_lineno or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return False
    source = parsed.source(node)
    first, _ = parsed.line_span(node)
    return 3 < len(source) <= MAX_ANCHOR and parsed.lines[first].strip() == source and parsed.text.count(source) == 1


def _start_of_body(
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
        head = _end_of_signature(parsed, index)
        return None if head is None else (head, indent)
    after = parsed.line_span(doc)[1]
    if after >= len(parsed.lines) or len(node.body) == 1 or is_blank(parsed.lines[after]):
        return None
    return after, indent


def _end_of_signature(parsed: PythonText, index: int) -> int | None:
    """Return the line after a definition's colon, if nothing but the body's first statement follows it."""
    return index if index > 0 and parsed.lines[index - 1].rstrip().endswith(":") else None


def _with_lines(parsed: PythonText, index: int, new: list[str]) -> str:
    lines = [line + "\n" for line in new]
    return "".join([*parsed.lines[:index], *lines, *parsed.lines[index:]])


def _defined(code: str) -> str:
    match = re.search(r"(?:def|class) (\w+)", code)
    return match[1] if match else ""


def _block(code: str, rng: Random) -> str:
    """Return code as it stands under an instruction, sometimes in a fence."""
    draw = rng.random()
    if draw < 0.7:
        return "\n" + code.rstrip("\n")
    return "\n```" + ("python" if draw < 0.85 else "") + "\n" + code + "```"


def _checked(edit: Edit) -> Edit | None:
    return edit if parse_python(edit.new_text) is not None else None


OPERATIONS: Final = (
    Operation("add_parameter", add_parameter, PYTHON, 2, "def "),
    Operation("add_decorator", add_decorator, PYTHON, 1.2, "def "),
    Operation("add_import", add_import, PYTHON, 2, "import "),
    Operation("insert_statement", insert_statement, PYTHON, 2.5, makes=("insert_after", "insert_before")),
    Operation("insert_at_start", insert_at_start, PYTHON, 1.2, "def "),
    Operation("insert_at_end", insert_at_end, PYTHON, 0.8, "def "),
    Operation("add_guard", add_guard, PYTHON, 2.5, "def "),
    Operation("add_docstring", add_docstring, PYTHON, 2),
    Operation("add_comment", add_comment, PYTHON, 2),
    Operation("annotate_parameter", annotate_parameter, PYTHON, 1.2, "def "),
    Operation("annotate_return", annotate_return, PYTHON, 1.2, "def "),
    Operation("annotate_all", annotate_all, PYTHON, 1, "def "),
    Operation("add_method", add_method, PYTHON, 1.5, "class "),
    Operation("append_code", append_code, PYTHON, 1.2, "def "),
    Operation("add_base", add_base, PYTHON, 0.8, "class "),
)
