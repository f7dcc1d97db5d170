"""Letters, notes and Markdown pages put together from everyday sentences."""

from __future__ import annotations

from random import Random
from typing import Final

from training.words import ADJECTIVES, NOUNS

__all__ = (
    "ITEMS",
    "PARAGRAPH_SENTENCES",
    "TITLES",
    "make_letter",
    "make_markdown",
    "make_notes",
    "made_paragraph",
    "made_sentence",
)

_SUBJECTS: Final = (
    "The team", "Our office", "The new manager", "The customer", "Everybody", "The old system", "The report", "The first draft",
    "My neighbour", "The library", "The kitchen", "The server", "The meeting", "The train", "This release", "The project",
    "The second version", "The budget", "The garden", "The museum", "Our supplier", "The printer", "The weather", "The course",
)  # fmt: skip
_PREDICATES: Final = (
    "needs more time than planned", "works well on most days", "will be ready next week", "was moved to the second floor",
    "has to be checked before Friday", "costs less than last year", "is open from nine to five", "arrived two days late",
    "depends on the weather", "can be reached by phone", "was a great success", "should be replaced soon", "helps a lot",
    "makes the work easier", "is not finished yet", "had three small problems", "looks better than before", "is closed in August",
    "was written in a hurry", "gets better every month", "starts at ten in the morning", "takes about twenty minutes",
    "surprised us all", "is easy to use", "uses far too much paper", "was paid in advance", "has been tested twice",
)  # fmt: skip
_STARTERS: Final = (
    "", "", "", "", "However, ", "In the meantime, ", "Unfortunately, ", "As far as we know, ", "Last week, ", "For now, ", "Also, ",
    "On the other hand, ", "To be honest, ", "Next month, ", "As a result, ",
)  # fmt: skip
PARAGRAPH_SENTENCES: Final = (
    "Please send me the numbers by Thursday.", "Thank you for your help with the move.", "We are looking forward to your visit.",
    "Let me know if you have any questions.", "I will call you again tomorrow.", "The invoice is attached to this message.",
    "We would like to order twelve more chairs.", "There is enough room for thirty people.", "Nobody has complained so far.",
    "You can pick up the keys at the front desk.", "Bring a warm coat and good shoes.", "Dinner is at seven.",
    "The results are shown in the table below.", "See the next section for an example.", "All prices include tax.",
    "Run the tests before you commit.", "Install the package with the usual command.", "The default port is 8080.",
    "Make a copy of your data first.", "This feature is still experimental.", "The settings are read once at startup.",
    "Older versions are not supported.", "Contributions are welcome.", "Each user has one account.", "Errors are written to the log.",
    "The cache is cleared every night.", "Passwords are never stored in plain text.", "It took them 14 days to answer.",
    "About 250 people came to the opening on 12 May 2024.", "The contract ends on 31 December 2025.",
    "The meeting on Monday was short.", "We spent 3,400 euros on repairs.", "The second room is bigger than the first one.",
)  # fmt: skip
ITEMS: Final = (
    "milk", "bread", "eggs", "apples", "coffee", "pay the rent", "call the dentist", "water the plants", "book the train",
    "clean the kitchen", "write the report", "fix the bike", "buy a birthday present", "send the invoice", "order new chairs",
    "update the documentation", "answer Maria's email", "back up the laptop", "renew the passport", "cancel the subscription",
    "prepare the slides", "test the new release", "review the contract", "tomatoes", "olive oil", "rice", "batteries",
)  # fmt: skip
TITLES: Final = (
    "Introduction", "Installation", "Usage", "Getting started", "Configuration", "Background", "Next steps", "Open questions",
    "Shopping list", "Travel plans", "Meeting notes", "Summary", "Examples", "License", "Contact", "Requirements", "Known issues",
    "History", "Budget", "Schedule", "Contributing", "Frequently asked questions", "How it works", "Features", "Support",
)  # fmt: skip
_NAMES: Final = (
    "Anna",
    "Ben",
    "Carla",
    "David",
    "Eva",
    "Felix",
    "Grace",
    "Hugo",
    "Ms Keller",
    "Mr Brown",
    "Dr. Silva",
    "all",
    "team",
)


def made_sentence(rng: Random) -> str:
    """Return a sentence with its full stop."""
    if rng.random() < 0.35:
        return rng.choice(PARAGRAPH_SENTENCES)
    start = rng.choice(_STARTERS)
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
    parts.append(
        f"{rng.choice(('Best regards', 'Kind regards', 'Thanks', 'Yours sincerely', 'Cheers'))},\n{rng.choice(_NAMES[:8])}"
    )
    return rng.choice(("letter.txt", "email.txt", "draft.txt", "message.txt")), "\n\n".join(parts) + "\n"


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
