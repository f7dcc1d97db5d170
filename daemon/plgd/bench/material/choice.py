"""The material of replays: pairs of files as the options name them, and traces by kind of edit."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Final, TypeVar

from plgd.bench.material.corpus import load_corpus, read_listing
from plgd.bench.material.pairs import FilePair, pairs_from_folders
from plgd.bench.material.synthetic import ADVERSARIAL, SYNTHETIC, edit_of, instruction_of, unforeseen
from plgd.bench.replay.trace import Trace, make_trace
from plgd.engine.model import Tokenizer
from plgd.errors import BenchError
from plgd.paths import Paths

__all__ = ("KINDS", "RELEASE", "choose", "load_pairs", "make_traces")

Value = TypeVar("Value")

RELEASE: Final = "release"
KINDS: Final = (RELEASE, *SYNTHETIC, *ADVERSARIAL)

# Pairs of one package and language, and packages, in a full and in a quick replay.
N_EACH: Final = 3
QUICK_PACKAGES: Final = 6
# Pairs that a synthetic kind is made of, so that it takes about as long as a few packages.
N_SYNTHETIC: Final = 24


def load_pairs(arguments: argparse.Namespace, paths: Paths, say: Callable[[str], None]) -> Sequence[FilePair]:
    """Return the pairs that the options name: a folder's, or those of the corpus, which is fetched where it is missing.

    Raises:
        BenchError: the folder or the corpus cannot be used.
    """
    if arguments.pairs is not None:
        return pairs_from_folders(Path(arguments.pairs))
    packages = tuple(package for package in read_listing() if arguments.part in (None, package.part))
    if arguments.quick:
        packages = packages[:: max(len(packages) // QUICK_PACKAGES, 1)]
    return load_corpus(packages, paths.cache_dir / "corpus", n_each=1 if arguments.quick else N_EACH, say=say)


def choose(what: str, known: Mapping[str, Value], names: Sequence[str] | None) -> dict[str, Value]:
    """Return the named values in the order in which they were named, all of them when none is named.

    Raises:
        BenchError: there is no such name; the message says which there are.
    """
    for name in names or ():
        if name not in known:
            raise BenchError.unreadable(f"{what} {name}", f"there are {', '.join(known)}")
    return {name: known[name] for name in names or known}


def make_traces(
    pairs: Sequence[FilePair], kinds: Sequence[str], tokenizer: Tokenizer, *, n_synthetic: int | None = N_SYNTHETIC
) -> Iterator[Trace]:
    """Yield the traces of each kind: all pairs as they are, synthetic edits of `n_synthetic` at most (None: of all)."""
    for kind in kinds:
        if kind == RELEASE:
            yield from (make_trace(pair, "Update to the next release.", kind, tokenizer) for pair in pairs)
            continue
        for pair in islice(_edits(pairs, kind), n_synthetic):
            yield make_trace(pair, instruction_of(pair, kind), kind, tokenizer)


def _edits(pairs: Sequence[FilePair], kind: str) -> Iterator[FilePair]:
    if kind in SYNTHETIC:
        yield from (edit for pair in pairs if (edit := edit_of(pair, kind)) is not None)
        return
    for pair, other in zip(pairs, islice(cycle(pairs), len(pairs) // 2, None), strict=False):
        if pair.package != other.package or len(pairs) == 1:
            yield unforeseen(pair, other, kind)
