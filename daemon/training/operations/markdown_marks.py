"""Emphasis, links and fences of Markdown."""

from __future__ import annotations

import re
from random import Random
from typing import Final

from plgd.text.lines import split_lines
from training.edit import Edit, Operation, Passage
from training.operations.markdown_lines import fenced_lines
from training.spans import word_pattern
from training.words import word

__all__ = (
    "OPERATIONS",
    "emphasise",
    "fence_language",
    "plain_code",
)

MARKDOWN: Final = ("markdown",)


def emphasise(passage: Passage, rng: Random) -> Edit | None:
    """Make every occurrence of a word, or the only one, bold, italic, code or a link."""
    lines = list(split_lines(passage.text))
    fenced = fenced_lines(lines)
    prose = [
        index for index, line in enumerate(lines) if not fenced[index] and not re.match(r"\s*(?:[#|>\[]|\|)|    ", line)
    ]
    words = sorted(
        {found for index in prose for found in re.findall(r"(?<![\w*`\[/.-])[A-Za-z]{4,}(?![\w*`\]/(-])", lines[index])}
    )
    rng.shuffle(words)
    for chosen in words[:6]:
        pattern = word_pattern(chosen)
        places = [match.start() for match in pattern.finditer(passage.text)]
        text = passage.text
        if len(places) > 4 or re.search(rf"[`*\[/._-]{chosen}|{chosen}[`*\]/._-]\w", text):
            continue
        if len(places) != sum(len(pattern.findall(lines[index])) for index in prose):
            continue
        kind, before, after = rng.choice(
            (
                ("bold_word", "**", "**"),
                ("bold_word", "**", "**"),
                ("code_word", "`", "`"),
                ("code_word", "`", "`"),
                ("italic_word", "*", "*"),
                ("link_word", "[", f"](https://{word(rng)}.example.com)"),
            )
        )
        slots = {"word": chosen} | ({"url": after[2:-1]} if kind == "link_word" else {})
        if kind == "link_word" and len(places) > 1:
            continue
        return Edit(kind, pattern.sub(f"{before}{chosen}{after}", text), slots)
    return None


def plain_code(passage: Passage, _rng: Random) -> Edit | None:
    """Take away all bold marks."""
    if passage.text.count("**") % 2 or "```" in passage.text or re.search(r"\*\*\*|`[^`\n]*\*\*", passage.text):
        return None
    text = re.sub(r"\*\*([^*\n]+)\*\*", r"\1", passage.text)
    return Edit("remove_bold", text) if "**" not in text else None


def fence_language(passage: Passage, rng: Random) -> Edit | None:
    """Name the language of the fences that name none."""
    lines = list(split_lines(passage.text))
    opening = [index for index, line in enumerate(lines) if line.startswith("```")]
    if len(opening) % 2 or not opening:
        return None
    bare = [index for index in opening[::2] if lines[index].strip() == "```"]
    if not bare or len(bare) != len(opening) // 2:
        return None
    language = rng.choice(("python", "bash", "console", "json", "text", "shell"))
    for index in bare:
        lines[index] = f"```{language}\n"
    return Edit("fence_language", "".join(lines), {"language": language})


OPERATIONS: Final = (
    Operation("emphasise", emphasise, MARKDOWN, 2.5, makes=("bold_word", "code_word", "italic_word", "link_word")),
    Operation("remove_bold", plain_code, MARKDOWN, 0.5, "**"),
    Operation("fence_language", fence_language, MARKDOWN, 0.4, "```"),
)
