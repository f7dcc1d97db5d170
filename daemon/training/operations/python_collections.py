"""Changes of lists, tuples, sets and dictionaries that a name is given, and of larger pieces of code."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.made_data import json_value
from training.new_code import new_function, new_parameter
from training.python_text import PythonText, parse_python
from training.spans import Replacement, indent_of, is_blank, replace_spans, word_pattern
from training.values import bare, new_literal, new_number
from training.words import snake, title_words

__all__ = (
    "OPERATIONS",
    "add_and_pass",
    "add_entry",
    "add_item",
    "extract_constant",
    "insert_function",
    "remove_item",
    "replace_function",
    "set_entry",
)

PYTHON: Final = ("python",)
_Collection = ast.List | ast.Tuple | ast.Set


def add_item(passage: Passage, rng: Random) -> Edit | None:
    """Add a string or number at the end of a list, tuple or set."""
    parsed = parse_python(passage.text)
    found = [] if parsed is None else _collections(parsed)
    if parsed is None or not found:
        return None
    name, node = rng.choice(found)
    last = parsed.source(node.elts[-1])
    item = _like(last, rng)
    if item is None or item in parsed.text:
        return None
    span = _behind(parsed, node.elts[-1], item)
    if span is None:
        return None
    return Edit(
        "py_add_item",
        replace_spans(parsed.text, [span]),
        {"item": bare(item) if rng.random() < 0.5 else item, "name": name},
    )


def remove_item(passage: Passage, rng: Random) -> Edit | None:
    """Remove an item of a list, tuple or set."""
    parsed = parse_python(passage.text)
    found = [] if parsed is None else [one for one in _collections(parsed) if len(one[1].elts) > 2]
    if parsed is None or not found:
        return None
    name, node = rng.choice(found)
    index = rng.randrange(len(node.elts))
    item = parsed.source(node.elts[index])
    if parsed.text[parsed.start(node) : parsed.end(node)].count(item) != 1:
        return None
    text = _without(parsed, list(node.elts), index)
    return (
        Edit("py_remove_item", text, {"item": bare(item) if rng.random() < 0.5 else item, "name": name})
        if text
        else None
    )


def add_entry(passage: Passage, rng: Random) -> Edit | None:
    """Add a key and its value at the end of a dictionary."""
    parsed = parse_python(passage.text)
    found = [] if parsed is None else _dictionaries(parsed)
    if parsed is None or not found:
        return None
    name, node = rng.choice(found)
    key = json.dumps(snake(title_words(rng, rng.choice((1, 2)))))
    if parsed.source(node.keys[-1] or node.values[-1])[0] == "'":
        key = f"'{key[1:-1]}'"
    value = _like(parsed.source(node.values[-1]), rng)
    if value is None or key in parsed.text:
        return None
    span = _behind(parsed, node.values[-1], f"{key}: {value}", first=node.keys[-1])
    if span is None:
        return None
    shown = rng.random() < 0.5
    words = {"key": bare(key) if shown else key, "value": bare(value) if shown else value, "name": name}
    return Edit("py_add_entry", replace_spans(parsed.text, [span]), words)


def set_entry(passage: Passage, rng: Random) -> Edit | None:
    """Give a key of a dictionary another value."""
    parsed = parse_python(passage.text)
    found = [] if parsed is None else _dictionaries(parsed)
    if parsed is None or not found:
        return None
    name, node = rng.choice(found)
    index = rng.randrange(len(node.values))
    key, value = node.keys[index], node.values[index]
    new = new_literal(parsed.source(value), rng)
    if new is None or not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        return None
    text = replace_spans(parsed.text, [Replacement(parsed.start(value), parsed.end(value), new)])
    shown = rng.random() < 0.6
    words = {"key": key.value, "new": bare(new) if shown else new, "name": name}
    return Edit("py_set_entry", text, words, {"old": bare(parsed.source(value)) if shown else parsed.source(value)})


def replace_function(passage: Passage, rng: Random) -> Edit | None:
    """Put given code in the place of a function of the top level."""
    parsed = parse_python(passage.text)
    if parsed is None or parsed.indent:
        return None
    functions = [node for node in parsed.tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list]
    functions = [node for node in functions if [one.name for one in parsed.functions()].count(node.name) == 1]
    if not functions:
        return None
    node = rng.choice(functions)
    first, last = parsed.line_span(node)
    code = re.sub(r"def \w+", f"def {node.name}", new_function(rng), count=1)
    text = "".join([*parsed.lines[:first], code, *parsed.lines[last:]])
    return (
        Edit("replace_function", text, {"name": node.name, "code": "\n" + code.rstrip("\n")})
        if parse_python(text)
        else None
    )


def insert_function(passage: Passage, rng: Random) -> Edit | None:
    """Add a given function before or after another one of the top level."""
    parsed = parse_python(passage.text)
    if parsed is None or parsed.indent:
        return None
    functions = [node for node in parsed.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    functions = [node for node in functions if [one.name for one in parsed.definitions()].count(node.name) == 1]
    if not functions:
        return None
    node = rng.choice(functions)
    first, last = parsed.line_span(node)
    code = new_function(rng)
    name = re.search(r"def (\w+)", code)
    if name is None or name[1] in parsed.text:
        return None
    after = rng.random() < 0.7
    if after:
        lines = [*parsed.lines[:last], "\n", "\n", code, *parsed.lines[last:]]
    elif first and not is_blank(parsed.lines[first - 1]):
        return None
    else:
        lines = [*parsed.lines[:first], code, "\n", "\n", *parsed.lines[first:]]
    slots = {"name": node.name, "code": "\n" + code.rstrip("\n")}
    return Edit("insert_function_after" if after else "insert_function_before", "".join(lines), slots)


def add_and_pass(passage: Passage, rng: Random) -> Edit | None:
    """Give a function one more parameter, and every call of it the argument."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    functions = [node for node in parsed.functions() if not parsed.is_method(node) and node.args.args]
    rng.shuffle(functions)
    for node in functions[:4]:
        arguments = node.args
        words = parsed.words(node.name)
        calls = [one for one in parsed.nodes if isinstance(one, ast.Call) and getattr(one.func, "id", "") == node.name]
        plain = not (arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults)
        if not calls or not plain or len(words) != len(calls) + 1 or any(one.keywords or not one.args for one in calls):
            continue
        name = new_parameter(rng, with_default=False, annotated=False).split("=")[0]
        value = rng.choice((name, name, "None", str(rng.randint(0, 9))))
        ends = [parsed.end(arguments.args[-1]), *(parsed.end(one.args[-1]) for one in calls)]
        if word_pattern(name).search(parsed.text) or any(parsed.text[end] != ")" for end in ends):
            continue
        spans = [Replacement(ends[0], ends[0], f", {name}"), *(Replacement(end, end, f", {value}") for end in ends[1:])]
        text = _spliced(parsed.text, spans)
        if text is not None and parse_python(text):
            return Edit("add_and_pass", text, {"name": name, "function": node.name, "value": value})
    return None


