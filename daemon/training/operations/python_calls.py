"""Changes of defaults and of arguments of calls in Python."""

from __future__ import annotations

import ast
import re
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.operations.python_expressions import fits, is_single, put
from training.python_text import PythonText, parse_python
from training.spans import Replacement, replace_spans
from training.values import new_keyword, new_literal

__all__ = (
    "OPERATIONS",
    "add_argument",
    "change_argument",
    "change_default",
    "remove_argument",
)

PYTHON: Final = ("python",)
MAX_SHOWN: Final = 60


def change_default(passage: Passage, rng: Random) -> Edit | None:
    """Give a parameter another default."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = []
    for function in parsed.functions():
        arguments = function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = list(zip(reversed(positional), reversed(arguments.defaults), strict=False))
        pairs += [
            (one, default) for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default
        ]
        found += [(function, one.arg, default) for one, default in pairs if isinstance(default, ast.Constant)]
    found = [one for one in found if fits(parsed, one[2])]
    if not found:
        return None
    function, name, default = rng.choice(found)
    if sum(one.name == function.name for one in parsed.functions()) > 1:
        return None
    old = parsed.source(default)
    new = new_literal(old, rng)
    if new is None:
        return None
    slots, hints = {"name": name, "new": new}, {"function": function.name, "old": old}
    if sum(one[1] == name for one in found) > 1 or len(parsed.functions()) > 3:
        slots["function"] = hints.pop("function")
    return Edit("change_default", put(parsed, default, new), slots, hints)


def change_argument(passage: Passage, rng: Random) -> Edit | None:
    """Pass another value for a keyword argument."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    calls = _calls(parsed)
    found = [
        (name, keyword)
        for name, call in calls
        for keyword in call.keywords
        if keyword.arg and isinstance(keyword.value, ast.Constant) and fits(parsed, keyword.value)
    ]
    if not found:
        return None
    name, keyword = rng.choice(found)
    old = parsed.source(keyword.value)
    new = new_literal(old, rng)
    if new is None or keyword.arg is None:
        return None
    same = [other for _, other in found if other.arg == keyword.arg]
    slots, hints = {"name": keyword.arg, "new": new}, {"call": name, "old": old}
    if len(same) > 1 or rng.random() < 0.4:
        slots["call"] = hints.pop("call")
        if sum(other == name for other, _ in calls) > 1:
            return None
    return Edit("change_argument", put(parsed, keyword.value, new), slots, hints)


def add_argument(passage: Passage, rng: Random) -> Edit | None:
    """Pass one more keyword argument to a call that the text has once."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    calls = _calls(parsed)
    unique = [
        (name, call)
        for name, call in calls
        if sum(other == name for other, _ in calls) == 1
        and all(keyword.arg for keyword in call.keywords)
        and is_single(call)
    ]
    unique = [
        (name, call)
        for name, call in unique
        if not any(isinstance(one, ast.GeneratorExp | ast.Starred) for one in call.args)
    ]
    if not unique:
        return None
    name, call = rng.choice(unique)
    keyword = new_keyword(rng)
    end = parsed.end(call) - 1
    if any(one.arg == keyword.split("=")[0] for one in call.keywords) or parsed.text[end - 1] in ", ":
        return None
    joint = ", " if call.args or call.keywords else ""
    text = replace_spans(parsed.text, [Replacement(end, end, joint + keyword)])
    argument, value = keyword.split("=", 1)
    return Edit(
        "add_argument",
        text,
        {"argument": keyword, "call": name} if rng.random() < 0.6 else {"name": argument, "value": value, "call": name},
    )


def remove_argument(passage: Passage, rng: Random) -> Edit | None:
    """Pass a keyword argument no longer."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = [(name, call, keyword) for name, call in _calls(parsed) for keyword in call.keywords if keyword.arg]
    single = [one for one in found if is_single(one[1]) and sum(other[2].arg == one[2].arg for other in found) == 1]
    if not single:
        return None
    name, _call, keyword = rng.choice(single)
    start, end = parsed.start(keyword), parsed.end(keyword)
    text = parsed.text
    before, after = re.search(r", $", text[:start]), re.match(r", ", text[end:])
    if before:
        start = before.start()
    elif after:
        end += after.end()
    elif text[start - 1] != "(" or text[end] != ")":
        return None
    return Edit("remove_argument", text[:start] + text[end:], {"name": keyword.arg or ""}, {"call": name})


def _calls(parsed: PythonText) -> list[tuple[str, ast.Call]]:
    """Return the calls of names and attributes, by what is called."""
    found = []
    for node in parsed.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = parsed.source(node.func)
            if re.fullmatch(r"[\w.]{2,40}", name):
                found.append((name, node))
    return found


OPERATIONS: Final = (
    Operation("change_default", change_default, PYTHON, 3, "def "),
    Operation("change_argument", change_argument, PYTHON, 1.5),
    Operation("add_argument", add_argument, PYTHON, 1.5),
    Operation("remove_argument", remove_argument, PYTHON, 1.5),
)
