"""Prompts and replies, made up but of the kinds that policies are judged by. The same seed, the same trace."""

from __future__ import annotations

import random

__all__ = ("TRACES", "Trace")

Trace = tuple[list[int], list[int]]

VOCABULARY = 2000


def _zipf(source: random.Random, n: int) -> list[int]:
    return [min(int(20 * source.paretovariate(0.8)), VOCABULARY) for _ in range(n)]


def copied(seed: int) -> Trace:
    """A rewrite: a text of which one token in forty is replaced, always by the same as before."""
    source = random.Random(seed)  # noqa: S311 - no secret
    text = _zipf(source, 900)
    renamed = {token: VOCABULARY + token for token in source.sample(sorted(set(text)), 12)}
    reply = [renamed.get(token, token) if source.random() < 0.5 else token for token in text]
    return [1, 2, *text, 3], reply


def partly_novel(seed: int) -> Trace:
    """Runs of 15 to 60 copied tokens between stretches of 10 to 50 new ones."""
    source = random.Random(seed)  # noqa: S311 - no secret
    text = _zipf(source, 900)
    reply: list[int] = []
    place = 0
    while place < len(text):
        run = source.randint(15, 60)
        reply += text[place : place + run] + _zipf(source, source.randint(10, 50))
        place += run
    return [1, 2, *text, 3], reply


def novel(seed: int) -> Trace:
    """Prose: tokens by Zipf's law, in which only short matches happen, and mislead."""
    source = random.Random(seed)  # noqa: S311 - no secret
    return _zipf(source, 500), _zipf(source, 900)


def ambiguous(seed: int) -> Trace:
    """Short ambiguous repetition: a handful of tokens in random order, so that every look-up finds something wrong."""
    source = random.Random(seed)  # noqa: S311 - no secret
    return [source.randrange(4) for _ in range(300)], [source.randrange(4) for _ in range(900)]


TRACES = {"copied": copied, "partly novel": partly_novel, "novel": novel, "ambiguous": ambiguous}
