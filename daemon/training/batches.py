"""Batches of examples of like length, tokenized by other processes while the model trains."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import numpy as np
import numpy.typing as npt

from plgd.engine.mlx.text import MlxTokenizer
from training.cases import read_shard, shards
from training.decisions import Weights
from training.examples import Example, Tokens, make_example, open_tokenizer

__all__ = ("LENGTH_STEP", "Batch", "batches", "make_batches", "tokenize")

# A batch's columns are a multiple of this.
LENGTH_STEP: Final = 8
# Examples among which those of like length are put together.
POOL_SIZE: Final = 16_384


@dataclass(frozen=True, slots=True)
class Batch:
    """Some examples, one a row, filled up with zeros on the right.

    Attributes:
        tokens: [rows, columns].
        places: where, in `tokens` laid out flat, the next token is one of a reply, [M].
        targets: those next tokens, [M].
        weights: how much each of them counts, [M].
        n_real: tokens that are not filling.
    """

    tokens: Tokens
    places: npt.NDArray[np.int64]
    targets: Tokens
    weights: Weights
    n_real: int

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Batch:
        """Put examples together."""
        n_columns = _columns(max(example.n_tokens for example in examples))
        tokens = np.zeros((len(examples), n_columns), np.int32)
        places = []
        for row, example in enumerate(examples):
            tokens[row, : example.n_tokens] = np.concatenate([example.prompt, example.reply])
            start = row * n_columns + len(example.prompt) - 1
            places.append(np.arange(start, start + len(example.reply)))
        flat = np.concatenate(places)
        weights = np.concatenate([example.weights for example in examples])
        return cls(tokens, flat, tokens.ravel()[flat + 1], weights, sum(example.n_tokens for example in examples))


def batches(
    cases: Path,
    base: Path,
    *,
    n_tokens: int,
    max_length: int,
    seed: int,
    n_workers: int,
    share: tuple[int, int] = (0, 1),
) -> Generator[Batch, None, None]:
    """Yield batches for ever; each time through the data in another order.

    Shards that are written meanwhile join in: after each time through, the new ones come first.

    Args:
        cases: a folder of shards.
        base: the model folder, for its tokenizer.
        n_tokens: the most that a batch may hold, filling included.
        max_length: longer examples are left out.
        seed: of the order; the same seed and shards give the same batches.
        n_workers: processes that tokenize.
        share: this trainer's number, from 0, and how many there are; each reads another part of the data.

    Raises:
        ValueError: the folder holds no case that is short enough.
    """
    random = Random(seed)
    known: set[Path] = set()
    kept: list[Example] = []
    with ProcessPoolExecutor(
        n_workers, multiprocessing.get_context("spawn"), initializer=_prepare, initargs=(base, max_length)
    ) as workers:
        try:
            while True:
                fresh = [shard for shard in _shared(shards(cases), *share) if shard not in known]
                random.shuffle(fresh)
                known.update(fresh)
                pool: list[Example] = []
                for examples in workers.map(_tokenize, fresh):
                    kept += examples
                    pool += examples
                    if len(pool) >= POOL_SIZE:
                        yield from make_batches(pool, n_tokens, random)
                        pool = []
                yield from make_batches(pool, n_tokens, random)
                if not kept:
                    raise ValueError(f"no case of {cases} has at most {max_length} tokens")
                if not fresh:
                    random.shuffle(kept)
                    for start in range(0, len(kept), POOL_SIZE):
                        yield from make_batches(kept[start : start + POOL_SIZE], n_tokens, random)
        finally:
            workers.shutdown(wait=False, cancel_futures=True)


def _shared(files: Sequence[Path], number: int, n_trainers: int) -> list[Path]:
    """Return a trainer's share; more shards may come, but each stays whose it is."""
    return [file for file in files if int(file.stem.rpartition("-")[2]) % n_trainers == number]


def tokenize(shard: Path, tokenizer: MlxTokenizer, max_length: int) -> list[Example]:
    """Tokenize the cases of a shard; too long ones are left out."""
    examples = (make_example(case, tokenizer) for case in read_shard(shard))
    return [example for example in examples if example.n_tokens <= max_length]


def make_batches(pool: Sequence[Example], n_tokens: int, random: Random) -> Iterator[Batch]:
    """Put examples of like length together; the batches come in a random order."""
    groups: list[list[Example]] = []
    for example in sorted(pool, key=lambda example: example.n_tokens):
        # Ascending: the newest is the longest.
        if not groups or _columns(example.n_tokens) * (len(groups[-1]) + 1) > n_tokens:
            groups.append([])
        groups[-1].append(example)
    random.shuffle(groups)
    return map(Batch.of, groups)


def _columns(length: int) -> int:
    return -(-length // LENGTH_STEP) * LENGTH_STEP


class _Worker:
    """What a worker process keeps."""

    tokenizer: MlxTokenizer
    max_length: int


def _prepare(base: Path, max_length: int) -> None:
    # One process, one thread: the tokenizer would start as many as there are processors in each.
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    _Worker.tokenizer, _Worker.max_length = open_tokenizer(base), max_length


def _tokenize(shard: Path) -> list[Example]:
    return tokenize(shard, _Worker.tokenizer, _Worker.max_length)
