"""Names, values and functions of JavaScript and TypeScript."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.new_names import new_name
from training.script_text import KEYWORDS, Token, declared_names, parse_script
from training.spans import Replacement, indent_of, is_blank, replace_spans, word_pattern
from training.values import bare, new_literal
from training.words import camel, sentence, title_words

__all__ = (
    "OPERATIONS",
    "add_comment",
    "add_import",
    "add_parameter",
    "change_literal",
    "delete_function",
    "make_async",
    "rename_class",
    "rename_function",
    "rename_variable",
    "replace_value",
)

SCRIPT: Final = ("javascript", "typescript")
_PLAIN_FUNCTION: Final = re.compile(r"(?m)^(?:export )?(?:async )?function (\w+)\(([\w, ]*)\) \{$")
_FUNCTION: Final = re.compile(r"(?:export )?(?:default )?(?:async )?function\*? ([A-Za-z_$][\w$]*)")


def rename_variable(passage: Passage, rng: Random) -> Edit | None:
    """Rename a variable wherever the text has it."""
    return _rename(passage, rng, ("const", "let", "var"), "js_rename_variable", ("variable", "variable", "const"))


def rename_function(passage: Passage, rng: Random) -> Edit | None:
    """Rename a function and its calls."""
    return _rename(passage, rng, ("function",), "rename_function", None)


def rename_class(passage: Passage, rng: Random) -> Edit | None:
    """Rename a class, an interface or a type."""
    return _rename(passage, rng, ("class", "interface", "type"), "rename_class", None)


def add_parameter(passage: Passage, rng: Random) -> Edit | None:
    """Give a function of the top level one more parameter."""
    found = list(_PLAIN_FUNCTION.finditer(passage.text))
    unique = [match for match in found if sum(other[1] == match[1] for other in found) == 1]
    if not unique:
        return None
    match = rng.choice(unique)
    name = camel(title_words(rng, rng.choice((1, 2))))
    if word_pattern(name).search(passage.text):
        return None
    parameter = (
        name if rng.random() < 0.6 else f"{name} = {rng.choice(('null', 'true', 'false', '0', '10', '{}', '[]'))}"
    )
    joint = ", " if match[2].strip() else ""
    text = passage.text[: match.end(2)] + joint + parameter + passage.text[match.end(2) :]
    return Edit("add_parameter", text, {"parameter": parameter, "function": match[1]})


def change_literal(passage: Passage, rng: Random) -> Edit | None:
    """Give a constant another value."""
    tokens = parse_script(passage.text)
    if tokens is None:
        return None
    found = []
    for index, one in enumerate(tokens[:-4]):
        if (
            one.text in ("const", "let", "var")
            and tokens[index + 2].text == "="
            and tokens[index + 4].text in (";", ",")
        ):
            value = tokens[index + 3]
            if value.kind in ("string", "number") or value.text in ("true", "false"):
                found.append((tokens[index + 1].text, value))
    counts = Counter(declared_names(tokens, "const", "let", "var"))
    unique = [one for one in found if counts[one[0]] == 1]
    if not unique:
        return None
    name, value = rng.choice(unique)
    new = {"true": "false", "false": "true"}.get(value.text) or new_literal(value.text, rng)
    if new is None:
        return None
    text = replace_spans(passage.text, [Replacement(value.start, value.end, new)])
    shown = rng.random() < 0.5
    return Edit(
        "change_literal",
        text,
        {"name": name, "new": bare(new) if shown else new},
        {"old": bare(value.text) if shown else value.text},
    )


def replace_value(passage: Passage, rng: Random) -> Edit | None:
    """Replace a string or number that the text has once."""
    tokens = parse_script(passage.text)
    if tokens is None:
        return None
    found = [
        one
        for one in tokens
        if one.kind in ("string", "number") and 1 < len(one.text) < 60 and passage.text.count(one.text) == 1
    ]
    if not found:
        return None
    one = rng.choice(found)
    new = new_literal(one.text, rng)
    if new is None or new in passage.text:
        return None
    text = replace_spans(passage.text, [Replacement(one.start, one.end, new)])
    old, shown = one.text, new
    if rng.random() < 0.5 and passage.text.count(bare(old)) == 1:
        old, shown = bare(old), bare(new)
    return Edit("replace_value", text, {"old": old, "new": shown})


def delete_function(passage: Passage, rng: Random) -> Edit | None:
    """Delete a function of the top level, its comment included."""
    blocks = _functions(passage)
    if not blocks or len(split_lines(passage.text)) < 8:
        return None
    name, first, last = rng.choice(blocks)
    lines = list(split_lines(passage.text))
    if first and not is_blank(lines[first - 1]):
        return None
    end = last
    while end < len(lines) and is_blank(lines[end]):
        end += 1
    kept = [*lines[:first], *lines[end:]]
    text = "".join(kept) if end < len(lines) else "".join(kept).rstrip("\n") + "\n"
    if not text.strip() or (word_pattern(name).search(text) and rng.random() < 0.7):
        return None
    return Edit("delete_function", text, {"name": name})


def add_comment(passage: Passage, rng: Random) -> Edit | None:
    """Document a function by a comment above it: a JSDoc, or a line."""
    blocks = _functions(passage)
    if not blocks:
        return None
    name, first, _ = rng.choice(blocks)
    lines = list(split_lines(passage.text))
    if first and lines[first - 1].strip():
        return None
    said = sentence(rng)
    if rng.random() < 0.5:
        comment = f"/** {said}. */"
        return Edit(
            "js_add_doc", "".join([*lines[:first], comment + "\n", *lines[first:]]), {"doc": comment, "function": name}
        )
    comment = f"// {said}"
    shown = comment if rng.random() < 0.6 else said
    return Edit(
        "add_comment", "".join([*lines[:first], comment + "\n", *lines[first:]]), {"comment": shown, "function": name}
    )


def make_async(passage: Passage, rng: Random) -> Edit | None:
    """Make a function async."""
    found = [match for match in _FUNCTION.finditer(passage.text) if "async" not in match[0] and "*" not in match[0]]
    unique = [match for match in found if sum(other[1] == match[1] for other in found) == 1]
    if not unique or parse_script(passage.text) is None:
        return None
    match = rng.choice(unique)
    at = match.start() + match[0].index("function")
    line = passage.text.rfind("\n", 0, at) + 1
    if re.match(r"\s*(?://|\*|/\*)", passage.text[line:at]):
        return None
    return Edit("make_async", passage.text[:at] + "async " + passage.text[at:], {"function": match[1]})


def add_import(passage: Passage, rng: Random) -> Edit | None:
    """Import something more, behind the last import."""
    lines = list(split_lines(passage.text))
    imports = [index for index, line in enumerate(lines) if re.match(r"import .*['\"];?\s*$", line)]
    if not imports:
        return None
    last = lines[imports[-1]].rstrip()
    quote, end = ('"' if '"' in last else "'"), (";" if last.endswith(";") else "")
    name = camel(title_words(rng, rng.choice((1, 2))))
    module = rng.choice((f"./{name}", f"../{name}", "node:fs", "node:path", "react", f"./{name}.js"))
    what = rng.choice((f"{{ {name} }}", name))
    statement = f"import {what} from {quote}{module}{quote}{end}"
    if word_pattern(name).search(passage.text) or imports[-1] > 40:
        return None
    return Edit(
        "add_import",
        "".join([*lines[: imports[-1] + 1], statement + "\n", *lines[imports[-1] + 1 :]]),
        {"statement": statement},
    )


def _rename(
    passage: Passage, rng: Random, words: tuple[str, ...], kind: str, what: tuple[str, ...] | None
) -> Edit | None:
    tokens = parse_script(passage.text)
    if tokens is None:
        return None
    counts = Counter(one.text for one in tokens if one.kind == "name")
    names = sorted(sorted(set(declared_names(tokens, *words))), key=lambda name: -min(counts[name], 8) * rng.random())
    for old in names[:5]:
        role = "class" if kind == "rename_class" else "function" if kind == "rename_function" else "variable"
        new = new_name(old, role, passage.text, rng)
        if new is None or new in KEYWORDS or len(old) < 2:
            continue
        spans = _uses(tokens, old, new, passage.text)
        if spans:
            slots = {"old": old, "new": new}
            text = replace_spans(passage.text, spans)
            return Edit(kind, text, slots, {"what": rng.choice(what)} if what else {})
    return None


def _uses(tokens: tuple[Token, ...], old: str, new: str, text: str) -> list[Replacement] | None:
    """Return the replacements of a name; None where something of the same name may or may not be meant."""
    spans = []
    for index, one in enumerate(tokens):
        if one.kind == "name" and one.text == old:
            before = tokens[index - 1].text if index else ""
            after = tokens[index + 1].text if index + 1 < len(tokens) else ""
            ternary = before == "?"
            if before in (".", "?.") or (after == ":" and not ternary) or before == "#":
                return None  # a property, a key, a label or a typed parameter
            if before in ("{", ",") and after in (",", "}"):
                return None  # shorthand: the key would have to stay
            spans.append(Replacement(one.start, one.end, new))
        elif one.kind == "template" and word_pattern(old).search(one.text):
            holes = list(re.finditer(rf"\$\{{[^}}]*?(?<![\w.$]){re.escape(old)}(?![\w$])", one.text))
            if len(holes) != len(word_pattern(old).findall(one.text)):
                return None
            spans += [Replacement(one.start + match.end() - len(old), one.start + match.end(), new) for match in holes]
        elif one.kind in ("comment", "string", "regex") and word_pattern(old).search(one.text):
            return None
    return spans if len(spans) == len(word_pattern(old).findall(text)) else None


def _functions(passage: Passage) -> list[tuple[str, int, int]]:
    """Return the functions of the top level: name, first line from 0, and the line after the last."""
    lines = split_lines(passage.text)
    if parse_script(passage.text) is None:
        return []
    found = []
    for index, line in enumerate(lines):
        match = _FUNCTION.match(line)
        if match is None or indent_of(line):
            continue
        for end in range(index, len(lines)):
            if lines[end].rstrip() in ("}", "};"):
                found.append((match[1], index, end + 1))
                break
            if end > index and lines[end][:1] not in (" ", "\t", "\n", ")", "}"):
                break
    return [one for one in found if sum(other[0] == one[0] for other in found) == 1]


OPERATIONS: Final = (
    Operation("js_rename_variable", rename_variable, SCRIPT, 10),
    Operation("js_rename_function", rename_function, SCRIPT, 3, "function", makes=("rename_function",)),
    Operation("js_rename_class", rename_class, SCRIPT, 1, makes=("rename_class",)),
    Operation("js_add_parameter", add_parameter, SCRIPT, 1.2, "function", makes=("add_parameter",)),
    Operation("js_change_literal", change_literal, SCRIPT, 4, makes=("change_literal",)),
    Operation("js_replace_value", replace_value, SCRIPT, 2, makes=("replace_value",)),
    Operation("js_delete_function", delete_function, SCRIPT, 3, "function", makes=("delete_function",)),
    Operation("js_add_comment", add_comment, SCRIPT, 1.5, "function", makes=("add_comment", "js_add_doc")),
    Operation("js_async", make_async, SCRIPT, 0.6, "function", makes=("make_async",)),
    Operation("js_add_import", add_import, SCRIPT, 1.5, "import ", makes=("add_import",)),
)
