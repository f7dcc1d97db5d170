"""Deliberate defects in cursor, re-alignment and substitutions: each must be noticed.

The check rewrites one file in several ways and compares, word for word, what of each reply was not foretold. A defect
that drafts less, or something else, leaves more of it.
"""

from __future__ import annotations

import re

import pytest

from characters import pieces
from mutations import Mutation, Noticed
from plgd.engine import patcher
from plgd.engine.cursor import Cursor
from plgd.engine.file_draft import FileDraftProposer
from plgd.engine.hypothesis import Hypothesis
from plgd.engine.overlay import Overlay
from plgd.engine.patcher import Patcher
from plgd.engine.sources import Sources
from plgd.engine.substitution import Substitutions

SOURCE = """\
import json
from pathlib import Path


def load(path, limit):
    total = 0
    items = json.loads(Path(path).read_text())
    for item in items:
        if item.size > limit:
            continue
        total = total + item.size
    print("loaded", len(items), "items of", total)
    return items, total


def save(items, path):
    lines = [item.name for item in items]
    total = sum(item.size for item in items)
    Path(path).write_text(json.dumps(lines))
    print("saved", len(lines), "names of", total)
    return total


def report(items):
    total = sum(item.size for item in items)
    longest = max(items, key=lambda item: item.size)
    print("total", total, "longest", longest.name)
"""
IMPORTS, LOAD, SAVE, REPORT = SOURCE.split("\n\n\n")
LOOP = "    for item in items:\n"

