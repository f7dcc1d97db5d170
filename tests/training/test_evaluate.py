"""An adapter's replies are the greedy ones, and are judged as the daemon would."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tiny_base import make_case, write_base, write_cases
from training.adapter import write_adapter
from training.base import load_base
from training.evaluate import SLACK, Evaluator, load_merged, main
from training.examples import Example
from training.lora import Lora

EOS = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder."""
    return write_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def adapter(folder: Path) -> Path:
    """An adapter that makes another model of the base."""
    base = load_base(folder)
    lora = Lora(base.shape, rank=4, alpha=8.0, device="cpu", seed=1)
    with torch.no_grad():
        lora.flat.copy_(torch.randn(lora.flat.shape, generator=torch.Generator().manual_seed(2)) * 0.3)
    path = folder / "adapter.safetensors"
    write_adapter(path, lora.adapter(base), np.float16)
    return path


def greedy(model: Callable[..., Any], prompt: list[int], n_tokens: int) -> list[int]:
    """Decode one token after the other, each from the whole history."""
    tokens = list(prompt)
    while len(tokens) < len(prompt) + n_tokens:
        with torch.no_grad():
            tokens.append(int(model(torch.tensor([tokens])).logits[0, -1].argmax()))
        if tokens[-1] == EOS:
            break
    return tokens[len(prompt) :]


def test_replies_are_greedy_whatever_the_right_answer_is(folder: Path, adapter: Path) -> None:
    """Where the model agrees with the right answer it is taken, elsewhere the model goes on by itself."""
    model = load_merged(load_base(folder), adapter, "cpu")
    examples, expected = [], []
    for seed, n_same in ((1, 9), (2, 0), (3, 5), (4, 7), (5, 1)):
        prompt = np.random.default_rng(seed).integers(3, 370, 4 + seed).astype(np.int32)
        own = greedy(model, prompt.tolist(), 10 + SLACK)
        right = own[:10]
        if n_same < 9:
            right[n_same] = (right[n_same] + 1) % 370
        examples.append(Example(prompt, np.array(right, np.int32), np.ones(10, np.float32)))
        expected.append(own)
    found = Evaluator(model, EOS).replies(examples)
    assert [own[: len(reply)] for own, reply in zip(expected, found, strict=True)] == found
    assert all(len(reply) in (10, 10 + SLACK) or reply[-1] == EOS for reply in found)


def test_a_reply_that_ends_early_is_not_continued(folder: Path, adapter: Path) -> None:
    """The token that ends a reply ends it, whatever the right answer goes on with."""
    model = load_merged(load_base(folder), adapter, "cpu")
    prompt = np.arange(3, 9, dtype=np.int32)
    own = greedy(model, prompt.tolist(), 20)
    end = own[4]
    own = own[: own.index(end) + 1]
    right = np.array([*own[:-1], end + 1, 9, 9, 9], np.int32)
    assert [own] == Evaluator(model, end).replies([Example(prompt, right, np.ones(len(right), np.float32))])


def test_the_adapter_of_another_base_is_refused(adapter: Path, tmp_path: Path) -> None:
    """Scores are never those of an adapter on weights that it was not made for."""
    other = write_base(tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    config["source"]["sha256"] = "cd" * 32
    (other / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="another base"):
        load_merged(load_base(other), adapter, "cpu")


def test_the_command_writes_scores_and_failures(folder: Path, adapter: Path, tmp_path: Path) -> None:
    """One command gives a table, the scores as JSON and the cases that failed with what was replied."""
    cases = write_cases(tmp_path / "cases", [make_case(f"total = {n}\n", f"sum = {n}\n") for n in range(6)])
    words = ["--cases", str(cases), "--base", str(folder), "--adapter", str(adapter), "--out", str(tmp_path / "out")]
    assert 0 == main([*words, "--limit", "4"])
    scores = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert 4 == scores["everything"]["n"] == len(scores["outcomes"])
    failures = [json.loads(line) for line in (tmp_path / "out" / "failures.jsonl").read_text().splitlines()]
    assert 4 - scores["everything"]["n_exact"] == len(failures)
    assert all(failure["case"]["new_text"].startswith("sum") for failure in failures)
