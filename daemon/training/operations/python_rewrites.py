"""Rewrites of Python that mean the same, or change how something is done: quotes, f-strings, wraps, order."""

from __future__ import annotations

import ast
import itertools
import re
import tokenize
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.injected import with_prints
from training.python_text import PythonText, parse_python
from training.spans import Replacement, indent_of, is_blank, replace_spans
from training.words import word

__all__ = (
    "OPERATIONS",
    "augment",
    "change_quotes",
    "drop_else",
    "make_async",
    "modern_super",
    "none_comparison",
    "print_to_logging",
    "sort_collection",
    "sort_imports",
    "swap_functions",
    "to_f_string",
    "wrap_statement",
)

PYTHON: Final = ("python",)
MAX_ANCHOR: Final = 70
_ERRORS: Final = ("Exception", "ValueError", "OSError", "KeyError", "TypeError", "RuntimeError")
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


def wrap_statement(passage: Passage, rng: Random) -> Edit | None:
    """Wrap a line, or the whole body of a function, in `try`, `with` or `if`."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    if rng.random() < 0.3:
        return _wrap_body(parsed, rng)
    anchors = []
    for body in parsed.bodies():
        for node in body:
            source = parsed.source(node) if node.lineno == node.end_lineno else ""
            first, _ = parsed.line_span(node)
            simple = isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.Return) and not isinstance(
                getattr(node, "value", None), ast.Constant
            )
            if (
                simple
                and 6 < len(source) < MAX_ANCHOR
                and parsed.lines[first].strip() == source
                and parsed.text.count(source) == 1
            ):
                anchors.append((first, source))
    if not anchors:
        return None
    first, source = rng.choice(anchors)
    indent = indent_of(parsed.lines[first])
    unit = "\t" if "\t" in indent else "    "
    kind, head, tail, slots = _wrapper(rng)
    lines = [
        f"{indent}{head}\n",
        unit + parsed.lines[first],
        *(f"{indent if index % 2 == 0 else indent + unit}{line}\n" for index, line in enumerate(tail)),
    ]
    text = "".join([*parsed.lines[:first], *lines, *parsed.lines[first + 1 :]])
    return Edit(kind, text, {"line": source, **slots}) if parse_python(text) else None


def sort_imports(passage: Passage, rng: Random) -> Edit | None:
    """Sort the plain imports, which the text is given in another order."""
    parsed = parse_python(passage.text)
    if parsed is None or parsed.indent:
        return None
    for style in ("import ", "from "):
        indexes = [
            node.lineno - 1
            for node in parsed.tree.body
            if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno == node.end_lineno
        ]
        indexes = [index for index in indexes if parsed.lines[index].startswith(style)]
        others = [index for index, line in enumerate(parsed.lines) if re.match(r"(?:import|from) ", line)]
        if len(indexes) < 3 or indexes != others or indexes != list(range(indexes[0], indexes[0] + len(indexes))):
            continue
        block = [parsed.lines[index] for index in indexes]
        shown = list(block)
        rng.shuffle(shown)
        right = sorted(block, key=lambda line: line.split()[1])
        if shown == right or len({line.split()[1] for line in block}) < len(block):
            continue
        rest = (parsed.lines[: indexes[0]], parsed.lines[indexes[-1] + 1 :])
        return Edit("sort_imports", "".join([*rest[0], *right, *rest[1]]), shown="".join([*rest[0], *shown, *rest[1]]))
    return None


def sort_collection(passage: Passage, rng: Random) -> Edit | None:
    """Sort the strings of a list, tuple or set, or the keys of a dictionary, that a name is given."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = []
    for node in parsed.nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value
            if (
                isinstance(value, ast.List | ast.Tuple | ast.Set)
                and len(value.elts) > 2
                and all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in value.elts)
            ):
                found.append(
                    (
                        node.targets[0].id,
                        list(value.elts),
                        [str(one.value) for one in value.elts if isinstance(one, ast.Constant)],
                    )
                )
    if not found:
        return None
    name, nodes, values = rng.choice(found)
    if (
        len({value[:1].islower() for value in values}) > 1
        or "#" in parsed.text[parsed.start(nodes[0]) : parsed.end(nodes[-1])]
    ):
        return None
    order = sorted(range(len(values)), key=lambda index: values[index])
    sources = [parsed.source(one) for one in nodes]
    spans = [
        Replacement(parsed.start(one), parsed.end(one), sources[place]) for one, place in zip(nodes, order, strict=True)
    ]
    text = replace_spans(parsed.text, spans)
    if sum(other[0] == name for other in found) > 1:
        return None
    if text == parsed.text:
        shuffled = list(range(len(values)))
        rng.shuffle(shuffled)
        spans = [
            Replacement(parsed.start(one), parsed.end(one), sources[place])
            for one, place in zip(nodes, shuffled, strict=True)
        ]
        return Edit("sort_collection", parsed.text, {"name": name}, shown=replace_spans(parsed.text, spans))
    return Edit("sort_collection", text, {"name": name})


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
    if isinstance(node, ast.FunctionDef):
        return Edit("make_async", parsed.text[:at] + "async " + parsed.text[at:], {"function": node.name})
    if any(isinstance(one, ast.Await | ast.AsyncFor | ast.AsyncWith) for one in ast.walk(node)):
        return None
    return Edit(
        "make_sync", parsed.text[:at] + parsed.text[at:].removeprefix("async ").lstrip(" "), {"function": node.name}
    )


