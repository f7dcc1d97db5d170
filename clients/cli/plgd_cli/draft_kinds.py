"""What a token of a reply can be, by who drafted it: words, colours and marks for it, and counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

from plgd.protocol.edits import EditResult
from plgd.protocol.reply_drafts import ReplyDrafts

__all__ = ("KINDS", "Kind", "Tally", "kind_of", "rounds_said", "tallies")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of tokens.

    Attributes:
        name: what the daemon calls it.
        meaning: the same in words.
        style: of its text on a terminal, as rich names it.
        marks: what stands around its text where there are no colours.
    """

    name: str
    meaning: str
    style: str
    marks: tuple[str, str]


KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind("file", "copied from the file or another source", "green", ("", "")),
        Kind("substitution", "put in as asked for, or as the reply has done before", "magenta", ("«", "»")),
        Kind("ngram", "repeated from prompt or reply", "cyan", ("‹", "›")),
        Kind("plain", "by the model alone, without a draft", "bold", ("⟨", "⟩")),
        Kind("correction", "by the model, where a draft was wrong", "bold red", ("⟪", "⟫")),
        Kind("bonus", "by the model, behind a draft that was right", "bold yellow", ("⌈", "⌉")),
    )
}


@dataclass(frozen=True, slots=True)
class Tally:
    """How many tokens were of a kind.

    Attributes:
        kind: the kind.
        n_drafted: drafted and verified, None of what no one drafts.
        n_tokens: tokens of the reply.
    """

    kind: Kind
    n_drafted: int | None
    n_tokens: int


def kind_of(name: str) -> Kind:
    """Return the kind of that name; a proposer of another version of the daemon is shown by its own name."""
    return KINDS.get(name) or Kind(name, "", "blue", (f"{name}:‹", "›"))


def tallies(result: EditResult, drafts: ReplyDrafts) -> list[Tally]:
    """Count the tokens of a reply by their kind, the known kinds first; those that do not occur are left out."""
    n_tokens: Counter[str] = Counter()
    for run in drafts.runs:
        n_tokens[run.by] += run.n_tokens
    proposers = result.stats.proposers
    found = []
    for name in dict.fromkeys((*KINDS, *proposers, *n_tokens)):
        counts, kind = proposers.get(name), kind_of(name)
        if counts is not None:
            found.append(Tally(kind, counts.drafted_tokens, counts.accepted_tokens))
        elif n_tokens[name]:
            found.append(Tally(kind, None, n_tokens[name]))
    return found


def rounds_said(result: EditResult, drafts: ReplyDrafts) -> str:
    """Say how many rounds a reply took, such as `142 tokens in 25 rounds, 5.7 a round, the widest 32`."""
    stats = result.stats
    if not stats.rounds:
        return "no tokens"
    rounds = "1 round" if stats.rounds == 1 else f"{stats.rounds:,} rounds"
    tokens = "1 token" if stats.output_tokens == 1 else f"{stats.output_tokens:,} tokens"
    said = f"{tokens} in {rounds}, {stats.output_tokens / stats.rounds:.1f} a round, the widest {max(drafts.widths)}"
    return f"{said}; the last {drafts.n_left_out:,} tokens are not shown" if drafts.n_left_out else said
