"""Expressions of Python that can be named and replaced."""

from __future__ import annotations

import ast
from typing import Final

from training.python_text import PythonText
from training.spans import Replacement, replace_spans

__all__ = (
    "fits",
    "is_single",
    "put",
)

MAX_SHOWN: Final = 60


def put(parsed: PythonText, node: ast.expr, new: str) -> str:
    """Return the text with other source in the place of an expression."""
    return replace_spans(parsed.text, [Replacement(parsed.start(node), parsed.end(node), new)])


def fits(parsed: PythonText, node: ast.expr) -> bool:
    """Tell whether an expression is short, stands on one line, and is where the tree says it is."""
    if not is_single(node) or any(isinstance(one, ast.JoinedStr) for one in ast.walk(node)):
        return False
    source = parsed.source(node)
    if not source or len(source) > MAX_SHOWN or source.startswith(("f'", 'f"')):
        return False
    above = parsed.parent(node)
    while above is not None:
        if isinstance(above, ast.JoinedStr):
            return False
        above = parsed.parent(above)
    return True


def is_single(node: ast.expr) -> bool:
    """Tell whether an expression stands on one line."""
    return node.lineno == node.end_lineno
