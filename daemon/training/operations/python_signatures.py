"""Additions to heads of functions and classes in Python: parameters, decorators, annotations, bases."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.new_code import (
    new_decorator,
    new_parameter,
    new_type,
)
from training.operations.python_places import checked, end_of_signature, some_function, with_lines
from training.python_text import parse_python
from training.spans import Replacement, indent_of, replace_spans, word_pattern
from training.words import word

__all__ = (
    "OPERATIONS",
    "add_base",
    "add_decorator",
    "add_parameter",
    "annotate_all",
    "annotate_parameter",
    "annotate_return",
)

PYTHON: Final = ("python",)


def add_parameter(passage: Passage, rng: Random) -> Edit | None:
    """Give a function one more parameter, behind the others."""
    parsed = parse_python(passage.text)
    function = some_function(parsed, rng)
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
    return checked(Edit("add_parameter", text, {"parameter": parameter, "function": function.name}))


def add_decorator(passage: Passage, rng: Random) -> Edit | None:
    """Decorate a function that has no decorator."""
    parsed = parse_python(passage.text)
    function = some_function(parsed, rng)
    if parsed is None or function is None or function.decorator_list:
        return None
    decorator = new_decorator(rng)
    if decorator in parsed.text:
        return None
    first, _ = parsed.line_span(function)
    text = with_lines(parsed, first, [indent_of(parsed.lines[first]) + decorator])
    shown = decorator if rng.random() < 0.8 else decorator[1:]
    return Edit("add_decorator", text, {"decorator": shown, "function": function.name})


def annotate_parameter(passage: Passage, rng: Random) -> Edit | None:
    """Annotate one parameter with a given type."""
    parsed = parse_python(passage.text)
    function = some_function(parsed, rng)
    if parsed is None or function is None:
        return None
    names = [one for one in function.args.args if one.annotation is None and one.arg not in ("self", "cls")]
    spaced = re.compile(r"\s*[,)]")
    names = [one for one in names if spaced.match(parsed.text, parsed.end(one))]
    if not names:
        return None
    argument, kind = rng.choice(names), new_type(rng)
    text = replace_spans(parsed.text, [Replacement(parsed.end(argument), parsed.end(argument), f": {kind}")])
    return checked(Edit("annotate_parameter", text, {"name": argument.arg, "type": kind, "function": function.name}))


def annotate_return(passage: Passage, rng: Random) -> Edit | None:
    """Annotate what a function returns."""
    parsed = parse_python(passage.text)
    function = some_function(parsed, rng)
    if parsed is None or function is None or function.returns is not None:
        return None
    body = end_of_signature(parsed, parsed.line_span(function.body[0])[0])
    head = parsed.text[: parsed.line_start(body)] if body is not None else ""
    colon = re.search(r"\)(:)[ \t]*\n$", head)
    if colon is None:
        return None
    kind = "None" if rng.random() < 0.25 else new_type(rng)
    text = replace_spans(parsed.text, [Replacement(colon.start(1), colon.start(1), f" -> {kind}")])
    return checked(Edit("annotate_return", text, {"type": kind, "function": function.name}))


def annotate_all(passage: Passage, rng: Random) -> Edit | None:
    """Annotate all parameters of a function, and what it returns."""
    parsed = parse_python(passage.text)
    function = some_function(parsed, rng)
    if parsed is None or function is None or function.returns is not None:
        return None
    names = [one for one in function.args.args if one.arg not in ("self", "cls")]
    body = end_of_signature(parsed, parsed.line_span(function.body[0])[0])
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
    return checked(Edit("annotate_all", text, {"listed": listed, "type": result, "function": function.name}))


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
    return checked(Edit("add_base", text, {"class": node.name, "base": base}))


OPERATIONS: Final = (
    Operation("add_parameter", add_parameter, PYTHON, 2.5, "def "),
    Operation("add_decorator", add_decorator, PYTHON, 1.2, "def "),
    Operation("annotate_parameter", annotate_parameter, PYTHON, 2, "def "),
    Operation("annotate_return", annotate_return, PYTHON, 2.5, "def "),
    Operation("annotate_all", annotate_all, PYTHON, 3, "def "),
    Operation("add_base", add_base, PYTHON, 0.5, "class "),
)
