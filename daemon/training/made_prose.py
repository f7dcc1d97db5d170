"""Letters, notes and Markdown pages put together from everyday sentences."""

from __future__ import annotations

from random import Random
from typing import Final

from training.facts import stated
from training.words import ADJECTIVES, NOUNS, line_list

__all__ = (
    "ITEMS",
    "TITLES",
    "made_paragraph",
    "made_sentence",
    "make_essay",
    "make_letter",
    "make_markdown",
    "make_notes",
)

_SUBJECTS: Final = line_list("subjects")
_PREDICATES: Final = line_list("predicates")
_STARTERS: Final = line_list("starters")
_STATEMENTS: Final = line_list("statements")
ITEMS: Final = line_list("items")
TITLES: Final = line_list("titles")
_NAMES: Final = line_list("names")


def made_sentence(rng: Random) -> str:
    """Return a sentence with its full stop."""
    draw = rng.random()
    if draw < 0.2:
        return stated(rng)
    if draw < 0.45:
        return rng.choice(_STATEMENTS)
    start = f"{rng.choice(_STARTERS)} " if rng.random() < 0.35 else ""
    subject = rng.choice(_SUBJECTS)
    return f"{start}{subject[0].lower() + subject[1:] if start else subject} {rng.choice(_PREDICATES)}."


def made_paragraph(rng: Random, n_sentences: int) -> str:
    """Return sentences that differ, in one line."""
    sentences: dict[str, None] = {}
    while len(sentences) < n_sentences:
        sentences[made_sentence(rng)] = None
    return " ".join(sentences)


def make_letter(rng: Random, bucket: tuple[int, int]) -> tuple[str, str]:
    """Return a file's name and a letter."""
    n_paragraphs = max(1, min(24, rng.randint(bucket[0] // 2 - 1, bucket[1] // 2 - 1)))
    paragraphs = [made_paragraph(rng, rng.randint(1, 4)) for _ in range(n_paragraphs)]
    parts = [f"{rng.choice(('Dear', 'Hi', 'Hello'))} {rng.choice(_NAMES)},", *paragraphs]
    closing = rng.choice(("Best regards", "Kind regards", "Thanks", "Yours sincerely", "Cheers"))
    parts.append(f"{closing},\n{rng.choice(_NAMES[:8])}")
    return rng.choice(("letter.txt", "email.txt", "draft.txt", "message.txt")), "\n\n".join(parts) + "\n"


def make_essay(rng: Random, bucket: tuple[int, int]) -> tuple[str, str]:
    """Return a file's name and running text alone."""
    n_paragraphs = max(2, min(20, rng.randint(bucket[0] // 2 + 1, min(bucket[1], bucket[0] + 14) // 2 + 1)))
    paragraphs = [made_paragraph(rng, rng.randint(1, 5)) for _ in range(n_paragraphs)]
    return rng.choice(("essay.txt", "story.txt", "report.txt", "draft.txt", "text.txt")), "\n\n".join(paragraphs) + "\n"


def make_notes(rng: Random, bucket: tuple[int, int]) -> tuple[str, str]:
    """Return a file's name and plain notes: a title, paragraphs, a list."""
    parts = [rng.choice(TITLES)] if rng.random() < 0.6 else []
    wanted = rng.randint(bucket[0], min(bucket[0] + 60, bucket[1]))
    n_lines = 2
    while n_lines < wanted:
        if rng.random() < 0.3:
            items = rng.sample(ITEMS, rng.randint(2, min(8, max(2, wanted))))
            marker = rng.choice(("- ", "* ", ""))
            parts.append("\n".join(marker + item for item in items))
            n_lines += len(items) + 1
        else:
            parts.append(made_paragraph(rng, rng.randint(1, 5)))
            n_lines += 2
    return rng.choice(("notes.txt", "todo.txt", "draft.txt", "diary.txt", "plan.txt")), "\n\n".join(parts) + "\n"


def make_markdown(rng: Random, bucket: tuple[int, int]) -> tuple[str, str]:
    """Return a file's name and a Markdown page: headings, paragraphs, lists, a table."""
    titles = rng.sample(TITLES, len(TITLES))
    parts = [f"# {titles.pop()}"] if rng.random() < 0.8 else []
    wanted = rng.randint(bucket[0], min(bucket[0] + 60, bucket[1]))
    n_lines = 2 * len(parts)
    while n_lines < wanted:
        draw = rng.random()
        if draw < 0.28 and titles and parts:
            block = f"{'#' * rng.choice((2, 2, 2, 3))} {titles.pop()}"
        elif draw < 0.5:
            block = _list(rng)
        elif draw < 0.58:
            block = _table(rng)
        else:
            block = made_paragraph(rng, rng.randint(1, 5))
        parts.append(block)
        n_lines += block.count("\n") + 2
    return rng.choice(("README.md", "notes.md", "index.md", "guide.md", "todo.md", "meeting.md")), "\n\n".join(
        parts
    ) + "\n"


def _list(rng: Random) -> str:
    items = rng.sample(ITEMS, rng.randint(2, 7))
    if rng.random() < 0.4:
        items = [item[0].upper() + item[1:] for item in items]
    draw = rng.random()
    if draw < 0.55:
        marker = rng.choice(("- ", "- ", "* "))
        return "\n".join(marker + item for item in items)
    if draw < 0.75:
        return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))
    return "\n".join(f"- [{rng.choice('x  ')}] {item}" for item in items)


def _table(rng: Random) -> str:
    columns = rng.sample(NOUNS, rng.randint(2, 4))
    rows = [
        [rng.choice((rng.choice(ADJECTIVES), str(rng.randint(1, 99)), rng.choice(NOUNS))) for _ in columns]
        for _ in range(rng.randint(2, 6))
    ]
    head = [
        f"| {' | '.join(column.capitalize() for column in columns)} |",
        "|" + "|".join(" --- " for _ in columns) + "|",
    ]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])
