"""Rewrites of Python that mean nearly the same: quotes, f-strings, logging, the short forms."""

from __future__ import annotations

import ast
import re
import tokenize
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.injected import with_prints
from training.python_text import PythonText, parse_python
from training.spans import Replacement, indent_of, is_blank, replace_spans

__all__ = (
    "OPERATIONS",
    "augment",
    "change_quotes",
    "drop_else",
    "make_async",
    "modern_super",
    "none_comparison",
    "print_to_logging",
    "to_f_string",
)

PYTHON: Final = ("python",)
_LEVELS: Final = ("info", "info", "debug", "warning")


def change_quotes(passage: Passage, _rng: Random) -> Edit | None:
    """Use the other kind of quotes for every plain string; docstrings and strings that hold quotes make it unfit."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    spans, marks = [], set()
    for kind, string, start, end in parsed.tokens():
        if kind != tokenize.STRING:
            if kind == getattr(tokenize, "FSTRING_START", -1):
                return None
            continue
        match = re.fullmatch(r"([bBrRuU]{0,2})(['\"])((?!\2\2)[^'\"\\\n]*)\2", string)
        if match is None:
            if string.startswith(('"""', "'''")):
                continue
            return None
        marks.add(match[2])
        spans.append(
            Replacement(
                start, end, match[1] + ("'" if match[2] == '"' else '"') + match[3] + ("'" if match[2] == '"' else '"')
            )
        )
    if len(marks) != 1:
        return None
    new = "'" if marks == {'"'} else '"'
    return Edit("double_quotes" if new == '"' else "single_quotes", replace_spans(parsed.text, spans))


def none_comparison(passage: Passage, _rng: Random) -> Edit | None:
    """Compare with `None` by `is`, which the text is made to lack."""
    parsed = parse_python(passage.text)
    if parsed is None or re.search(r"[!=]= None", passage.text):
        return None
    shown = passage.text
    spans = []
    for node in parsed.nodes:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot):
            right = node.comparators[0]
            start, end = parsed.end(node.left), parsed.start(right) if isinstance(right, ast.Constant) else -1
            if isinstance(right, ast.Constant) and right.value is None and shown[start:end] in (" is ", " is not "):
                spans.append(Replacement(start, end, " == " if isinstance(node.ops[0], ast.Is) else " != "))
    if not spans:
        return None
    shown = replace_spans(passage.text, spans)
    return Edit("is_none", passage.text, shown=shown) if parse_python(shown) else None


