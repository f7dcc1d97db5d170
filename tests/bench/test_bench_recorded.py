"""Recorded replies: real passes, given text."""

from __future__ import annotations

import json
from pathlib import Path

import mlx.core as mx
import pytest
from mlx_lm.models.cache import ArraysCache, make_prompt_cache

from plgd.bench.compare.command import make_arms
from plgd.bench.compare.prompts import record, tokenize, tokenize_source
from plgd.bench.compare.recorded_network import RecordedNetwork
from plgd.bench.compare.recordings import RECORDINGS
from plgd.bench.compare.workloads import FUNCTION, WORKLOADS
from plgd.bench.machine import Machine, open_machine
from plgd.bench.options import ARMS
from plgd.bench.replay.trace import open_tokenizer
from plgd.config import Config
from plgd.errors import BenchError
from plgd.paths import Paths
from tiny_models import LLAMA, make_network, write_model


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A small random model, which by itself would say nothing sensible."""
    root = tmp_path_factory.mktemp("machine")
    folder = write_model(root / "model", {**LLAMA, "max_position_embeddings": 4096})
    return open_machine(str(folder), (), Paths(root, root, root), Config())


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("name", ["edit_fn", "write"])
def test_every_arm_gives_the_recording(name: str, arm: str, machine: Machine) -> None:
    """Whatever is drafted and rolled back, each arm gives the recorded reply to its end."""
    prompt = tokenize(WORKLOADS[name], machine.model.tokenizer)
    expected = record(WORKLOADS[name], machine.model)
    (led,) = make_arms(machine.led_along([*prompt, *expected]), [arm], None, Config())
    assert expected == led.reply(prompt, 4000).tokens


def test_an_edit_is_drafted_from_its_file(machine: Machine) -> None:
    """The recorded edit copies most of its file, so prompt lookup lands most of its drafts, in far fewer rounds."""
    prompt = tokenize(WORKLOADS["edit_fn"], machine.model.tokenizer)
    expected = record(WORKLOADS["edit_fn"], machine.model)
    (graded,) = make_arms(machine.led_along([*prompt, *expected]), ["graded"], None, Config())
    stats = graded.reply(prompt, 4000).stats
    assert stats is not None
    assert stats.n_rounds < len(expected) / 2
    assert stats.n_accepted > stats.n_drafted / 2


def test_the_file_draft_needs_fewer_rounds_than_prompt_lookup(machine: Machine) -> None:
    """With the file as its source, a rename is drafted in blocks that a prompt lookup cannot know."""
    prompt = tokenize(WORKLOADS["edit_fn"], machine.model.tokenizer)
    source = tokenize_source(WORKLOADS["edit_fn"], machine.model.tokenizer)
    expected = record(WORKLOADS["edit_fn"], machine.model)
    led = machine.led_along([*prompt, *expected])
    arms = make_arms(led, ["graded", "cost"], None, Config(), source=source, n_prompt=len(prompt))
    graded, file = (arm.reply(prompt, 4000).stats for arm in arms)
    assert graded is not None
    assert file is not None
    assert 2 * file.n_rounds < graded.n_rounds


def test_the_model_still_computes_its_own_logits() -> None:
    """But for the recorded token, the logits are the model's own."""
    network = make_network(LLAMA)
    tokens = mx.array([[5, 6, 7]])
    own, led = network(tokens), RecordedNetwork(network, [5, 6, 7, 8])
    lifted = led(tokens, make_prompt_cache(led))
    difference = (lifted - own).tolist()[0]
    assert [6, 7, 8] == [row.index(max(row)) for row in difference]
    assert all(abs(value) < 1e-2 for row in difference for value in row if value != max(row))


def test_a_model_without_places_is_refused() -> None:
    """A model whose caches do not count tokens cannot be led."""
    with pytest.raises(BenchError, match="cannot be led"):
        RecordedNetwork(make_network(LLAMA), [1, 2])(mx.array([[1]]), [ArraysCache(1)])


def test_recordings_are_what_was_asked_for() -> None:
    """There is a recording for each workload, and those of the edits are the right answers."""
    assert WORKLOADS.keys() == RECORDINGS.keys()
    function = RECORDINGS["edit_fn"].removesuffix("```")
    compile(function, "orders.py", "exec")
    assert "amount" not in function
    assert FUNCTION.count("amount") == function.count("line_total")
    objects = json.loads(RECORDINGS["edit_json"].removesuffix("```"))
    assert [True] * 5 == [found["in_stock"] for found in objects]


@pytest.mark.builtin
def test_prose_has_the_length_that_its_workload_allows(builtin_model_dir: Path) -> None:
    """The story is long enough to fill its reply, and no recording is cut, its end included."""
    tokenizer = open_tokenizer(builtin_model_dir)
    lengths = {name: len(tokenizer.encode(RECORDINGS[name])) + 1 for name in WORKLOADS}
    assert 700 < lengths["story"] <= WORKLOADS["story"].max_tokens
    assert all(length <= WORKLOADS[name].max_tokens for name, length in lengths.items())