def swap_functions(passage: Passage, rng: Random) -> Edit | None:
    """Swap two neighbouring functions or methods."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    pairs = []
    for body in parsed.bodies():
        for one, two in itertools.pairwise(body):
            if isinstance(one, ast.FunctionDef) and isinstance(two, ast.FunctionDef) and one.name != two.name:
                pairs.append((one, two))
    if not pairs:
        return None
    one, two = rng.choice(pairs)
    first, second = parsed.line_span(one), parsed.line_span(two)
    between = parsed.lines[first[1] : second[0]]
    names = [node.name for node in parsed.functions()]
    if any(not is_blank(line) for line in between) or names.count(one.name) > 1 or names.count(two.name) > 1:
        return None
    if first[0] and parsed.lines[first[0] - 1].lstrip().startswith("#"):
        return None
    lines = [
        *parsed.lines[: first[0]],
        *parsed.lines[second[0] : second[1]],
        *between,
        *parsed.lines[first[0] : first[1]],
        *parsed.lines[second[1] :],
    ]
    return Edit("swap_functions", "".join(lines), {"one": one.name, "two": two.name})


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


def _wrapper(rng: Random) -> tuple[str, str, list[str], dict[str, str]]:
    """Return the kind, the head, the lines behind (in turn outside and inside), and the slots of a wrapper."""
    draw = rng.random()
    if draw < 0.55:
        error = rng.choice(_ERRORS)
        action = rng.choice(("pass", "pass", "return None", "raise", f'print("{word(rng)} failed")'))
        return "wrap_try", "try:", [f"except {error}:", action], {"error": error, "action": action}
    if draw < 0.8:
        test = rng.choice(
            (
                f"{word(rng)} is not None",
                f"not {word(rng)}",
                word(rng),
                f"self.{word(rng)}",
                "DEBUG",
                f"{word(rng)} > {rng.randint(0, 9)}",
            )
        )
        return "wrap_if", f"if {test}:", [], {"condition": test}
    manager = rng.choice(
        (
            "self.lock",
            "lock",
            "suppress(KeyError)",
            "open_session()",
            "timer()",
            "transaction.atomic()",
            "contextlib.suppress(OSError)",
        )
    )
    return "wrap_with", f"with {manager}:", [], {"manager": manager}


def _wrap_body(parsed: PythonText, rng: Random) -> Edit | None:
    """Wrap the whole body of a function, behind its docstring, in `try`."""
    functions = [node for node in parsed.functions() if sum(one.name == node.name for one in parsed.functions()) == 1]
    if not functions:
        return None
    node = rng.choice(functions)
    body = node.body[1:] if parsed.docstring(node) else node.body
    if not body or len(node.body) > 8 or body[0].lineno == node.lineno:
        return None
    first, last = parsed.line_span(body[0])[0], parsed.line_span(body[-1])[1]
    block = parsed.lines[first:last]
    indent = indent_of(block[0])
    if parsed.has_long_strings(first, last) or parsed.lines[first - 1].lstrip().startswith("#") or "\t" in indent:
        return None
    error = rng.choice(_ERRORS)
    action = rng.choice(("pass", "return None", "raise", "return False"))
    inner = [line if is_blank(line) else "    " + line for line in block]
    lines = [f"{indent}try:\n", *inner, f"{indent}except {error}:\n", f"{indent}    {action}\n"]
    text = "".join([*parsed.lines[:first], *lines, *parsed.lines[last:]])
    return (
        Edit("wrap_body_try", text, {"function": node.name, "error": error, "action": action})
        if parse_python(text)
        else None
    )


OPERATIONS: Final = (
    Operation("quotes", change_quotes, PYTHON, 2, makes=("single_quotes", "double_quotes")),
    Operation("is_none", none_comparison, PYTHON, 1, "None"),
    Operation("print_to_logging", print_to_logging, PYTHON, 1.2),
    Operation("to_f_string", to_f_string, PYTHON, 1.5),
    Operation(
        "wrap_statement", wrap_statement, PYTHON, 2.5, makes=("wrap_try", "wrap_if", "wrap_with", "wrap_body_try")
    ),
    Operation("sort_imports", sort_imports, PYTHON, 1, "import "),
    Operation("sort_collection", sort_collection, PYTHON, 1),
    Operation("make_async", make_async, PYTHON, 1, "def ", makes=("make_async", "make_sync")),
    Operation("swap_functions", swap_functions, PYTHON, 1, "def "),
    Operation("drop_else", drop_else, PYTHON, 0.7, "else:"),
    Operation("augment", augment, PYTHON, 0.7),
    Operation("modern_super", modern_super, PYTHON, 0.6, "super("),
)