def extract_constant(passage: Passage, rng: Random) -> Edit | None:
    """Name a number that functions use, by a constant behind the imports."""
    parsed = parse_python(passage.text)
    if parsed is None or parsed.indent:
        return None
    imports = [node for node in parsed.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    numbers = [
        node for node in parsed.nodes if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 2
    ]
    numbers = [node for node in numbers if parsed.source(node).isdigit()]
    if not imports or not numbers:
        return None
    source = parsed.source(rng.choice(numbers))
    uses = [node for node in numbers if parsed.source(node) == source]
    head = parsed.line_span(imports[-1])[1]
    everywhere = len(re.findall(rf"(?<![\w.]){source}(?![\w.])", parsed.text))
    if (
        everywhere != len(uses)
        or any(node.lineno <= head for node in uses)
        or not is_blank((parsed.lines[head:] or ["x"])[0])
    ):
        return None
    name = snake(title_words(rng, 2)).upper()
    if name in parsed.text:
        return None
    spans = [Replacement(parsed.start(node), parsed.end(node), name) for node in uses]
    lines = replace_spans(parsed.text, spans).splitlines(keepends=True)
    text = "".join([*lines[:head], "\n", f"{name} = {source}\n", *lines[head:]])
    return Edit("extract_constant", text, {"value": source, "name": name}) if parse_python(text) else None


def _collections(parsed: PythonText) -> list[tuple[str, _Collection]]:
    """Return the collections of strings or numbers that one name is given."""
    found = []
    for node in parsed.nodes:
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.value, ast.List | ast.Tuple | ast.Set)
        ):
            name = parsed.source(node.targets[0])
            same = all(isinstance(one, ast.Constant) and isinstance(one.value, str | int) for one in node.value.elts)
            if re.fullmatch(r"[\w.]+", name) and same and len(node.value.elts) > 1:
                found.append((name, node.value))
    given = Counter(
        parsed.source(target) for node in parsed.nodes if isinstance(node, ast.Assign) for target in node.targets
    )
    return [one for one in found if given[one[0]] == 1]


