"""Paragraphs and sentences of prose, in Markdown and plain text: added, deleted, moved."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.made_prose import made_paragraph, made_sentence
from training.spans import is_blank
from training.typos import MARKUP

__all__ = (
    "OPERATIONS",
    "append_paragraph",
    "append_sentence",
    "delete_paragraph",
    "delete_sentence",
    "insert_sentence",
    "move_paragraph",
    "paragraphs_to_list",
    "swap_paragraphs",
)

PROSE: Final = ("markdown", "text")
_ORDINALS: Final = ("first", "second", "third")
_SENTENCE: Final = re.compile(r"[A-Z][^.!?\n]*[.!?](?=\s|$)")


def append_paragraph(passage: Passage, rng: Random) -> Edit | None:
    """Add a given paragraph at the end."""
    if passage.text.endswith("```\n") or MARKUP.match(split_lines(passage.text)[-1]):
        return None
    paragraph = made_paragraph(rng, rng.randint(1, 3))
    return Edit(
        "append_paragraph",
        passage.text.rstrip("\n") + f"\n\n{paragraph}\n",
        {"text": _given(paragraph, rng)},
        {"paragraph": paragraph},
    )


def append_sentence(passage: Passage, rng: Random) -> Edit | None:
    """Add a given sentence at the end of a paragraph that is named by its place."""
    paragraphs = _paragraphs(passage.text)
    plain = [one for one in paragraphs if _is_plain(one[2])]
    if not plain or len(plain) < len(paragraphs) - 2:
        return None
    sentence = made_sentence(rng)
    index = rng.choice((0, len(plain) - 1, *range(min(3, len(plain)))))
    if len(plain) != len(paragraphs) and index not in (0, len(plain) - 1):
        return None
    if index == len(plain) - 1 and passage.text[plain[index][1] :].strip():
        return None  # a list follows, and might pass for the last paragraph
    nth = "last" if index == len(plain) - 1 else _ORDINALS[index] if index < len(_ORDINALS) else None
    if nth is None or (len(plain) != len(paragraphs) and plain[index] not in (paragraphs[0], paragraphs[-1])):
        return None
    end = plain[index][1]
    text = passage.text[:end].rstrip() + f" {sentence}" + passage.text[len(passage.text[:end].rstrip()) :]
    return Edit("append_sentence", text, {"text": sentence, "nth": nth}, ordinal=True)


def delete_paragraph(passage: Passage, rng: Random) -> Edit | None:
    """Delete a paragraph that is named by its place or by how it begins."""
    paragraphs = _paragraphs(passage.text)
    if len(paragraphs) < 2:
        return None
    index = rng.randrange(len(paragraphs))
    start, end, content = paragraphs[index]
    if not _is_plain(content):
        return None
    text = (
        passage.text[:start] + passage.text[end:].lstrip("\n")
        if index + 1 < len(paragraphs)
        else passage.text[:start].rstrip("\n") + "\n"
    )
    everything_plain = all(_is_plain(one[2]) for one in paragraphs)
    if everything_plain and (index < 3 or index == len(paragraphs) - 1) and rng.random() < 0.75:
        nth = "last" if index == len(paragraphs) - 1 else _ORDINALS[index]
        return Edit("delete_nth_paragraph", text, {"nth": nth}, ordinal=True)
    head = " ".join(content.split()[: rng.randint(2, 5)]).rstrip(".,;:")
    if passage.text.count(head) != 1 or len(head) > 60:
        return None
    return Edit("delete_paragraph", text, {"head": head})


def delete_sentence(passage: Passage, rng: Random) -> Edit | None:
    """Delete a given sentence and one blank."""
    found = [
        match
        for match in _SENTENCE.finditer(passage.text)
        if 10 < len(match[0]) < 110 and passage.text.count(match[0]) == 1
    ]
    usable = []
    for match in found:
        line_start = passage.text.rfind("\n", 0, match.start()) + 1
        line_end = passage.text.find("\n", match.start())
        line = passage.text[line_start:line_end]
        if not MARKUP.match(line) and line != match[0] and not re.search(r"(?:e\.g|i\.e|etc|Dr|Mr|Ms|vs)\.$", match[0]):
            usable.append((match, match.start() - line_start, line))
    if not usable:
        return None
    match, column, line = rng.choice(usable)
    start, end = match.start(), match.end()
    if passage.text[end : end + 1] == " ":
        end += len(passage.text[end:]) - len(passage.text[end:].lstrip(" "))
    elif column and passage.text[start - 1] == " ":
        start -= 1
    else:
        return None
    if column and passage.text[match.start() - 1] != " ":
        return None
    text = passage.text[:start] + passage.text[end:]
    if rng.random() < 0.25 and len(match[0].split()) > 5:
        head = " ".join(match[0].split()[:3])
        return Edit("delete_sentence_like", text, {"head": head}) if passage.text.count(head) == 1 else None
    return Edit("delete_sentence", text, {"text": match[0]})


def insert_sentence(passage: Passage, rng: Random) -> Edit | None:
    """Insert a given sentence after another one."""
    found = [
        match
        for match in _SENTENCE.finditer(passage.text)
        if 10 < len(match[0]) < 90 and passage.text.count(match[0]) == 1
    ]
    usable = [
        match
        for match in found
        if not MARKUP.match(passage.text[passage.text.rfind("\n", 0, match.start()) + 1 :])
        and not re.search(r"(?:e\.g|i\.e|etc)\.$", match[0])
    ]
    if not usable:
        return None
    match, new = rng.choice(usable), made_sentence(rng)
    text = passage.text[: match.end()] + f" {new}" + passage.text[match.end() :]
    return Edit("insert_sentence", text, {"text": new, "after": match[0]})


def swap_paragraphs(passage: Passage, rng: Random) -> Edit | None:
    """Swap two paragraphs that are named by their places."""
    paragraphs = _paragraphs(passage.text)
    if not 2 <= len(paragraphs) <= 6 or not all(_is_plain(one[2]) for one in paragraphs):
        return None
    first = rng.randrange(min(2, len(paragraphs) - 1))
    second = first + 1 if rng.random() < 0.7 else len(paragraphs) - 1
    names = [*_ORDINALS[: len(paragraphs)]]
    other = (
        "last"
        if second == len(paragraphs) - 1 and rng.random() < 0.5
        else names[second]
        if second < len(names)
        else "last"
    )
    one, two = paragraphs[first], paragraphs[second]
    if first == second:
        return None
    text = passage.text[: one[0]] + two[2] + passage.text[one[1] : two[0]] + one[2] + passage.text[two[1] :]
    return Edit("swap_paragraphs", text, {"nth": names[first], "other": other}, ordinal=True)


def move_paragraph(passage: Passage, rng: Random) -> Edit | None:
    """Move a paragraph, named by its place or its beginning, to the end or the start."""
    paragraphs = _paragraphs(passage.text)
    if not 3 <= len(paragraphs) <= 9 or not all(_is_plain(one[2]) for one in paragraphs):
        return None
    index = rng.randrange(len(paragraphs))
    to_end = index < len(paragraphs) - 1 and (index == 0 or rng.random() < 0.5)
    texts = [one[2] for one in paragraphs]
    moved = texts.pop(index)
    texts.insert(len(texts) if to_end else 0, moved)
    text = "\n\n".join(texts) + "\n"
    if "\n\n".join(one[2] for one in paragraphs) + "\n" != passage.text:
        return None
    nth = "last" if index == len(paragraphs) - 1 else _ORDINALS[index] if index < len(_ORDINALS) else ""
    if not nth:
        return None
    return Edit("move_paragraph", text, {"nth": nth, "where": "end" if to_end else "beginning"}, ordinal=True)


def paragraphs_to_list(passage: Passage, _rng: Random) -> Edit | None:
    """Make a bulleted list of short lines."""
    lines = split_lines(passage.text)
    if not 2 <= len(lines) <= 15 or any(
        is_blank(line) or MARKUP.match(line) or re.search(r"[{}=<>]", line) or len(line) > 80 for line in lines
    ):
        return None
    return Edit("lines_to_list", "".join(f"- {line}" for line in lines))


def _paragraphs(text: str) -> list[tuple[int, int, str]]:
    """Return each paragraph's start, end and text, without the last line's end."""
    found = []
    for match in re.finditer(r"(?:[^\n]*\S[^\n]*\n?)+", text):
        content = match[0].rstrip("\n")
        found.append((match.start(), match.start() + len(content), content))
    return found


def _is_plain(paragraph: str) -> bool:
    """Tell whether a paragraph is running text."""
    lines = paragraph.split("\n")
    return (
        not any(MARKUP.match(line) for line in lines)
        and re.search(r"[.!?]$", paragraph) is not None
        and len(paragraph) > 15
    )


def _given(text: str, rng: Random) -> str:
    return f"\n{text}" if rng.random() < 0.3 else f" {text}" if rng.random() < 0.6 else f' "{text}"'


OPERATIONS: Final = (
    Operation("append_paragraph", append_paragraph, PROSE, 2.5),
    Operation("append_sentence", append_sentence, PROSE, 2),
    Operation("delete_paragraph", delete_paragraph, PROSE, 5, makes=("delete_paragraph", "delete_nth_paragraph")),
    Operation("delete_sentence", delete_sentence, PROSE, 4, makes=("delete_sentence", "delete_sentence_like")),
    Operation("insert_sentence", insert_sentence, PROSE, 2),
    Operation("swap_paragraphs", swap_paragraphs, PROSE, 0.2),
    Operation("move_paragraph", move_paragraph, PROSE, 0.4),
    Operation("lines_to_list", paragraphs_to_list, ("text",), 0.5),
)
