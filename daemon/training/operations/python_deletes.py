"""Deletions in Python: definitions, statements, comments, docstrings, decorators."""

from __future__ import annotations

import ast
import re
from random import Random
from typing import Final

from training.alike import among
from training.edit import Edit, Operation, Passage
from training.injected import with_prints
from training.operations.python_places import checked
from training.python_text import Definition, PythonText, parse_python
from training.spans import is_blank, n_gaps, word_pattern
from training.spoken import doing

__all__ = (
    "OPERATIONS",
    "delete_annotations",
    "delete_asserts",
    "delete_class",
    "delete_comments",
    "delete_decorator",
    "delete_docstrings",
    "delete_function",
    "delete_import",
    "delete_method",
    "delete_prints",
    "delete_statement",
    "without_lines",
)

PYTHON: Final = ("python",)
# How often a function is told by what it does.
SPOKEN: Final = 0.3


def without_lines(lines: list[str], first: int, last: int) -> list[str]:
    """Drop lines and the blank ones after them; at the end of a block those before them, so that the distances stay.

    Args:
        lines: of the text.
        first: to drop, counted from 0.
        last: the line after the last to drop.
    """
    after = last
    while after < len(lines) and is_blank(lines[after]):
        after += 1
    indent = _indent(lines[first])
    if after < len(lines) and _indent(lines[after]) == indent and lines[after].strip()[0] not in ")]}":
        return [*lines[:first], *lines[after:]]
    before = first
    while before > 0 and is_blank(lines[before - 1]):
        before -= 1
    return [*lines[:before], *lines[last:]]


def delete_function(passage: Passage, rng: Random) -> Edit | None:
    """Delete a function of the top level."""
    return _delete_definition(passage, rng, "delete_function")


def delete_method(passage: Passage, rng: Random) -> Edit | None:
    """Delete a method."""
    return _delete_definition(passage, rng, "delete_method")


def delete_class(passage: Passage, rng: Random) -> Edit | None:
    """Delete a class of the top level."""
    return _delete_definition(passage, rng, "delete_class")


def delete_prints(passage: Passage, rng: Random) -> Edit | None:
    """Delete every call of `print` that is a statement, which a text without is given before."""
    parsed = parse_python(passage.text)
    if parsed is not None and "print" not in passage.text:
        shown = with_prints(parsed, rng)
        return Edit("delete_prints", passage.text, shown=shown) if shown and parse_python(shown) else None
    return _delete_statements(passage, "delete_prints", lambda node: _is_call_of(node, "print"))


def delete_asserts(passage: Passage, _rng: Random) -> Edit | None:
    """Delete every assertion."""
    return _delete_statements(passage, "delete_asserts", lambda node: isinstance(node, ast.Assert))


def delete_comments(passage: Passage, _rng: Random) -> Edit | None:
    """Delete every comment: a line of its own with its line, one behind code with the blanks before it."""
    parsed = parse_python(passage.text)
    if parsed is None or not parsed.comments():
        return None
    text = passage.text
    for start, end in reversed(parsed.comments()):
        line = text.rfind("\n", 0, start) + 1
        if text[line:start].strip():
            text = text[: len(text[:start].rstrip(" \t"))] + text[end:]
        else:
            text = text[:line] + text[end + 1 :]
    if re.match(r"\s*\n", text) or not text.strip() or n_gaps(text) < n_gaps(passage.text):
        return None  # a comment with blank lines on both sides: how many of them remain is a matter of taste
    return Edit("delete_comments", text)


