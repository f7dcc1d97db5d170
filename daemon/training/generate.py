"""`python -m training.generate CORPUS OUT --split train --n-cases N`: write cases as JSON lines.

Cases come in shards, each with a generator of random numbers of its own, so the same arguments give the same bytes
however many workers there are. Only Python's version may matter, as its parser does.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from plgd.errors import PlgdError
from training.corpus import Split, read_corpus
from training.maker import Failure, Maker
from training.shapes import Shelf

__all__ = ("Shard", "Tally", "main", "make_shard")

SHARD_SIZE: Final = 500
# How many of the faults of operations are told one by one.
MAX_FAILURES_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class Shard:
    """The arguments of a part of the run.

    Attributes:
        number: of the shard.
        n_cases: in it.
        split: of the texts and phrasings.
        seed: of the run.
        out: the folder to write to.
        tokenizer: a `tokenizer.json` to count by; None to count by characters.
    """

    number: int
    n_cases: int
    split: Split
    seed: int
    out: Path
    tokenizer: Path | None


@dataclass(frozen=True, slots=True)
class Tally:
    """What came of shards.

    Attributes:
        cases: how many there are of each kind.
        failures: faults of operations, each of which cost one try of many.
    """

    cases: Counter[str] = field(default_factory=Counter)
    failures: Counter[Failure] = field(default_factory=Counter)

    def __add__(self, other: Tally) -> Tally:
        """Return both together."""
        return Tally(self.cases + other.cases, self.failures + other.failures)


def make_shard(shard: Shard, maker: Maker) -> Tally:
    """Write one shard and count what came of it; it gets its name when it is whole, so training may go on beside."""
    rng = Random(f"{shard.seed}:{shard.split}:{shard.number}")
    counts: Counter[str] = Counter()
    before = maker.failures.copy()
    path = shard.out / f"cases-{shard.number:05}.jsonl"
    part = path.with_suffix(".part")
    with part.open("wb") as stream:
        for _ in range(shard.n_cases):
            case = maker.make(rng)
            stream.write(msgspec.json.encode(case) + b"\n")
            counts[case.kind] += 1
    part.replace(path)
    return Tally(counts, maker.failures - before)


_makers: dict[str, Maker] = {}


def _start_worker(corpus: Path, split: Split, tokenizer: Path | None) -> None:
    _makers["own"] = Maker(Shelf(read_corpus(corpus, split)), split, tokenizer)


def _work(shard: Shard) -> Tally:
    return make_shard(shard, _makers["own"])


def main() -> int:
    """Write the cases."""
    parser = argparse.ArgumentParser(
        prog="python -m training.generate", description=__doc__.split("\n\n", maxsplit=1)[0]
    )
    parser.add_argument("corpus", type=Path, help="the folder that training.corpus made")
    parser.add_argument("out", type=Path, help="the folder for the shards; must be empty or new")
    parser.add_argument("--split", choices=("train", "held-out"), default="train")
    parser.add_argument("--n-cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--tokenizer", type=Path, help="a tokenizer.json to count by; else 3 characters are a token")
    options = parser.parse_args()
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        parser.error(f"{out} is not empty")
    begin = time.monotonic()
    sizes = [min(SHARD_SIZE, options.n_cases - start) for start in range(0, options.n_cases, SHARD_SIZE)]
    shards = [
        Shard(number, size, options.split, options.seed, out, options.tokenizer) for number, size in enumerate(sizes)
    ]
    tally = Tally()
    start = (options.corpus, options.split, options.tokenizer)
    try:
        if options.workers == 1:
            _start_worker(*start)
            tally = sum(map(_work, shards), tally)
        else:
            with multiprocessing.Pool(options.workers, _start_worker, start) as pool:
                for found in pool.imap_unordered(_work, shards):
                    tally += found
    except PlgdError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    for kind, n_cases in tally.cases.most_common():
        sys.stderr.write(f"{n_cases:8}  {kind}\n")
    sys.stderr.write(f"{tally.cases.total():8}  cases in {time.monotonic() - begin:.0f} s\n")
    return _report(tally.failures)


def _report(failures: Counter[Failure]) -> int:
    """Tell the faults of operations, the most frequent first, and return the exit status."""
    if not failures:
        return 0
    for failure, n_times in failures.most_common(MAX_FAILURES_SHOWN):
        sys.stderr.write(f"{n_times:8}  times {failure.kind} failed at {failure.place}: {failure.error}\n")
    sys.stderr.write(f"{failures.total():8}  tries failed, in {len(failures)} ways; the cases above are whole\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
