"""A piece of Python with its syntax tree, and where in the text each part of the tree stands."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from plgd.text.lines import split_lines
from training.spans import indent_of, is_blank, word_pattern

__all__ = ("Definition", "PythonText", "Role", "Word", "parse_python")

Role = Literal["name", "attribute", "keyword", "comment", "docstring", "string"]
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_WRAPPER: Final = "if 1:\n"
_STRING_TYPES: Final = frozenset(
    getattr(tokenize, name)
    for name in ("STRING", "FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
    if hasattr(tokenize, name)
)


@dataclass(frozen=True, slots=True)
class Word:
    """An occurrence of an identifier's spelling.

    Attributes:
        start: its first character.
        role: what it is there.
    """

    start: int
    role: Role


class PythonText:
    """Parsed Python, which may be indented as a whole, as a method is.

    Attributes:
        text: the source.
        tree: its syntax tree.
        lines: the source's lines with their ends.
        indent: what every line begins with.
    """

    def __init__(self, text: str) -> None:
        """Parse a text.

        Raises:
            SyntaxError: it is no Python.
            ValueError: it holds a NUL.
        """
        self.text = text
        self.lines = split_lines(text)
        self.indent = indent_of(next((line for line in self.lines if not is_blank(line)), ""))
        self._source = _WRAPPER + text if self.indent else text
        self._shift = 1 if self.indent else 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # published code holds invalid escapes
            tree = ast.parse(self._source)
        if self.indent:
            wrapper = tree.body[0]
            if not isinstance(wrapper, ast.If) or len(tree.body) > 1 or wrapper.orelse:
                raise SyntaxError("the lines do not have one indent")
            tree = ast.Module(body=wrapper.body, type_ignores=[])
        self.tree = tree
        self.nodes = list(ast.walk(tree))
        self._starts = [0]
        for line in self.lines:
            self._starts.append(self._starts[-1] + len(line))
        self._parents = {child: node for node in self.nodes for child in ast.iter_child_nodes(node)}
        self._tokens: list[tuple[int, str, int, int]] | None = None

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the node that a node is part of; None for a statement of the top level's module."""
        return self._parents.get(node)

    def start(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.excepthandler) -> int:
        """Return the place of a node's first character."""
        return self._place(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.excepthandler) -> int:
        """Return the place after a node's last character."""
        return self._place(node.end_lineno or 0, node.end_col_offset or 0)

    def source(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> str:
        """Return a node's text."""
        return self.text[self.start(node) : self.end(node)]

    def line_span(self, node: ast.stmt) -> tuple[int, int]:
        """Return a statement's first line, counted from 0 and decorators included, and the line after its last."""
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        return first - 1 - self._shift, (node.end_lineno or 0) - self._shift

    def line_start(self, index: int) -> int:
        """Return the place of a line's first character; lines are counted from 0."""
        return self._starts[index]

    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Return every function and method, in the order of the tree."""
        return [node for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]

    def classes(self) -> list[ast.ClassDef]:
        """Return every class."""
        return [node for node in self.nodes if isinstance(node, ast.ClassDef)]

    def definitions(self) -> list[Definition]:
        """Return every function, method and class."""
        return [*self.functions(), *self.classes()]

    def is_method(self, node: ast.AST) -> bool:
        """Tell whether a function stands in a class."""
        return isinstance(self.parent(node), ast.ClassDef)

    def bodies(self) -> Iterator[list[ast.stmt]]:
        """Yield each list of statements."""
        yield self.tree.body
        for node in self.nodes:
            for name in ("body", "orelse", "finalbody"):
                body = getattr(node, name, None)
                if isinstance(body, list) and body and isinstance(body[0], ast.stmt) and body is not self.tree.body:
                    yield body

    def docstring(self, node: ast.AST) -> ast.Expr | None:
        """Return the docstring's statement."""
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and body:
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                return first
        return None

    def tokens(self) -> list[tuple[int, str, int, int]]:
        """Return each token's type, text, start and end.

        Raises:
            tokenize.TokenError, SyntaxError: the tokenizer does not take what the parser took.
        """
        if self._tokens is None:
            found = []
            for token in tokenize.generate_tokens(io.StringIO(self._source).readline):
                first, last = token.start[0] - self._shift, token.end[0] - self._shift
                if first >= 1 and last <= len(self.lines):
                    start = self._starts[first - 1] + token.start[1]
                    found.append((token.type, token.string, start, self._starts[last - 1] + token.end[1]))
            self._tokens = found
        return self._tokens

    def comments(self) -> list[tuple[int, int]]:
        """Return the spans of all comments."""
        return [(start, end) for kind, _, start, end in self.tokens() if kind == tokenize.COMMENT]

    def words(self, name: str) -> list[Word]:
        """Find every occurrence of an identifier's spelling and tell what it is."""
        comments = self.comments()
        docstrings = [
            (self.start(doc), self.end(doc)) for node in self.nodes if (doc := self.docstring(node)) is not None
        ]
        strings = self._string_spans()
        keywords = {self.start(node) for node in self.nodes if isinstance(node, ast.keyword) and node.arg == name}
        found = []
        for match in word_pattern(name).finditer(self.text):
            at = match.start()
            role: Role = "name"
            if _inside(at, comments):
                role = "comment"
            elif _inside(at, docstrings):
                role = "docstring"
            elif _inside(at, strings):
                role = "string"
            elif at in keywords:
                role = "keyword"
            elif re.search(r"(?<!\.)\.\s*$", self.text[max(0, at - 40) : at]):
                role = "attribute"
            found.append(Word(at, role))
        return found

    def has_long_strings(self, first: int, last: int) -> bool:
        """Tell whether a string goes over several of the lines from `first`, counted from 0, to before `last`."""
        begin, end = self._starts[first], self._starts[last]
        return any("\n" in string for _, string, start, _ in self.tokens() if begin <= start < end and len(string) > 1)

    def _string_spans(self) -> list[tuple[int, int]]:
        """Return the spans of literal text: plain strings, and f-strings without what stands in their braces."""
        spans = []
        for kind, string, start, end in self.tokens():
            if kind not in _STRING_TYPES:
                continue
            if kind == tokenize.STRING and "f" in re.match(r"\w*", string)[0].lower():  # type: ignore[index]
                spans += _literal_parts(string, start)
            else:
                spans.append((start, end))
        return spans

    def _place(self, line: int, column: int) -> int:
        index = line - 1 - self._shift
        start = self._starts[index]
        if index < len(self.lines) and not self.lines[index].isascii():
            return start + len(self.lines[index].encode()[:column].decode())
        return start + column


def _inside(at: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= at < end for start, end in spans)


def _literal_parts(string: str, offset: int) -> list[tuple[int, int]]:
    """Return what stands outside of the braces of an f-string, which Python 3.11 has as one token."""
    parts, depth, begin, at = [], 0, 0, 0
    while at < len(string):
        if string[at : at + 2] in ("{{", "}}") and depth == 0:
            at += 2
            continue
        if string[at] == "{":
            if depth == 0:
                parts.append((offset + begin, offset + at))
            depth += 1
        elif string[at] == "}" and depth:
            depth -= 1
            begin = at + 1
        at += 1
    return [*parts, (offset + begin, offset + len(string))]


@lru_cache(maxsize=128)
def parse_python(text: str) -> PythonText | None:
    """Parse a text; None for what is no Python, is too deep, or that the tokenizer does not take."""
    try:
        parsed = PythonText(text)
        parsed.tokens()
    except (SyntaxError, ValueError, RecursionError, tokenize.TokenError, IndexError):
        return None
    return parsed