def delete_docstrings(passage: Passage, rng: Random) -> Edit | None:
    """Delete every docstring, or that of one function."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = [(node, doc) for node in [parsed.tree, *parsed.definitions()] if (doc := parsed.docstring(node))]
    if not found or isinstance(found[0][0], ast.Module):
        return None
    slots: dict[str, str] = {}
    if len(found) > 1 and rng.random() < 0.5:
        node, doc = rng.choice(found)
        if not isinstance(node, Definition) or sum(one.name == node.name for one in parsed.definitions()) > 1:
            return None
        found, slots = [(node, doc)], {"function": node.name}
    lines = list(parsed.lines)
    for node, doc in sorted(found, key=lambda one: one[1].lineno, reverse=True):
        first, last = parsed.line_span(doc)
        if len(getattr(node, "body", [])) == 1 or parsed.line_span(node)[0] == first:  # type: ignore[arg-type]
            return None
        while last < len(lines) and is_blank(lines[last]):
            last += 1
        del lines[first:last]
    return Edit("delete_docstring" if slots else "delete_docstrings", "".join(lines), slots)


def delete_statement(passage: Passage, rng: Random) -> Edit | None:
    """Delete a given line."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = []
    for body in parsed.bodies():
        if len(body) > 1:
            found += [
                node
                for node in body
                if node.lineno == node.end_lineno and not isinstance(node, ast.Import | ast.ImportFrom)
            ]
    found = [node for node in found if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    simple = [
        node for node in found if len(node_source := parsed.source(node)) < 70 and passage.text.count(node_source) == 1
    ]
    if not simple:
        return None
    node = rng.choice(simple)
    first, last = parsed.line_span(node)
    if parsed.lines[first].strip() != parsed.source(node):
        return None
    lines = list(parsed.lines)
    del lines[first:last]
    return checked(Edit("delete_statement", "".join(lines), {"line": parsed.source(node)}))


def delete_import(passage: Passage, rng: Random) -> Edit | None:
    """Delete the import of a name."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    imports = [
        node
        for node in parsed.tree.body
        if isinstance(node, ast.Import | ast.ImportFrom) and node.lineno == node.end_lineno
    ]
    if len(imports) < 2 or parsed.indent:
        return None
    node = rng.choice(imports)
    index = node.lineno - 1
    alias = rng.choice(node.names)
    name = alias.asname or alias.name
    if sum(one.name == alias.name for other in imports for one in other.names) > 1 or "#" in parsed.lines[index]:
        return None
    lines = list(parsed.lines)
    if len(node.names) == 1:
        alone = (index == 0 or is_blank(lines[index - 1])) and (index + 1 == len(lines) or is_blank(lines[index + 1]))
        if alone:
            return None
        del lines[index]
        return checked(Edit("delete_import", "".join(lines), {"name": name}, {"line": parsed.source(node)}))
    source = ", ".join(parsed.source(one) for one in node.names)
    if source not in lines[index]:
        return None
    kept = ", ".join(parsed.source(one) for one in node.names if one is not alias)
    lines[index] = lines[index].replace(source, kept)
    return checked(Edit("delete_import", "".join(lines), {"name": name}))


def delete_decorator(passage: Passage, rng: Random) -> Edit | None:
    """Delete a decorator of a function or class."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = [
        (node, one)
        for node in parsed.definitions()
        for one in node.decorator_list
        if one.lineno == one.end_lineno and sum(other.name == node.name for other in parsed.definitions()) == 1
    ]
    if not found:
        return None
    node, decorator = rng.choice(found)
    index = parsed.text.count("\n", 0, parsed.start(decorator))
    source = "@" + parsed.source(decorator)
    if parsed.lines[index].strip() != source:
        return None
    lines = list(parsed.lines)
    del lines[index]
    slots, hints = {"decorator": source}, {"function": node.name}
    if parsed.text.count(source) > 1:
        slots["function"] = hints.pop("function")
    return checked(Edit("delete_decorator", "".join(lines), slots, hints))


