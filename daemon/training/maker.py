"""Make one case: a text, an operation on it, and an instruction for what it did."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from plgd.edits.language import language_of
from plgd.text.lines import split_lines
from training.cases import Case
from training.corpus import PROSE, CorpusText, Split
from training.edit import Edit, Operation, Passage
from training.instruction import instruct
from training.json_text import parse_json
from training.lengths import n_tokens, token_counter
from training.manner import is_imperative, lower
from training.operations.table import OPERATIONS
from training.python_text import parse_python
from training.shapes import BUCKETS, SHARES, SHARES_OF_RANGES, Shelf, passage_of, range_around, regions
from training.typos import with_typos

__all__ = ("MAX_TOKENS", "Failure", "Maker")

MAX_TOKENS: Final = 4096
# Shares of cases.
RANGES: Final = 0.35
BY_REGION: Final = 0.55  # of ranges: the operation sees the lines alone; else lines are chosen around its change
TWO_EDITS: Final = 0.2
UNSEEN: Final = 0.5  # of the held-out split
WITH_TYPOS: Final = 0.08  # of prose: typos that nobody asked to mend
CRLF: Final = 0.015
OPEN_END: Final = 0.02
# How long to look for a text that an operation can change before another operation is drawn.
MAX_TRIES: Final = 60
MAX_DRAWS: Final = 1000
MAX_INSTRUCTION: Final = 1200
# Operations that parse the whole text understand no part of it.
WHOLE_LANGUAGES: Final = ("json",)
_PARSERS: Final[dict[str, Callable[[str], object]]] = {"python": parse_python, "json": parse_json}
_JOINTS: Final = (
    "{a}. {b}",
    "{a} and {b2}",
    "{a}. Also, {b2}",
    "{a}, then {b2}",
    "1. {a}\n2. {b}",
    "- {a}\n- {b}",
    "{a}; {b2}",
    "{a}. Then {b2}",
)


@dataclass(frozen=True, slots=True, order=True)
class Failure:
    """A fault of an operation, as it is counted.

    Attributes:
        kind: the operation's.
        error: the exception's class and message.
        place: the file and line that raised it.
    """

    kind: str
    error: str
    place: str


class Maker:
    """Makes cases of one split's texts."""

    def __init__(
        self, shelf: Shelf, split: Split, tokenizer: Path | None, operations: Sequence[Operation] | None = None
    ) -> None:
        """Take the texts, and the operations that may change them; all, if none are given."""
        self.failures: Counter[Failure] = Counter()
        self._shelf = shelf
        self._split = split
        self._count = token_counter(tokenizer)
        known = shelf.languages()
        self._operations = [one for one in (operations or OPERATIONS) if known & set(one.languages)]
        self._languages = {
            one.kind: [language for language in one.languages if language in known] for one in self._operations
        }
        self._weights = [one.weight for one in self._operations]

    def make(self, rng: Random) -> Case:
        """Make a case: draw its length, then an operation, then texts until it fits one.

        A fault of an operation costs this try alone; it is counted in `failures`.

        Raises:
            ValueError: the corpus has no text that any operation fits.
        """
        is_range = rng.random() < RANGES
        bucket = rng.choices(BUCKETS, SHARES_OF_RANGES if is_range else SHARES)[0]
        for _ in range(MAX_DRAWS):
            operation = rng.choices(self._operations, self._weights)[0]
            for _ in range(MAX_TRIES):
                case = None
                with self._counting_failures(operation.kind):
                    case = self._try(operation, bucket, rng, is_range=is_range)
                if case is not None:
                    return case
        raise ValueError("no operation fits any text of the corpus")

    @contextmanager
    def _counting_failures(self, kind: str) -> Iterator[None]:
        """Count a fault of an operation and go on: a run of hours must not end with one text among thousands."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported and makes the exit status
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(frame.filename).name}:{frame.lineno}"
            self.failures[Failure(kind, f"{type(error).__name__}: {error}", place)] += 1

    def _try(self, operation: Operation, bucket: tuple[int, int], rng: Random, *, is_range: bool) -> Case | None:
        language = rng.choice(self._languages[operation.kind])
        source = self._shelf.take(language, rng, bucket)
        if source is None or operation.needs not in source.text or language_of(source.path) != language:
            return None
        passage = passage_of(source)
        if language in PROSE and operation.kind != "fix_typos" and rng.random() < WITH_TYPOS:
            passage = replace(passage, text=with_typos(passage.text, rng, rng.randint(1, 4)) or passage.text)
        unseen = self._split == "held-out" and rng.random() < UNSEEN
        if is_range and language not in WHOLE_LANGUAGES and rng.random() < BY_REGION:
            return self._of_region(operation, source, passage, rng, unseen=unseen)
        edit = operation.make(passage, rng)
        if edit is None or not _is_answer(edit, passage):
            return None
        make = self._around_change if is_range else self._of_whole
        return make(edit, source, passage, rng, unseen=unseen)

    def _around_change(
        self, edit: Edit, source: CorpusText, passage: Passage, rng: Random, *, unseen: bool
    ) -> Case | None:
        found = None if edit.ordinal or edit.shown else range_around(passage.text, edit.new_text, rng)
        if found is None:
            return None
        instruction = instruct(edit, replace(passage, whole=False), rng, unseen=unseen)
        return self._case(edit.kind, source, passage, found, instruction, rng, unseen=unseen)

    def _of_whole(self, edit: Edit, source: CorpusText, passage: Passage, rng: Random, *, unseen: bool) -> Case | None:
        instruction = instruct(edit, passage, rng, unseen=unseen)
        kind, new_text = edit.kind, edit.new_text
        if edit.shown is not None:
            passage = replace(passage, text=edit.shown)
        elif instruction and kind != "no_change" and not edit.ordinal and rng.random() < TWO_EDITS:
            more = self._second(kind, passage, new_text, rng, unseen=unseen) if "\n" not in instruction else None
            if more is not None:
                kind, new_text = f"{kind}+{more[0]}", more[2]
                instruction = _join(instruction, more[1], rng)
        return self._case(kind, source, passage, (None, None, new_text), instruction, rng, unseen=unseen)

    def _of_region(
        self, operation: Operation, source: CorpusText, passage: Passage, rng: Random, *, unseen: bool
    ) -> Case | None:
        spans = regions(passage.text, passage.language)
        if not spans:
            return None
        first, last = rng.choice(spans)
        lines = split_lines(passage.text)
        part = Passage("".join(lines[first:last]), passage.language, passage.name, whole=False)
        if operation.needs not in part.text:
            return None
        edit = operation.make(part, rng)
        if edit is None or not _is_answer(edit, part):
            return None
        if edit.shown is not None:
            text = "".join([*lines[:first], edit.shown, *lines[last:]])
            passage, last = replace(passage, text=text), first + len(split_lines(edit.shown))
        instruction = instruct(edit, part, rng, unseen=unseen)
        return self._case(edit.kind, source, passage, (first + 1, last, edit.new_text), instruction, rng, unseen=unseen)

    def _second(
        self, kind: str, passage: Passage, text: str, rng: Random, *, unseen: bool
    ) -> tuple[str, str, str] | None:
        """Make another change of the changed text; return its kind, its instruction and the text after it."""
        changed = Passage(text, passage.language, passage.name)
        for _ in range(6):
            operation = rng.choices(self._operations, self._weights)[0]
            if operation.kind in (kind, "no_change") or passage.language not in operation.languages:
                continue
            edit = None
            with self._counting_failures(operation.kind):
                edit = operation.make(changed, rng)
            if edit is None or edit.ordinal or edit.shown or not _is_answer(edit, changed):
                continue
            if edit.new_text == passage.text:
                continue  # it takes the first change back
            if _new_words(passage.text, text) & _words(" ".join((*edit.slots.values(), *edit.hints.values()))):
                continue  # it would speak of what only the first change brings
            instruction = instruct(edit, changed, rng, unseen=unseen)
            if instruction and "\n" not in instruction:
                return edit.kind, instruction, edit.new_text
        return None

    def _case(
        self,
        kind: str,
        source: CorpusText,
        passage: Passage,
        answer: tuple[int | None, int | None, str],
        instruction: str | None,
        rng: Random,
        *,
        unseen: bool,
    ) -> Case | None:
        if not instruction or len(instruction) > MAX_INSTRUCTION or not passage.text.strip() or not answer[2].strip():
            return None
        first, last, new_text = answer
        text = passage.text
        if rng.random() < OPEN_END and "\n\n" not in (text[-2:], new_text[-2:]):
            if last is None or last == text.count("\n"):
                new_text = new_text.removesuffix("\n")
            text = text.removesuffix("\n")
        if rng.random() < CRLF:
            text, new_text = text.replace("\n", "\r\n"), new_text.replace("\n", "\r\n")
        phrasing: Final = "unseen" if unseen else "seen"
        case = Case(
            kind, source.package, source.path, passage.language, text, first, last, instruction, new_text, phrasing
        )
        return case if n_tokens(case, self._count) <= MAX_TOKENS else None


def _is_answer(edit: Edit, passage: Passage) -> bool:
    """Tell whether the text changes, unless the right answer is that it does not, and is still of its language."""
    before = passage.text if edit.shown is None else edit.shown
    if (edit.new_text == before) != (edit.kind == "no_change") or not edit.new_text.endswith("\n"):
        return False
    parse = _PARSERS.get(passage.language)
    return parse is None or parse(before) is None or parse(edit.new_text) is not None


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _new_words(before: str, after: str) -> set[str]:
    return _words(after) - _words(before)


def _join(first: str, second: str, rng: Random) -> str:
    joint = rng.choice(_JOINTS)
    later = lower(second) if is_imperative(second) else second  # else it may begin with a name
    return joint.format(a=first.rstrip(".!"), b=second, b2=later) if "?" not in first else f"{first} {second}"
