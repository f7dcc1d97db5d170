"""How people say an instruction: politely, in a hurry, with a reason, without capitals, with a slip of the finger."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Final

__all__ = ("SEEN", "UNSEEN", "Manner", "is_imperative", "lower", "say", "slip")

_IMPERATIVE: Final = re.compile(
    r"(?:add|append|annotate|apply|assign|bold|bring|bump|call|capitalise|capitalize|change|check|clean|clear|collapse|convert|"
    r"copy|correct|cut|declare|decorate|decrease|delete|demote|derive|document|drop|duplicate|emphasise|emphasize|end|"
    r"erase|exchange|extend|fix|flip|format|get rid|give|guard|import|include|increase|indent|insert|inline|join|keep|"
    r"let|link|list|log|lower|make|mark|mend|merge|move|name|number|order|pass|prefix|prepend|promote|purge|put|raise|re-?indent|reformat|"
    r"refactor|remove|rename|reorder|repair|replace|rephrase|return|retitle|rewrite|set|sort|spell|start|strip|substitute|swap|"
    r"switch|take|throw|tick|tidy|title|trim|turn|uncheck|underline|update|use|wrap|write) ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Manner:
    """Words around an instruction. `{}` is the instruction, in lower case where a sentence goes on.

    Attributes:
        polite: around an imperative.
        reasons: after it.
        limits: after it: what must not happen.
        places: around it, when lines are selected.
        files: around it, with the file's `{name}`.
    """

    polite: tuple[str, ...]
    reasons: tuple[str, ...]
    limits: tuple[str, ...]
    places: tuple[str, ...]
    files: tuple[str, ...]


SEEN: Final = Manner(
    polite=(
        "Please {}", "please {}", "{}, please", "{} please", "Can you {}?", "can you {}", "Could you {}?", "could you please {}?",
        "Can you please {}?", "I want you to {}", "I'd like you to {}", "I need you to {}", "We need to {}", "We should {}",
        "Let's {}", "lets {}", "Just {}", "pls {}", "Hi, can you {}? Thanks", "{}. Thanks!", "{}, thanks", "{} thx", "Now {}",
        "TODO: {}", "todo: {}", "Task: {}", "Next, {}", "You should {}", "Go ahead and {}", "I think we should {}",
        "It would be nice to {}", "Would you {}?", "Next step: {}", "Time to {}", "Hey, {}", "Don't forget to {}", "nit: {}",
        "Nit: {}", "Review comment: {}", "Your task is to {}", "First thing to do: {}", "Someone asked us to {}", "Quick one: {}",
        "Remember to {}", "Edit: {}", "ok now {}", "Help me {}", "I forgot to {}, can you do it?", "The reviewer wants us to {}",
    ),
    reasons=(
        ", it reads better", " for consistency", " (as discussed)", " as agreed", " - the linter complains", " to match the docs",
        ", so it is clearer", ", that is what we use elsewhere", " because it confuses people", " as requested in review",
        " (see the style guide)", " since the customer asked for it", " before the release", ", it's easier to follow",
        " - it was decided yesterday", ", we talked about it", " so that the tests pass", ". It was requested by the team.",
    ),
    limits=(
        ". Keep everything else unchanged.", ", nothing else", ". Leave the rest as it is.", ". Don't touch anything else.",
        ", keep the rest", " and change nothing else", ". Everything else stays.", " only", ". No other changes.",
        ", leave everything else alone", ". Do not change anything else!", " - rest stays the same",
    ),
    places=(
        "{} here", "Here, {}", "{} in this part", "In this part, {}", "{} in the selected lines", "In the selection, {}",
        "{} in these lines", "In these lines {}", "{} (selected lines only)", "in this bit: {}", "{} in this block",
        "In this section: {}", "{} in the lines below",
    ),
    files=(
        "In {name}, {}", "{} in {name}", "in {name}: {}", "{name}: {}", "In the file {name}, {}", "In this file, {}",
        "{} in this file", "For {name}: {}", "{} (in {name})", "Open {name} and {}", "In `{name}` {}", "{} in `{name}`",
    ),
)  # fmt: skip

UNSEEN: Final = Manner(
    polite=(
        "Would you mind if I asked you to {}?", "It'd be great if you could {}", "Kindly {}", "Be so good as to {}",
        "I was wondering whether you could {}", "Follow-up: {}", "The only thing left is to {}", "My request: {}",
        "We've decided to {}", "Any chance you could {}?", "Suggestion: {}", "You may {}", "Feel free to {}",
    ),
    reasons=(
        " - easier on the eyes", ", otherwise people will ask", " (ticket 4211)", ", per the new guidelines", ", my boss insists",
        " because the old way is misleading",
    ),
    limits=(
        ". The remainder must be identical.", " but touch nothing more", ". Apart from that it is fine.", ", that's all",
        " without altering other lines",
    ),
    places=("Within the marked text, {}", "{} in what I highlighted", "For the passage at hand: {}", "{}, only within this excerpt"),
    files=("As for {name}: {}", "{} inside {name}", "{name} needs work: {}", "While you are in {name}, {}"),
)  # fmt: skip


def is_imperative(text: str) -> bool:
    """Tell whether a phrasing begins with a verb that `please` may stand before."""
    return _IMPERATIVE.match(text) is not None


def say(text: str, name: str, rng: Random, manner: Manner, *, whole: bool, imperative: bool) -> str:
    """Say an instruction in some manner.

    Args:
        text: filled in already; given code may stand after its first line.
        name: of the file.
        rng: draws the manner.
        manner: the words to draw from.
        whole: whether the request is for a whole file.
        imperative: whether `please` and the like may stand before it.
    """
    first, newline, rest = text.partition("\n")
    draw = rng.random()
    if newline:
        if draw < 0.12 and imperative:
            first = f"Please {lower(first)}"
        return first + newline + rest
    if draw < 0.22 and imperative:
        frame = rng.choice(manner.polite)
        bare = first.rstrip(".")
        first = frame.format(bare if frame.startswith("{}") else lower(bare))
    elif draw < 0.28 and imperative and _ends_open(first):
        first += rng.choice(manner.reasons)
    elif draw < 0.34 and imperative and _ends_open(first):
        first += rng.choice(manner.limits)
    elif draw < 0.39 and imperative:
        frame = rng.choice(manner.files if whole else manner.places)
        first = frame.replace("{name}", name).replace("{}", first if frame.startswith("{}") else lower(first))
    elif draw < 0.62 and _ends_open(first):
        first += "."
    elif draw < 0.64 and imperative:
        first += "!"
    return first


def slip(text: str, rng: Random) -> str:
    """Mistype a word outside of slots: two letters swapped, one missing, or one doubled."""
    words = list(re.finditer(r"(?<![{\w])[a-z]{4,}(?![}=\w])", text))
    if not words:
        return text
    word = rng.choice(words)
    at = word.start() + rng.randrange(1, len(word[0]) - 1)
    kind = rng.randrange(3)
    if kind == 0:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + text[at + 1 :] if kind == 1 else text[:at] + text[at] + text[at:]


def _may_belower(text: str) -> bool:
    return len(text) > 1 and text[0].isupper() and not text[1].isupper() and text[:2] != "I "


def lower(text: str) -> str:
    """Write the first letter small, unless the first word is an abbreviation or `I`."""
    return text[0].lower() + text[1:] if _may_belower(text) else text


def _ends_open(text: str) -> bool:
    return bool(text) and text[-1] not in ".!?:;"