def delete_annotations(passage: Passage, rng: Random) -> Edit | None:
    """Delete the annotations of a function."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = [
        node for node in parsed.functions() if node.returns is not None or any(one.annotation for one in node.args.args)
    ]
    if not found:
        return None
    node = rng.choice(found)
    arguments = node.args
    if arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        return None
    if sum(one.name == node.name for one in parsed.functions()) > 1:
        return None
    first, _ = parsed.line_span(node)
    body_line = node.body[0].lineno - 1 - (1 if parsed.indent else 0)
    text = parsed.text
    typed = [one for one in arguments.args if one.annotation is not None]
    spans = [(parsed.start(one) + len(one.arg), parsed.end(one)) for one in typed]
    if node.returns is not None:
        arrow = text.rfind("->", 0, parsed.start(node.returns))
        spans.append((len(text[:arrow].rstrip()), parsed.end(node.returns)))
    if any("\n" in text[start:end] for start, end in spans) or first == body_line:
        return None
    if re.search(r"\w\s*:[^=,()]+ = ", "".join(parsed.lines[first:body_line])):
        return None  # the blanks around a default change with the annotation
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return checked(Edit("delete_annotations", text, {"function": node.name}))


def _delete_definition(passage: Passage, rng: Random, kind: str) -> Edit | None:
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    candidates = [
        node for node in parsed.definitions() if _kind_of(parsed, node) == kind and not _is_alone(parsed, node)
    ]
    order = among({node.name for node in candidates}, rng)
    candidates.sort(key=lambda node: order.index(node.name))
    for node in candidates[:4]:
        first, last = parsed.line_span(node)
        if sum(one.name == node.name for one in parsed.definitions()) > 1:
            continue
        if first > 0 and parsed.lines[first - 1].lstrip().startswith("#"):
            continue  # whether the comment goes with it is a matter of taste
        text = "".join(without_lines(list(parsed.lines), first, last))
        is_used = word_pattern(node.name).search(text) is not None
        if is_used and rng.random() < 0.7:  # to delete what is used is asked for less often
            continue
        told = doing(node.name, [one.name for one in parsed.definitions()]) if rng.random() < SPOKEN else None
        edit = Edit(kind, text, {"doing": told} if told and kind != "delete_class" else {"name": node.name})
        if checked(edit):
            return edit
    return None


def _delete_statements(passage: Passage, kind: str, is_wanted: object) -> Edit | None:
    """Delete all statements of a kind; None where a block would be left empty."""
    parsed = parse_python(passage.text)
    if parsed is None or not callable(is_wanted):
        return None
    spans = []
    for body in parsed.bodies():
        wanted = [node for node in body if is_wanted(node)]
        if wanted and len(wanted) == len(body):
            return None
        for node in wanted:
            first, last = parsed.line_span(node)
            if "".join(parsed.lines[first:last]).strip() != parsed.source(node):
                return None
            spans.append((first, last))
    if not spans:
        return None
    lines = list(parsed.lines)
    for first, last in sorted(spans, reverse=True):
        between = first > 0 and last < len(lines) and is_blank(lines[first - 1]) and is_blank(lines[last])
        del lines[first : last + (1 if between else 0)]
    return checked(Edit(kind, "".join(lines)))


def _kind_of(parsed: PythonText, node: Definition) -> str:
    above = parsed.parent(node)
    if isinstance(node, ast.ClassDef):
        return "delete_class"
    return "delete_method" if isinstance(above, ast.ClassDef) else "delete_function"


def _is_alone(parsed: PythonText, node: Definition) -> bool:
    above = parsed.parent(node)
    body = getattr(above, "body", []) if above is not None else parsed.tree.body
    if len(body) == 1 or node not in body:
        return True
    return len(body) == 2 and parsed.docstring(above or parsed.tree) is not None


def _is_call_of(node: ast.stmt, name: str) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == name


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


OPERATIONS: Final = (
    Operation("delete_function", delete_function, PYTHON, 11, "def "),
    Operation("delete_method", delete_method, PYTHON, 5, "class "),
    Operation("delete_class", delete_class, PYTHON, 2.5, "class "),
    Operation("delete_prints", delete_prints, PYTHON, 2.5),
    Operation("delete_asserts", delete_asserts, PYTHON, 0.2, "assert "),
    Operation("delete_comments", delete_comments, PYTHON, 5, "#"),
    Operation(
        "delete_docstrings", delete_docstrings, PYTHON, 1.5, '"""', makes=("delete_docstrings", "delete_docstring")
    ),
    Operation("delete_statement", delete_statement, PYTHON, 7),
    Operation("delete_import", delete_import, PYTHON, 2, "import "),
    Operation("delete_decorator", delete_decorator, PYTHON, 1, "@"),
    Operation("delete_annotations", delete_annotations, PYTHON, 0.6, "def "),
)
