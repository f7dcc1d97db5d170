"""Renames in Python that change the syntax tree by the name alone."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection
from random import Random
from typing import Final

from training.alike import among
from training.edit import Edit, Operation, Passage
from training.new_names import RESERVED, new_name, other_case
from training.python_scopes import (
    bindings,
    binds,
    bound_by_imports,
    keywords_are_foreign,
    named_in_decorators,
    parameters,
)
from training.python_text import PythonText, Role, Word, parse_python
from training.spans import replace_all, word_pattern
from training.spoken import doing

__all__ = (
    "OPERATIONS",
    "change_case",
    "rename_attribute",
    "rename_class",
    "rename_function",
    "rename_method",
    "rename_two",
    "rename_variable",
    "same_tree_but_names",
)

PYTHON: Final = ("python",)
# How often a function is told by what it does.
SPOKEN: Final = 0.2
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_WHAT: Final = {
    "variable": ("variable", "variable", "var"),
    "parameter": ("parameter", "argument", "param", "parameter"),
}


def same_tree_but_names(before: ast.AST, after: ast.AST, names: Collection[tuple[str, str]]) -> bool:
    """Tell whether two trees differ in nothing but identifiers, each by one of the given renames, and docstrings."""
    nodes_before, nodes_after = list(ast.walk(before)), list(ast.walk(after))
    if len(nodes_before) != len(nodes_after):
        return False
    for old, new in zip(nodes_before, nodes_after, strict=True):
        if type(old) is not type(new):
            return False
        for field in old._fields:
            first, second = getattr(old, field, None), getattr(new, field, None)
            if isinstance(first, list) and isinstance(second, list):
                pairs = list(zip(first, second, strict=False))
            else:
                pairs = [(first, second)]
            for one, other in pairs:
                if isinstance(one, ast.AST) or one == other or (one, other) in names:
                    continue
                if not (isinstance(old, ast.Constant) and isinstance(one, str) and _renamed(one, names) == other):
                    return False
    return True


def _renamed(text: str, names: Collection[tuple[str, str]]) -> str:
    for old, new in names:
        text = word_pattern(old).sub(new, text)
    return text


def rename_variable(passage: Passage, rng: Random) -> Edit | None:
    """Rename a variable or parameter, in one function or wherever the text has it."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = bindings(parsed)
    for name in _by_use(found, passage.text, rng)[:4]:
        edit = _rename_binding(parsed, name, found[name], rng)
        if edit is not None:
            return edit
    return None


def rename_two(passage: Passage, rng: Random) -> Edit | None:
    """Rename two variables at once."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = bindings(parsed)
    first: Edit | None = None
    for name in _by_use(found, passage.text, rng)[:6]:
        if first is None:
            first = _rename_everywhere(parsed, name, found[name], rng)
            continue
        changed = parse_python(first.new_text)
        if changed is None or name == first.slots["old"]:
            continue
        second = _rename_everywhere(changed, name, found[name], rng)
        if second is not None:
            slots = {"old": first.slots["old"], "new": first.slots["new"], "old2": name, "new2": second.slots["new"]}
            return Edit("rename_two", second.new_text, slots)
    return None


def rename_function(passage: Passage, rng: Random) -> Edit | None:
    """Rename a function of the top level, its calls included."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    candidates = [node for node in parsed.functions() if not parsed.is_method(node) and not node.name.startswith("__")]
    return _rename_definition(parsed, [node.name for node in candidates], "function", "rename_function", {"name"}, rng)


def rename_method(passage: Passage, rng: Random) -> Edit | None:
    """Rename a method and the calls of it."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    names = [node.name for node in parsed.functions() if parsed.is_method(node) and not node.name.startswith("__")]
    return _rename_definition(parsed, names, "function", "rename_method", {"name", "attribute"}, rng)


def rename_class(passage: Passage, rng: Random) -> Edit | None:
    """Rename a class wherever the text has it."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    names = [node.name for node in parsed.classes() if node.name[0].isupper()]
    return _rename_definition(parsed, names, "class", "rename_class", {"name"}, rng)