def _dictionaries(parsed: PythonText) -> list[tuple[str, ast.Dict]]:
    """Return the dictionaries of plain values that one name is given."""
    found = []
    for node in parsed.nodes:
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.value, ast.Dict)
            and node.value.keys
        ):
            name = parsed.source(node.targets[0])
            plain = all(isinstance(one, ast.Constant) for one in (*node.value.keys, *node.value.values))
            if re.fullmatch(r"[\w.]+", name) and plain:
                found.append((name, node.value))
    return [one for one in found if [other[0] for other in found].count(one[0]) == 1]


def _behind(parsed: PythonText, last: ast.expr, item: str, first: ast.expr | None = None) -> Replacement | None:
    """Add an item behind the last one, on a line of its own if the last one has its line for itself."""
    end = parsed.end(last)
    tail = re.compile(r"(,?)\s*[\])}]").match(parsed.text, end)
    if tail is None:
        return None
    if "\n" not in tail[0]:
        return None if tail[1] else Replacement(end, end, f", {item}")
    start = parsed.start(first or last)
    line_start = parsed.text.rfind("\n", 0, start) + 1
    if not tail[1] or parsed.text[line_start:start].strip():
        return None
    return Replacement(end + 1, end + 1, f"\n{indent_of(parsed.text[line_start:])}{item},")


def _without(parsed: PythonText, nodes: list[ast.expr], index: int) -> str | None:
    """Remove an item, its comma, and its line if it has one for itself."""
    text = parsed.text
    start, end = parsed.start(nodes[index]), parsed.end(nodes[index])
    line_start, line_end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    if not text[line_start:start].strip() and text[end:line_end] == ",":
        return text[:line_start] + text[line_end + 1 :]
    if index + 1 < len(nodes):
        following = parsed.start(nodes[index + 1])
        return text[:start] + text[following:] if "\n" not in text[start:following] else None
    before = parsed.end(nodes[index - 1])
    return text[:before] + text[end:] if "\n" not in text[before:end] else None


def _like(source: str, rng: Random) -> str | None:
    if re.fullmatch(r"\d+", source):
        return new_number(source, rng)
    if re.fullmatch(r"'[^'\\]+'|\"[^\"\\]+\"", source):
        return source[0] + json_value(source[1:-1], rng) + source[0]
    return new_literal(source, rng)


def _spliced(text: str, spans: list[Replacement]) -> str | None:
    try:
        return replace_spans(text, spans)
    except ValueError:  # a call in a call
        return None


OPERATIONS: Final = (
    Operation("py_add_item", add_item, PYTHON, 2.5),
    Operation("py_remove_item", remove_item, PYTHON, 2),
    Operation("py_add_entry", add_entry, PYTHON, 2.5),
    Operation("py_set_entry", set_entry, PYTHON, 2),
    Operation("replace_function", replace_function, PYTHON, 0.4, "def "),
    Operation(
        "insert_function",
        insert_function,
        PYTHON,
        0.8,
        "def ",
        makes=("insert_function_after", "insert_function_before"),
    ),
    Operation("add_and_pass", add_and_pass, PYTHON, 0.4, "def "),
    Operation("extract_constant", extract_constant, PYTHON, 0.6, "import "),
)
