"""How JavaScript and TypeScript are written: declarations, quotes, semicolons, comments, output."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.injected import with_console_logs
from training.script_text import parse_script
from training.spans import Replacement, n_gaps, replace_spans

__all__ = (
    "OPERATIONS",
    "add_semicolons",
    "change_declaration",
    "change_quotes",
    "delete_comments",
    "delete_console",
    "drop_semicolons",
    "strict_equality",
)

SCRIPT: Final = ("javascript", "typescript")
# Of a text that is mostly comments little would remain: rewriting it is a lot to ask of a small model.
MIN_SHARE_OF_CODE: Final = 0.4


def change_declaration(passage: Passage, rng: Random) -> Edit | None:
    """Declare by another word: one name, or all."""
    tokens = parse_script(passage.text)
    if tokens is None:
        return None
    pairs = [
        (one, after)
        for one, after in itertools.pairwise(tokens)
        if one.text in ("const", "let", "var") and one.kind == "name"
    ]
    if not pairs:
        return None
    old = rng.choice(pairs)[0].text
    new = rng.choice([word for word in ("const", "let") if word != old] or ["const"])
    same = [(one, after) for one, after in pairs if one.text == old]
    follows = {before.start: after.text for before, after in itertools.pairwise(tokens)}
    given = [pair for pair in same if follows.get(pair[1].start) in ("=", "of", "in")]
    if old == "var" and rng.random() < 0.6:
        if new == "const" and len(given) < len(same):
            return None  # a constant needs a value at once
        spans = [Replacement(one.start, one.end, new) for one, _ in same]
        return Edit("js_declare_all", replace_spans(passage.text, spans), {"old": old, "new": new})
    if new == "const":
        same = given
    if not same:
        return None
    one, name = rng.choice(same)
    if name.kind != "name" or sum(other.text == name.text for _, other in pairs) > 1:
        return None
    return Edit(
        "js_declare",
        replace_spans(passage.text, [Replacement(one.start, one.end, new)]),
        {"name": name.text, "new": new},
        {"old": old},
    )


def change_quotes(passage: Passage, _rng: Random) -> Edit | None:
    """Use the other kind of quotes for every string that neither holds."""
    tokens = parse_script(passage.text)
    if tokens is None:
        return None
    strings = [one for one in tokens if one.kind == "string"]
    marks = {one.text[0] for one in strings}
    if len(strings) < 1 or len(marks) != 1 or any(re.search(r"['\"\\]", one.text[1:-1]) for one in strings):
        return None
    old = marks.pop()
    new = '"' if old == "'" else "'"
    spans = [Replacement(one.start, one.end, new + one.text[1:-1] + new) for one in strings]
    return Edit("double_quotes" if new == '"' else "single_quotes", replace_spans(passage.text, spans))


def drop_semicolons(passage: Passage, _rng: Random) -> Edit | None:
    """Take away the semicolons at the ends of lines."""
    tokens = parse_script(passage.text)
    if tokens is None or passage.language != "javascript":
        return None
    ends = [one for one in tokens if one.text == ";"]
    if len(ends) < 2 or any(passage.text[one.end : one.end + 1] != "\n" for one in ends):
        return None
    firsts = [line.lstrip()[:1] for line in split_lines(passage.text)]
    if any(first in "([`+-/" and first for first in firsts):
        return None
    return Edit("js_no_semicolons", replace_spans(passage.text, [Replacement(one.start, one.end, "") for one in ends]))


def add_semicolons(passage: Passage, rng: Random) -> Edit | None:
    """End statements with semicolons, which the text is given without."""
    edit = drop_semicolons(passage, rng)
    return Edit("js_semicolons", passage.text, shown=edit.new_text) if edit else None


def delete_console(passage: Passage, rng: Random) -> Edit | None:
    """Delete every `console.log` that is a line of its own; a text without is given some before."""
    if "console" not in passage.text:
        shown = with_console_logs(passage.text, rng) if parse_script(passage.text) is not None else None
        return Edit("js_delete_console", passage.text, shown=shown) if shown else None
    lines = list(split_lines(passage.text))
    found = [index for index, line in enumerate(lines) if re.match(r"\s*console\.log\(.*\);?\s*$", line)]
    if not found or len(found) != passage.text.count("console.log") or parse_script(passage.text) is None:
        return None
    for index in found:
        before = lines[index - 1].rstrip() if index else ""
        if before.endswith((")", "else", "=>", "=", ",")) and not before.endswith(");"):
            return None
    return Edit("js_delete_console", "".join(line for index, line in enumerate(lines) if index not in found))


def delete_comments(passage: Passage, _rng: Random) -> Edit | None:
    """Delete every comment: a line of its own with its line, one behind code with the blanks before it."""
    tokens = parse_script(passage.text)
    if tokens is None:
        return None
    comments = [one for one in tokens if one.kind == "comment"]
    text = passage.text
    for one in reversed(comments):
        line = text.rfind("\n", 0, one.start) + 1
        end = one.end
        if text[end : end + 1] not in ("\n", ""):
            return None
        text = (
            text[:line] + text[end + 1 :]
            if not text[line : one.start].strip()
            else text[: len(text[: one.start].rstrip(" \t"))] + text[end:]
        )
    if not comments or text.startswith("\n") or len(text) < MIN_SHARE_OF_CODE * len(passage.text):
        return None
    if n_gaps(text) < n_gaps(passage.text):
        return None  # a comment with blank lines on both sides: how many of them remain is a matter of taste
    return Edit("delete_comments", text)


def strict_equality(passage: Passage, _rng: Random) -> Edit | None:
    """Compare by `===` and `!==`, which the text is made to lack."""
    tokens = parse_script(passage.text)
    if tokens is None:
        return None
    strict = [one for one in tokens if one.text in ("===", "!==")]
    loose = [one for one in tokens if one.text in ("==", "!=")]
    if not strict or loose:
        return None
    spans = [Replacement(one.start, one.end, one.text[:2]) for one in strict]
    shown = replace_spans(passage.text, spans)
    return Edit("js_strict", passage.text, shown=shown)


OPERATIONS: Final = (
    Operation("js_declare", change_declaration, SCRIPT, 1.5, makes=("js_declare", "js_declare_all")),
    Operation("js_quotes", change_quotes, SCRIPT, 1.5, makes=("single_quotes", "double_quotes")),
    Operation("js_no_semicolons", drop_semicolons, SCRIPT, 0.4, ";"),
    Operation("js_semicolons", add_semicolons, SCRIPT, 0.4, ";"),
    Operation("js_delete_console", delete_console, SCRIPT, 2.5),
    Operation("js_delete_comments", delete_comments, SCRIPT, 1.5, "/", makes=("delete_comments",)),
    Operation("js_strict", strict_equality, SCRIPT, 0.5, "=="),
)