def rename_attribute(passage: Passage, rng: Random) -> Edit | None:
    """Rename an attribute that the text's own methods set."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    names = [
        node.attr
        for node in parsed.nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value)
    ]
    # Whoever renames `self.size` may or may not mean what the class declares by that name.
    taken = {node.name for node in parsed.functions()}.union(*map(binds, parsed.classes()))
    candidates = [name for name in names if name not in taken]
    edit = _rename_definition(parsed, candidates, "variable", "rename_attribute", {"attribute"}, rng)
    if edit is None or not any(word.role in ("name", "keyword") for word in parsed.words(edit.slots["old"])):
        return edit
    slots = {slot: f"self.{name}" for slot, name in edit.slots.items()}  # not the variable of the same name
    return Edit("rename_self_attribute", edit.new_text, slots)


def change_case(passage: Passage, rng: Random) -> Edit | None:
    """Write a name in the other case."""
    parsed = parse_python(passage.text)
    if parsed is None:
        return None
    found = bindings(parsed)
    names = [name for name in _by_use(found, passage.text, rng) if other_case(name)]
    for name in names[:3]:
        new = other_case(name) or ""
        if word_pattern(new).search(passage.text):
            continue
        edit = _rename_everywhere(parsed, name, found[name], rng, new)
        if edit is not None:
            style = "snake_case" if "_" in new.strip("_") else "camelCase"
            return Edit("change_case", edit.new_text, {"old": name, "style": style}, {"new": new})
    return None


def _rename_definition(
    parsed: PythonText, names: list[str], role: str, kind: str, roles: set[Role], rng: Random
) -> Edit | None:
    """Rename a thing whose name means one thing in the whole text."""
    counts = Counter(names)
    candidates = among((name for name in counts if len(name) > 2 and name not in RESERVED and counts[name] < 3), rng)
    imported = {alias.name for node in parsed.nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    bound = bound_by_imports(parsed).union(imported, binds(parsed.tree), *map(binds, parsed.functions()))
    for name in candidates[:4]:
        words = parsed.words(name)
        code = [word for word in words if word.role in ("name", "attribute", "keyword")]
        if any(word.role == "string" and not _is_in_all(parsed, word, name) for word in words):
            continue  # the name of a field or a message: nobody knows whether it is meant
        if kind != "rename_attribute" and any(word.role not in roles for word in code):
            continue
        if "attribute" not in roles and name in bound:
            continue
        if kind == "rename_method" and (name in bound or any(_is_foreign(parsed, word) for word in code)):
            continue
        new = new_name(name, role, parsed.text, rng)
        starts = _with_mentions(parsed, name, words, lambda word: word.role in roles)
        if new is None or starts is None:
            continue
        text = replace_all(parsed.text, starts, name, new)
        if _is_right(parsed, text, name, new):
            told = doing(name, [one.name for one in parsed.definitions()]) if rng.random() < SPOKEN else None
            return Edit(
                kind, text, {"doing": told, "new": new} if told and role == "function" else {"old": name, "new": new}
            )
    return None


def _rename_binding(parsed: PythonText, name: str, functions: list[ast.AST | None], rng: Random) -> Edit | None:
    """Rename in one function, named in the instruction when the name is elsewhere too; or everywhere."""
    own = [one for one in functions if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    if len(functions) > 1 and len(own) == len(functions) and rng.random() < 0.4:
        function = rng.choice(own)
        if sum(one.name == function.name for one in parsed.functions()) == 1:
            edit = _rename_within(parsed, name, function, rng)
            if edit is not None:
                return edit
    return _rename_everywhere(parsed, name, functions, rng)


def _rename_within(
    parsed: PythonText, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef, rng: Random
) -> Edit | None:
    first, last = parsed.line_span(function)
    begin, end = parsed.line_start(first), parsed.line_start(last)
    if any(name in binds(node) for node in ast.walk(function) if node is not function and isinstance(node, _SCOPES)):
        return None
    new = new_name(name, "variable", parsed.text, rng)
    if named_in_decorators(parsed, name):
        return None
    words = [word for word in parsed.words(name) if begin <= word.start < end]
    starts = _with_mentions(parsed, name, words, lambda word: word.role == "name")
    if new is None or not starts:
        return None
    text = replace_all(parsed.text, starts, name, new)
    if not _is_right(parsed, text, name, new):
        return None
    what = "parameter" if name in parameters(function) else "variable"
    return Edit(
        "rename_variable", text, {"old": name, "new": new, "function": function.name}, {"what": rng.choice(_WHAT[what])}
    )


def _rename_everywhere(
    parsed: PythonText, name: str, functions: list[ast.AST | None], rng: Random, new: str | None = None
) -> Edit | None:
    new = new or new_name(name, "variable", parsed.text, rng)
    words = parsed.words(name)
    if new is None or not keywords_are_foreign(parsed, name) or named_in_decorators(parsed, name):
        return None
    starts = _with_mentions(parsed, name, words, lambda word: word.role == "name")
    if not starts:
        return None
    text = replace_all(parsed.text, starts, name, new)
    if not _is_right(parsed, text, name, new):
        return None
    own = [one for one in functions if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    is_parameter = bool(own) and len(own) == len(functions) and all(name in parameters(one) for one in own)
    what = rng.choice(_WHAT["parameter" if is_parameter else "variable"])
    slots, hints = {"old": name, "new": new}, {"what": what}
    if len(functions) == 1 and own:
        hints["function"] = own[0].name
    if any(word.role in ("attribute", "keyword", "string") for word in words):
        slots["what"] = hints.pop("what")  # not the attribute, the key or the word
    return Edit("rename_variable", text, slots, hints)


def _with_mentions(
    parsed: PythonText, name: str, words: list[Word], wanted: Callable[[Word], bool]
) -> list[int] | None:
    """Return the places to rename: those in code, and clear mentions in comments and docstrings.

    None when a mention might or might not be meant: then there is no one right answer.
    """
    starts = []
    is_mixed = any(word.role in ("name", "attribute", "keyword") and not wanted(word) for word in words)
    for word in words:
        if word.role in ("comment", "docstring"):
            if is_mixed or not _is_clear(parsed.text, word.start, name):
                return None
            starts.append(word.start)
        elif wanted(word) or (word.role == "string" and _is_in_all(parsed, word, name)):
            starts.append(word.start)
    return starts


def _is_clear(text: str, start: int, name: str) -> bool:
    """Tell whether a mention in a comment or docstring means the thing of the code, and not a word or another thing."""
    before, after = text[max(0, start - 8) : start], text[start + len(name) :][:40]
    if before.endswith((".", "/", "-", "``:")) or re.match(r"[/-]|\.\w", after):
        return False
    if before.endswith(("`", "param ", ":arg ", "'")) or after.startswith(("`", "()", "'")):
        return True
    if re.search(r"(?:^|\n)[ \t]*(?:\*\*?|- )?$", before) and re.match(r" ?(?:\([\w .,\[\]|]+\))? ?:", after):
        return True  # an entry of a list of parameters
    return "_" in name.strip("_") or re.search(r"[a-z][A-Z]", name) is not None


def _is_in_all(parsed: PythonText, word: Word, name: str) -> bool:
    quoted = parsed.text[word.start - 1 : word.start + len(name) + 1]
    head = parsed.text.rfind("__all__", 0, word.start)
    if head < 0 or quoted[0] not in "'\"" or quoted[-1] != quoted[0]:
        return False
    return re.fullmatch(r"__all__\s*\+?=\s*[\[(][\s\w'\",#]*", parsed.text[head : word.start]) is not None


def _is_right(parsed: PythonText, text: str, old: str, new: str) -> bool:
    after = parse_python(text)
    return text != parsed.text and after is not None and same_tree_but_names(parsed.tree, after.tree, {(old, new)})


def _by_use(found: dict[str, list[ast.AST | None]], text: str, rng: Random) -> list[str]:
    """Return names in random order, those that are used more before the others."""
    counts = Counter(re.findall(r"\w+", text))
    return sorted(sorted(found), key=lambda name: -min(counts[name], 14) * rng.random())


def _is_foreign(parsed: PythonText, word: Word) -> bool:
    """Tell whether an attribute is one of something other than `self`, whose class nobody knows."""
    return word.role == "attribute" and not re.search(r"\b(?:self|cls)\.$", parsed.text[: word.start][-8:])


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


OPERATIONS: Final = (
    Operation("rename_variable", rename_variable, PYTHON, 36),
    Operation("rename_two", rename_two, PYTHON, 14),
    Operation("rename_function", rename_function, PYTHON, 7, "def "),
    Operation("rename_method", rename_method, PYTHON, 6, "class "),
    Operation("rename_class", rename_class, PYTHON, 3, "class "),
    Operation(
        "rename_attribute", rename_attribute, PYTHON, 3, "self.", makes=("rename_attribute", "rename_self_attribute")
    ),
    Operation("change_case", change_case, PYTHON, 1.5),
)