# What becomes of the file, and the words of the reply that nothing could foretell, or that took evidence.
EDITS: dict[str, tuple[str, list[str]]] = {
    "nothing": (SOURCE, []),
    "a rename": (re.sub(r"\btotal\b", "grand_sum", SOURCE), ["gran", "d_su", "m", " "]),
    "two renames": (
        re.sub(r"\btotal\b", "grand_sum", SOURCE.replace("items", "files")),
        ["gran", "d_su", "m", " ", "file", "s"],
    ),
    "a line for each function": (
        re.sub(r"(?m)^(def .*\n)", r"\1    trace.enter(level)\n", SOURCE),
        ["trac", "e", ".", "ente", "r", "(", "leve", "l", ")", "tota", " 0", "trac", "line", "trac", "tota"],
    ),
    "a rename that ends": (
        SOURCE.replace("total", "grand_sum", 3),
        ["gran", "d_su", "m", " ", " tota"],
    ),
    "a name in two places": (SOURCE.replace("total = sum(", "grand_sum = sum("), ["gran", "d_su", "m", " ", "gran"]),
    "a word replaced": (SOURCE.replace("continue", "break"), ["brea", "k", "\n        "]),
    "a line inserted": (
        SOURCE.replace(LOOP, f"    check(items, limit)\n{LOOP}", 1),
        ["chec", "k", "(", "item", ",", " limi", "\n    ", "for"],
    ),
    "lines deleted": (SOURCE.replace("        if item.size > limit:\n            continue\n", ""), ["tota"]),
    "functions in another order": (f"{IMPORTS}\n\n\n{SAVE}\n\n\n{LOAD}\n\n\n{REPORT}", [" save", " load", " repo"]),
    "half the indentation": (
        re.sub(r"(?m)^ +", lambda match: match[0][len(match[0]) // 2 :], SOURCE),
        ["\n  ", "tota", "\n  ", "item"],
    ),
    "other quotes": (SOURCE.replace('"', "'"), ["'", "load", "'", ","]),
    "an argument for each call": (
        SOURCE.replace("print(", "print(out, "),
        ["out", ",", " ", "load", "out", "save", "out", "tota"],
    ),
}
LIST = "[" + ",".join(f"\n  {{\n    id: {n},\n    tags: [{tag}]\n  }}" for n, tag in enumerate("abcde")) + "\n]\n"
# The first two objects teach it; the last ends otherwise.
LIST_MISSED = ["],", "\n    ", "new", ":", " on", "\n  ", "],", "\n    ", "],", "\n    ", "}"]
HINT = "def check(items, limit):\n    raise NotImplementedError\n"


def missed(source: str, reply: str, *, joined: bool = False) -> list[str]:
    """Return the words of a reply that were not the first of the draft before them."""
    codec = pieces(joined=joined)
    proposer = FileDraftProposer([codec.encode(source)], 0, codec)
    words = []
    for token in codec.encode(reply):
        draft = proposer.propose(24)
        if len(draft.tokens) != len(draft.chances) or -1 in draft.tokens:
            raise Noticed(draft)
        if draft.tokens[:1] != (token,):
            words.append(codec.decode((token,)))
        proposer.extend((token,))
    return words


def foretold(source: str, reply: str, n: int) -> str:
    """Return what is drafted once the reply, taken in as one block, is so far."""
    codec = pieces()
    proposer = FileDraftProposer([codec.encode(text) for text in (source, HINT)], 0, codec)
    proposer.extend(codec.encode(reply))
    return codec.decode(proposer.propose(n).tokens)


def check_drafts() -> None:
    """Rewrite the file in every way, token by token; then draft behind whole blocks, and to the end of the file.

    Then give each object of a list a field more.
    """
    for name, (reply, expected) in EDITS.items():
        if expected != (found := missed(SOURCE, reply)):
            raise Noticed(name, found)
    renamed = EDITS["a rename"][0]
    seen = renamed[: renamed.index(" = json.loads")]
    behind = foretold(SOURCE, seen, 80)
    if "grand_sum" not in behind or not renamed.startswith(seen + behind):
        raise Noticed("behind a block", behind)
    seen = SOURCE[: SOURCE.index("\n\n\ndef save")]
    if SOURCE[len(seen) :] != (behind := foretold(SOURCE, seen, 999)):
        raise Noticed("to the end", behind)
    reply = LIST.replace("]\n  }", "],\n    new: on\n  }")
    if LIST_MISSED != (found := missed(LIST, reply, joined=True)):
        raise Noticed("a field for each object", found)


MUTATIONS = {
    "what was not made before is drafted for ever": Mutation(
        Cursor, Cursor._read, "not patch.was_denied or self._chance_of(hypothesis, patch) >= LIKELY", "True"
    ),
    "a word that stayed is renamed": Mutation(
        Substitutions, Substitutions._learn_word, "n_denied = int(re.search(", "n_denied = 0 * int(re.search("
    ),
    "the reply itself is not read": Mutation(Cursor, Cursor._realign, "in sources.find_latest()", "in ()"),
    "a source is left one token late": Mutation(
        Cursor, Cursor._leave, "len(self._sources.tokens) - 1", "len(self._sources.tokens)"
    ),
    "a patch is followed where the source went on": Mutation(
        Cursor, Cursor._follow, "hypothesis.is_raw = True", "hypothesis.is_raw = False"
    ),
    "what stands ahead is not looked for": Mutation(
        Cursor, Cursor._realign, "in sources.find_near(token, anchor)", "in ()"
    ),
    "a place near is the token itself": Mutation(
        Sources, Sources.find_near, "yield places[above] + 1", "yield places[above]"
    ),
    "the least likely place is believed": Mutation(Cursor, Cursor._rank, "return -score", "return score"),
    "a change is never over": Mutation(Cursor, Cursor._find, "self._left_at = None", "pass"),
    "a change is seen where it ends": Mutation(
        Cursor, Cursor._find, "Change(self._anchor, came_back,", "Change(came_back, came_back,"
    ),
    "a change ends with the reply": Mutation(
        Cursor, Cursor._find, "len(self._sources.tokens) - best.streak", "len(self._sources.tokens)"
    ),
    "a run reads over patches": Mutation(
        Cursor,
        Cursor.run_on,
        "self._overlay.find_next(first_patched, min(place + len(tokens), sources.n_source - 1))",
        "min(place + len(tokens), sources.n_source - 1)",
    ),
    "a repeated insertion hides the source": Mutation(Cursor, Cursor._look_back, "streak >= FOUND", "streak > 99"),
    "what goes on a line's end is tokenized without it": Mutation(
        patcher, patcher._windows, "places[first] == rewrite.start", "False"
    ),
    "a run stops one token early": Mutation(
        Cursor, Cursor.run_on, "best.place = self._anchor = place + n", "best.place = self._anchor = place + n - 1"
    ),
    "drafts run from one text into the next": Mutation(
        Sources, Sources.end_behind, "self.n_source) - 1", "self.n_source)"
    ),
    "a patch takes the token behind it along": Mutation(
        Hypothesis,
        Hypothesis.advance,
        "self.place, self.patch, self.n_read = patch.end",
        "self.place, self.patch, self.n_read = patch.end + 1",
    ),
    "patches are read over": Mutation(Overlay, Overlay.find_next, "if not patches:", "if True:"),
    "a new rule does not reach what was laid over before": Mutation(Patcher, Patcher._learn, "self._forget()", "pass"),
    "denials are forgotten": Mutation(Patcher, Patcher.observe, "standing.n_denied += 1", "standing.n_denied += 0"),
    "every rewrite of a line shifts the next": Mutation(
        patcher, patcher._common_borders, "shift += len(", "shift -= len("
    ),
    "one sighting makes a rule of any change": Mutation(
        Substitutions, Substitutions._learn_span, "if earlier is None:", "if False:"
    ),
    "a renamed word is no rule": Mutation(
        Substitutions, Substitutions._learn_span, "return self._learn_word(old, new, before)", "return False"
    ),
    "an indentation is no rule": Mutation(
        Substitutions, Substitutions._learn_indent, "if len(self._indents) < 2:", "if True:"
    ),
}


def test_the_intact_drafts_pass() -> None:
    """The check finds nothing in cursor and substitutions as they are."""
    check_drafts()


@pytest.mark.parametrize("mutation", MUTATIONS.values(), ids=MUTATIONS)
def test_a_mutation_is_noticed(mutation: Mutation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each defect leaves other words of a reply than those that nothing could foretell, or breaks a contract."""
    mutation.apply(monkeypatch)
    with pytest.raises((Noticed, LookupError, TypeError, AttributeError)):
        check_drafts()
