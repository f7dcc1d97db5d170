"""Lines put into a text so that there is something to take out again: prints, console output, comments."""

from __future__ import annotations

import ast
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.new_names import plain_name
from training.python_text import PythonText
from training.spans import indent_of, is_blank
from training.words import camel, sentence, title_words, word

__all__ = ("with_console_logs", "with_prints")

_COMPOUND: Final = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def with_prints(parsed: PythonText, rng: Random) -> str | None:
    """Print something before some statements of functions; no body gets more than it can lose."""
    places = []
    for node in parsed.functions():
        for statement in [one for one in node.body if one is not parsed.docstring(node)]:
            first, _ = parsed.line_span(statement)
            if (
                parsed.lines[first].strip()
                and statement.lineno > node.lineno
                and not parsed.lines[first - 1].rstrip().endswith("\\")
            ):
                places.append(first)
    if not places:
        return None
    lines = list(parsed.lines)
    for index in sorted(rng.sample(places, min(len(places), rng.choice((1, 1, 2, 3, 4)))), reverse=True):
        lines.insert(index, f"{indent_of(lines[index])}{_print(rng)}\n")
    return "".join(lines)


def with_console_logs(text: str, rng: Random) -> str | None:
    """Log something to the console before some lines that end a statement."""
    lines = list(split_lines(text))
    places = [
        index
        for index in range(1, len(lines))
        if lines[index - 1].rstrip().endswith((";", "{"))
        and lines[index].rstrip().endswith(";")
        and not is_blank(lines[index])
    ]
    places = [
        index
        for index in places
        if lines[index].startswith(" ")
        and not lines[index].lstrip().startswith((".", "?", ":", "case", "default", "+", "|", "&"))
    ]
    places = [
        index
        for index in places
        if not lines[index - 1]
        .lstrip()
        .startswith(("switch", "case", "return {", "class", "export class", "interface", "type"))
        and "= {" not in lines[index - 1]
    ]
    if not places:
        return None
    for index in sorted(rng.sample(places, min(len(places), rng.choice((1, 2, 3)))), reverse=True):
        said = rng.choice((f"'{sentence(rng).lower()}'", camel(title_words(rng, 2)), f"'{word(rng)}', {word(rng)}"))
        lines.insert(index, f"{indent_of(lines[index])}console.log({said});\n")
    return "".join(lines)


def _print(rng: Random) -> str:
    name = plain_name(rng)
    return rng.choice(
        (
            f"print({name})",
            f'print("{sentence(rng).lower()}")',
            f'print("{name}:", {name})',
            f'print(f"{{{name}=}}")',
            'print("here")',
            f'print("DEBUG", {name})',
        )
    )