def print_to_logging(passage: Passage, rng: Random) -> Edit | None:
    """Log what was printed; a text that prints nothing is given something before."""
    parsed = parse_python(passage.text)
    shown = None
    if parsed is not None and "print" not in passage.text:
        shown = with_prints(parsed, rng)
        parsed = parse_python(shown) if shown else None
    if parsed is None:
        return None
    calls = [
        node
        for node in parsed.nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    if not calls or any(
        len(node.args) != 1 or node.keywords or not isinstance(parsed.parent(node), ast.Expr) for node in calls
    ):
        return None
    logger = rng.choice(("logger", "logging", "log"))
    level = rng.choice(_LEVELS)
    if "print" in re.sub(r"\bprint\(", "", parsed.text):
        return None
    spans = [Replacement(parsed.start(node), parsed.start(node) + len("print"), f"{logger}.{level}") for node in calls]
    return Edit("print_to_logging", replace_spans(parsed.text, spans), {"call": f"{logger}.{level}"}, shown=shown)


def to_f_string(passage: Passage, _rng: Random) -> Edit | None:
    """Write every `%` and `.format` with plain arguments as an f-string, which f-strings are turned into before."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    spans, n_percent = [], 0
    for node in parsed.nodes:
        new = None
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Mod)
            and isinstance(node.left, ast.Constant)
            and isinstance(node.left.value, str)
        ):
            arguments = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
            new = _formatted(parsed, node.left, arguments, "%s")
            n_percent += 1
            if not isinstance(node.right, ast.Tuple | ast.Name | ast.Attribute):
                new = None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            if not isinstance(node.func.value, ast.Constant) or node.keywords:
                return None
            new = _formatted(parsed, node.func.value, node.args, "{}")
        else:
            continue
        if new is None or node.lineno != node.end_lineno:
            return None
        spans.append(Replacement(parsed.start(node), parsed.end(node), new))
    if not spans:
        return _from_f_strings(parsed)
    text = replace_spans(parsed.text, spans)
    return Edit("to_f_string", text, {}, {"old": "%" if n_percent else ".format"}) if parse_python(text) else None


def make_async(passage: Passage, rng: Random) -> Edit | None:
    """Make a function async, or no longer."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    functions = [node for node in parsed.functions() if sum(one.name == node.name for one in parsed.functions()) == 1]
    if not functions:
        return None
    coroutines = [node for node in functions if isinstance(node, ast.AsyncFunctionDef)]
    node = rng.choice(coroutines if coroutines and rng.random() < 0.8 else functions)
    at = parsed.start(node)
    if isinstance(node, ast.FunctionDef) and rng.random() < 0.3:
        shown = parsed.text[:at] + "async " + parsed.text[at:]
        return Edit("make_sync", parsed.text, {"function": node.name}, shown=shown)
    if isinstance(node, ast.FunctionDef):
        return Edit("make_async", parsed.text[:at] + "async " + parsed.text[at:], {"function": node.name})
    if any(isinstance(one, ast.Await | ast.AsyncFor | ast.AsyncWith) for one in ast.walk(node)):
        return None
    return Edit(
        "make_sync", parsed.text[:at] + parsed.text[at:].removeprefix("async ").lstrip(" "), {"function": node.name}
    )


def drop_else(passage: Passage, _rng: Random) -> Edit | None:
    """Take the `else` away behind an `if` that returns."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    branches = [node for node in parsed.nodes if isinstance(node, ast.If) and node.orelse]
    found = [node for node in branches if isinstance(node.body[-1], ast.Return | ast.Raise)]
    found = [node for node in found if not isinstance(node.orelse[0], ast.If)]
    if len(found) != 1:
        return None
    node = found[0]
    first, last = parsed.line_span(node.orelse[0])[0], parsed.line_span(node.orelse[-1])[1]
    head = first - 1
    indent = indent_of(parsed.lines[head])
    unit = indent_of(parsed.lines[first])[len(indent) :]
    if parsed.lines[head].strip() != "else:" or not unit or parsed.has_long_strings(first, last):
        return None
    moved = [line if is_blank(line) else line.replace(unit, "", 1) for line in parsed.lines[first:last]]
    text = "".join([*parsed.lines[:head], *moved, *parsed.lines[last:]])
    above = parsed.parent(node)
    function = above.name if isinstance(above, ast.FunctionDef) else None
    return Edit("drop_else", text, {}, {"function": function} if function else {}) if parse_python(text) else None


def augment(passage: Passage, rng: Random) -> Edit | None:
    """Write `x = x + 1` as `x += 1`, which the text is made to lack."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = [node for node in parsed.nodes if isinstance(node, ast.AugAssign) and node.lineno == node.end_lineno]
    if not found:
        return None
    node = rng.choice(found)
    target, source = parsed.source(node.target), parsed.source(node)
    match = re.fullmatch(rf"{re.escape(target)} (\+|-|\*|/)= (.+)", source)
    if match is None or isinstance(node.value, ast.BinOp | ast.IfExp | ast.BoolOp | ast.Compare | ast.Lambda):
        return None
    long = f"{target} = {target} {match[1]} {match[2]}"
    shown = replace_spans(parsed.text, [Replacement(parsed.start(node), parsed.end(node), long)])
    return Edit("augment", parsed.text, {"name": target, "operator": f"{match[1]}="}, {"old": long}, shown=shown)


def modern_super(passage: Passage, _rng: Random) -> Edit | None:
    """Write `super(Name, self)` as `super()`, where the text has the long form or can be given it."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    if re.search(r"super\(\w+, self\)", passage.text):
        return Edit("modern_super", re.sub(r"super\(\w+, self\)", "super()", passage.text))
    spans: list[Replacement] = []
    for owner in parsed.classes():
        calls = [node for node in ast.walk(owner) if isinstance(node, ast.Call) and not node.args]
        spans += [
            Replacement(parsed.start(node), parsed.end(node), f"super({owner.name}, self)")
            for node in calls
            if isinstance(node.func, ast.Name) and node.func.id == "super"
        ]
    if not spans or len({one.start for one in spans}) < len(spans):
        return None
    return Edit("modern_super", passage.text, shown=replace_spans(parsed.text, spans))


def _from_f_strings(parsed: PythonText) -> Edit | None:
    """Write the f-strings as `.format`, for the answer to turn them back."""
    spans = []
    for node in parsed.nodes:
        if (
            not isinstance(node, ast.JoinedStr)
            or node.lineno != node.end_lineno
            or isinstance(parsed.parent(node), ast.JoinedStr | ast.FormattedValue)
        ):
            continue
        source = parsed.source(node)
        match = re.fullmatch(r"f(['\"])((?:[^'\"\\{}]|\{[\w.]+\})*)\1", source)
        values = re.findall(r"\{([\w.]+)\}", source)
        if match is None or not values:
            return None
        spans.append(
            Replacement(
                parsed.start(node),
                parsed.end(node),
                re.sub(r"\{[\w.]+\}", "{}", source[1:]) + f".format({', '.join(values)})",
            )
        )
    if not 0 < len(spans) < 6:
        return None
    shown = replace_spans(parsed.text, spans)
    return Edit("to_f_string", parsed.text, {}, {"old": ".format"}, shown=shown) if parse_python(shown) else None


def _formatted(parsed: PythonText, literal: ast.Constant, arguments: list[ast.expr], mark: str) -> str | None:
    source = parsed.source(literal)
    if source[:1] not in "'\"" or source.startswith(("'''", '"""')) or "\\" in source:
        return None
    values = [parsed.source(one) for one in arguments]
    if source.count(mark) != len(values) or any(not re.fullmatch(r"[\w.]+(?:\(\))?", value) for value in values):
        return None
    bare = source.replace(mark, "")
    if "{" in bare or "}" in bare or "%" in bare:
        return None
    parts = source.split(mark)
    return "f" + "".join(f"{part}{{{value}}}" for part, value in zip(parts, values, strict=False)) + parts[-1]


OPERATIONS: Final = (
    Operation("quotes", change_quotes, PYTHON, 2, makes=("single_quotes", "double_quotes")),
    Operation("is_none", none_comparison, PYTHON, 1, "None"),
    Operation("print_to_logging", print_to_logging, PYTHON, 1.2),
    Operation("to_f_string", to_f_string, PYTHON, 6),
    Operation("make_async", make_async, PYTHON, 1, "def ", makes=("make_async", "make_sync")),
    Operation("drop_else", drop_else, PYTHON, 0.3, "else:"),
    Operation("augment", augment, PYTHON, 0.3),
    Operation("modern_super", modern_super, PYTHON, 0.3, "super("),
)
