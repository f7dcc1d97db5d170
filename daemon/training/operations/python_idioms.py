"""Python said the long way, for the answer to say it the usual way: membership, emptiness, truth, types, loops."""

from __future__ import annotations

import ast
import re
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.python_text import PythonText, parse_python
from training.spans import Replacement, indent_of, replace_spans

__all__ = (
    "OPERATIONS",
    "comprehension",
    "empty_check",
    "not_in",
    "open_with",
    "truth_check",
    "type_check",
)

PYTHON: Final = ("python",)


def not_in(passage: Passage, _rng: Random) -> Edit | None:
    """Turn `not a in b` into `a not in b`."""
    parsed = parse_python(passage.text)
    if parsed is None or re.search(r"\bnot [\w.\"']+ in\b", passage.text):
        return None
    spans = []
    for node in parsed.nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.NotIn):
            left, right = parsed.source(node.left), parsed.source(node.comparators[0])
            if parsed.source(node) == f"{left} not in {right}" and isinstance(
                node.left, ast.Name | ast.Constant | ast.Attribute
            ):
                spans.append(Replacement(parsed.start(node), parsed.end(node), f"not {left} in {right}"))
    return _prepared(parsed, spans, "not_in")


def empty_check(passage: Passage, _rng: Random) -> Edit | None:
    """Turn `len(a) == 0` into `not a`."""
    parsed = parse_python(passage.text)
    if parsed is None or re.search(r"\blen\([\w.]+\) (?:==|>|!=) 0", passage.text):
        return None
    spans = []
    for node in parsed.nodes:
        if (
            isinstance(node, ast.If | ast.While)
            and isinstance(node.test, ast.UnaryOp)
            and isinstance(node.test.op, ast.Not)
        ):
            operand = node.test.operand
            if isinstance(operand, ast.Name) and operand.id.endswith("s"):
                spans.append(Replacement(parsed.start(node.test), parsed.end(node.test), f"len({operand.id}) == 0"))
    return _prepared(parsed, spans, "empty_check")


def truth_check(passage: Passage, _rng: Random) -> Edit | None:
    """Turn `a == True` into `a`, and `a == False` into `not a`."""
    parsed = parse_python(passage.text)
    if parsed is None or re.search(r"[=!]= (?:True|False)", passage.text):
        return None
    spans = []
    for node in parsed.nodes:
        if not isinstance(node, ast.If | ast.While) or node.test.lineno != node.test.end_lineno:
            continue
        test = node.test
        if isinstance(test, ast.Name | ast.Attribute):
            spans.append(Replacement(parsed.end(test), parsed.end(test), " == True"))
        elif (
            isinstance(test, ast.UnaryOp)
            and isinstance(test.op, ast.Not)
            and isinstance(test.operand, ast.Name | ast.Attribute)
        ):
            spans.append(Replacement(parsed.start(test), parsed.end(test), f"{parsed.source(test.operand)} == False"))
    return _prepared(parsed, spans, "truth_check")


def type_check(passage: Passage, _rng: Random) -> Edit | None:
    """Turn `type(a) == b` into `isinstance(a, b)`."""
    parsed = parse_python(passage.text)
    if parsed is None or "type(" in passage.text:
        return None
    spans = []
    for node in parsed.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "isinstance"
            and len(node.args) == 2
        ):
            value, kind = (parsed.source(one) for one in node.args)
            above = parsed.parent(node)
            is_test = isinstance(above, ast.If | ast.BoolOp | ast.Assert | ast.Return)
            if re.fullmatch(r"[\w.]+", kind) and is_test and parsed.source(node) == f"isinstance({value}, {kind})":
                spans.append(Replacement(parsed.start(node), parsed.end(node), f"type({value}) == {kind}"))
    return _prepared(parsed, spans, "type_check")


def comprehension(passage: Passage, _rng: Random) -> Edit | None:
    """Turn a loop that appends into a list comprehension."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    assigns = [node for node in parsed.nodes if isinstance(node, ast.Assign) and len(node.targets) == 1]
    found = [
        (node, node.value)
        for node in assigns
        if isinstance(node.value, ast.ListComp) and len(node.value.generators) == 1 and node.lineno == node.end_lineno
    ]
    if len(found) != 1 or ".append(" in passage.text:
        return None
    node, value = found[0]
    target, loop = parsed.source(node.targets[0]), value.generators[0]
    first, last = parsed.line_span(node)
    if (
        not re.fullmatch(r"\w+", target)
        or len(loop.ifs) > 1
        or loop.is_async
        or parsed.lines[first].strip() != parsed.source(node)
    ):
        return None
    indent = indent_of(parsed.lines[first])
    lines = [f"{target} = []", f"for {parsed.source(loop.target)} in {parsed.source(loop.iter)}:"]
    depth = "    "
    if loop.ifs:
        lines.append(f"{depth}if {parsed.source(loop.ifs[0])}:")
        depth += "    "
    lines.append(f"{depth}{target}.append({parsed.source(value.elt)})")
    shown = "".join([*parsed.lines[:first], *(f"{indent}{line}\n" for line in lines), *parsed.lines[last:]])
    return Edit("comprehension", passage.text, {}, {"name": target}, shown=shown) if parse_python(shown) else None


def open_with(passage: Passage, _rng: Random) -> Edit | None:
    """Turn `f = open(...)` and `f.close()` into a `with` statement."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = [node for node in parsed.nodes if isinstance(node, ast.With) and len(node.items) == 1]
    found = [node for node in found if parsed.source(node.items[0].context_expr).startswith("open(")]
    if len(found) != 1 or ".close()" in passage.text:
        return None
    node = found[0]
    name = node.items[0].optional_vars
    first, last = parsed.line_span(node)
    body = parsed.line_span(node.body[0])[0]
    leaves = any(isinstance(one, ast.Return | ast.Break | ast.Continue | ast.Raise) for one in ast.walk(node))
    if not isinstance(name, ast.Name) or leaves or body != first + 1 or parsed.has_long_strings(first, last):
        return None
    indent = indent_of(parsed.lines[first])
    unit = indent_of(parsed.lines[body])[len(indent) :]
    moved = [line.replace(unit, "", 1) if line.strip() else line for line in parsed.lines[body:last]]
    lines = [
        f"{indent}{name.id} = {parsed.source(node.items[0].context_expr)}\n",
        *moved,
        f"{indent}{name.id}.close()\n",
    ]
    shown = "".join([*parsed.lines[:first], *lines, *parsed.lines[last:]])
    return Edit("open_with", passage.text, {}, {"name": name.id}, shown=shown) if parse_python(shown) else None


def _prepared(parsed: PythonText, spans: list[Replacement], kind: str) -> Edit | None:
    if not spans:
        return None
    try:
        shown = replace_spans(parsed.text, spans)
    except ValueError:  # one in another
        return None
    return Edit(kind, parsed.text, shown=shown) if parse_python(shown) else None


OPERATIONS: Final = (
    Operation("not_in", not_in, PYTHON, 0.3, "not in"),
    Operation("empty_check", empty_check, PYTHON, 0.3, "not "),
    Operation("truth_check", truth_check, PYTHON, 0.3),
    Operation("type_check", type_check, PYTHON, 0.3, "isinstance("),
    Operation("comprehension", comprehension, PYTHON, 0.6, " for "),
    Operation("open_with", open_with, PYTHON, 0.5, "with open("),
)
