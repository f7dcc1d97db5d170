"""Things of Python put in order: imports, entries, functions."""

from __future__ import annotations

import ast
import itertools
import re
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.python_text import parse_python
from training.spans import Replacement, is_blank, replace_spans

__all__ = (
    "OPERATIONS",
    "sort_collection",
    "sort_imports",
    "swap_functions",
)

PYTHON: Final = ("python",)


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


OPERATIONS: Final = (
    Operation("sort_imports", sort_imports, PYTHON, 0.7, "import "),
    Operation("sort_collection", sort_collection, PYTHON, 0.5),
    Operation("swap_functions", swap_functions, PYTHON, 0.2, "def "),
)
