"""Statements of Python put into `try`, `if` or `with`."""

from __future__ import annotations

import ast
from random import Random
from typing import Final

from training.edit import Edit, Operation, Passage
from training.python_text import PythonText, parse_python
from training.spans import indent_of, is_blank
from training.words import word

__all__ = (
    "OPERATIONS",
    "wrap_statement",
)

PYTHON: Final = ("python",)
MAX_ANCHOR: Final = 70
_ERRORS: Final = ("Exception", "ValueError", "OSError", "KeyError", "TypeError", "RuntimeError")


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
    Operation(
        "wrap_statement", wrap_statement, PYTHON, 3.5, makes=("wrap_try", "wrap_if", "wrap_with", "wrap_body_try")
    ),
)
