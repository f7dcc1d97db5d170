"""`python -m training.suite CASES OUT`: makes the held-out suite of `plgd bench --edits` from generated cases.

Cases with phrasings that training never sees are taken, of each kind at least one and else as they come, and told by
the archives that their texts come from, so that the file holds no text of others but what the edits bring.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

from plgd.bench.edits_held_out import HELD_OUT, StoredEdit, StoredSource, StoredSuite
from plgd.bench.edits_pieces import Piece, cut
from plgd.bench.edits_results import group_of
from plgd.bench.material.corpus import Release, fetch_release
from plgd.bench.material.pairs import archive_texts
from plgd.errors import PlgdError
from training.cases import Case, answer_of, read_cases
from training.corpus import Source, read_sources
from training.synthetic import PACKAGE

__all__ = ("choose", "main", "store")

# Characters of a text before its edit that may be told by themselves: what an operation put there, such as a typo.
MAX_OWN: Final = 300
# A wheel with compiled parts fits one platform only.
PURE_WHEEL: Final = "-none-any.whl"
# A package's page is in its metadata, behind mail headers.
PAGES: Final = ("METADATA", "PKG-INFO")


class _Archives:
    """The texts of held-out archives, by what the corpus calls them.

    Args:
        folder: where archives are kept.
        sources: those that may be used.
    """

    def __init__(self, folder: Path, sources: Iterable[Source]) -> None:
        self._folder = folder
        self._sources = {
            f"{source.name}-{source.kind}": source
            for source in sources
            if source.split == "held-out" and (source.kind != "wheel" or source.file.endswith(PURE_WHEEL))
        }
        self._texts = cache(self._read)

    def find(self, case: Case) -> tuple[Source, str, tuple[Piece, ...]] | None:
        """Return where a case's text comes from and how it is told by that file; None for one that cannot be told."""
        key = next((key for key in self._sources if case.path.startswith(f"{key}/")), None)
        if key is None:
            return None
        source = self._sources[key]
        texts = self._texts(source)
        told = [
            (member, tuple(cut(texts[member], case.text)))
            for member in _members(PurePosixPath(case.path.removeprefix(f"{key}/")))
            if member in texts
        ]
        member, pieces = min(told, key=lambda found: _n_own(found[1]), default=("", ()))
        return (source, member, pieces) if member and _n_own(pieces) <= MAX_OWN else None

    def _read(self, source: Source) -> dict[str, str]:
        release = Release(source.version, source.file, source.sha256)
        return dict(archive_texts(fetch_release(source.name, source.kind, release, self._folder, _say)))


def choose(cases: Iterable[Case]) -> Iterator[Case]:
    """Yield cases in the order in which they are wanted: the first of each kind, then the others as they come."""
    wanted = [case for case in cases if case.phrasing == "unseen"]
    firsts: dict[str, Case] = {}
    for case in wanted:
        firsts.setdefault(group_of(case.kind), case)
    return chain(firsts.values(), (case for case in wanted if firsts[group_of(case.kind)] is not case))


def store(cases: Iterable[Case], archives: Path, n_edits: int, sources: Iterable[Source]) -> StoredSuite:
    """Tell cases by their archives.

    Args:
        cases: those that are wanted most come first.
        archives: where archives are kept; missing ones are fetched.
        n_edits: how many edits the suite is to have.
        sources: the corpus's.

    Raises:
        BenchError: an archive cannot be fetched or read.
        ValueError: there are not so many.
    """
    known = _Archives(archives, sources)
    edits: list[StoredEdit] = []
    used: dict[str, Source] = {}
    for case in cases:
        if case.package == PACKAGE:
            edits.append(_edit(case, "", "", (case.text,), len(edits)))
        elif (found := known.find(case)) is not None:
            source, member, before = found
            used[source.file] = source
            edits.append(_edit(case, source.file, member, before, len(edits)))
        if len(edits) == n_edits:
            break
    else:
        raise ValueError(f"only {len(edits)} of {n_edits} edits; generate more cases of the held-out split")
    stored = [
        StoredSource(source.name, source.kind, source.version, source.file, source.sha256, source.licence)
        for _, source in sorted(used.items())
    ]
    return StoredSuite(tuple(stored), tuple(sorted(edits, key=lambda edit: edit.name)))


def _edit(case: Case, source: str, member: str, before: tuple[Piece, ...], number: int) -> StoredEdit:
    lines = None
    if case.first_line is not None and case.last_line is not None:
        lines = (case.first_line, case.last_line)
    return StoredEdit(
        name=f"{case.kind}-{number:03}",
        kind=group_of(case.kind),
        source=source,
        member=member,
        path=PurePosixPath(case.path).name,
        before=before,
        after=tuple(cut(case.text, answer_of(case))),
        instruction=case.instruction,
        phrasing=case.phrasing,
        lines=lines,
    )


def _members(path: PurePosixPath) -> Iterator[str]:
    """Yield what a text of the corpus may be called in its archive: pieces of long files have numbers."""
    yield str(path)
    stem, _, number = path.stem.rpartition("-")
    if stem and number.isdigit():
        yield str(path.with_stem(stem))
    yield from (str(path.with_name(page)) for page in PAGES)


def _n_own(pieces: Iterable[Piece]) -> int:
    return sum(len(piece) for piece in pieces if isinstance(piece, str))


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")


def main(words: list[str] | None = None) -> int:
    """Run the command.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(prog="python -m training.suite", description="Make the suite of held-out edits.")
    parser.add_argument("cases", type=Path, metavar="CASES", help="shards of training.generate --split held-out")
    parser.add_argument("out", type=Path, metavar="OUT", nargs="?", default=HELD_OUT, help="default: plgd's own")
    parser.add_argument("--archives", type=Path, required=True, metavar="DIR", help="where archives are kept")
    parser.add_argument("--n-edits", type=int, default=400, metavar="N", help="default %(default)s")
    arguments = parser.parse_args(words)
    arguments.archives.mkdir(parents=True, exist_ok=True)
    try:
        wanted = choose(read_cases(arguments.cases))
        suite = store(wanted, arguments.archives, arguments.n_edits, read_sources())
    except (PlgdError, ValueError, OSError) as error:
        _say(f"suite: {error}")
        return 1
    lines = (msgspec.json.encode(edit).decode() for edit in suite.edits)
    sources = msgspec.json.encode(suite.sources).decode()
    text = f'{{"sources":{sources},\n"edits":[\n' + ",\n".join(lines) + "\n]}\n"
    arguments.out.write_text(text, encoding="utf-8")
    _say(f"{arguments.out}: {len(suite.edits)} edits of {len(suite.sources)} archives, {len(text.encode()):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
