"""Batches: examples of like length, each token in its place, the same for the same seed."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import numpy as np
import pytest

from tiny_base import make_case, write_base, write_cases
from training.batches import Batch, batches, make_batches
from training.examples import Example, make_example, open_tokenizer


def example(n_prompt: int, n_reply: int) -> Example:
    """Make an example whose tokens count up from 1; so do the reply's weights."""
    prompt, reply = np.arange(1, n_prompt + 1, dtype=np.int32), np.arange(100, 100 + n_reply, dtype=np.int32)
    return Example(prompt, reply, np.arange(1, n_reply + 1, dtype=np.float32))


def test_losses_are_taken_at_the_reply() -> None:
    """Each place is followed by a token of a reply, all of them and nothing else, also across rows."""
    batch = Batch.of([example(3, 2), example(1, 4), example(9, 3)])
    assert (3, 16) == batch.tokens.shape
    assert [100, 101, 100, 101, 102, 103, 100, 101, 102] == batch.targets.tolist()
    assert batch.targets.tolist() == batch.tokens.ravel()[batch.places + 1].tolist()
    assert [2, 3, 16, 17, 18, 19, 40, 41, 42] == batch.places.tolist()
    assert [1, 2, 1, 2, 3, 4, 1, 2, 3] == batch.weights.tolist()
    assert 22 == batch.n_real


def test_batches_hold_what_fits() -> None:
    """No batch has more tokens than allowed, filling included; every example is in exactly one."""
    random = Random(1)
    pool = [example(random.randint(1, 200), random.randint(1, 200)) for _ in range(500)]
    found = list(make_batches(pool, 1000, random))
    assert max(batch.tokens.size for batch in found) <= 1000
    assert sum(example.n_tokens for example in pool) == sum(batch.n_real for batch in found)
    assert sum(batch.n_real for batch in found) > 0.9 * sum(batch.tokens.size for batch in found)
    sizes = [batch.tokens.shape[1] for batch in found]
    assert sorted(sizes) != sizes


def test_the_stream_goes_round_and_repeats_itself(tmp_path: Path) -> None:
    """Two streams of one seed are equal, for more than once through the data; too long cases are left out."""
    base = write_base(tmp_path / "base")
    cases = [make_case(f"total = {number}\n", f"sum = {number}\n") for number in range(7)]
    folder = write_cases(tmp_path / "cases", [*cases, make_case("x = 1\n" * 300, "x = 2\n" * 300)])

    def read(seed: int, n_batches: int) -> list[Batch]:
        return list(islice(batches(folder, base, n_tokens=300, max_length=260, seed=seed, n_workers=2), n_batches))

    first, again, other = read(1, 9), read(1, 9), read(2, 9)
    tokens = [batch.tokens.tolist() for batch in first]
    assert tokens == [batch.tokens.tolist() for batch in again]
    assert tokens != [batch.tokens.tolist() for batch in other]
    lengths = sorted(make_example(case, open_tokenizer(base)).n_tokens for case in cases)
    once: list[int] = []
    for batch in first:
        once.append(batch.n_real)
        if sum(once) >= sum(lengths):
            break
    assert sum(once) == sum(lengths)
    assert len(once) < len(first)


def test_new_shards_join_in(tmp_path: Path) -> None:
    """Shards that come while others are read are read next."""
    base = write_base(tmp_path / "base")
    folder = write_cases(tmp_path / "cases", [make_case("a = 1\n", "b = 1\n")], n_shards=1)
    stream = batches(folder, base, n_tokens=400, max_length=260, seed=1, n_workers=1)
    first = next(stream)
    more = write_cases(tmp_path / "more", [make_case("c = 1\n", "d = 1\n")], n_shards=1)
    (more / "cases-00000.jsonl").rename(folder / "cases-00001.jsonl")
    second, third = next(stream), next(stream)
    stream.close()
    assert first.tokens.tolist() != second.tokens.tolist()
    assert 2 == len(third.tokens)


def test_each_trainer_has_its_share(tmp_path: Path) -> None:
    """Trainers side by side read different shards."""
    base = write_base(tmp_path / "base")
    cases = [make_case(f"total = {'9' * number}\n", f"sum = {'9' * number}\n") for number in range(1, 5)]
    folder = write_cases(tmp_path / "cases", cases)
    shares = [
        next(batches(folder, base, n_tokens=4000, max_length=300, seed=1, n_workers=1, share=(number, 2)))
        for number in range(2)
    ]
    rows = [{tuple(row) for row in batch.tokens.tolist()} for batch in shares]
    assert [2, 2] == [len(found) for found in rows]
    assert not rows[0] & rows[1]


def test_nothing_to_train_on(tmp_path: Path) -> None:
    """A folder without cases is said to be one."""
    base = write_base(tmp_path / "base")
    with pytest.raises(ValueError, match="no case of"):
        next(batches(tmp_path, base, n_tokens=300, max_length=260, seed=1, n_workers=1))
