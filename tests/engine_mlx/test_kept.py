"""Kept caches: warm replies equal cold ones, for every way that caches go back."""

from __future__ import annotations

import functools
import importlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlx.core as mx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plgd.engine.mlx.caches import CacheMaker
from plgd.engine.mlx.kept import MAX_POINTS, KeptCaches, RestorePoints
from plgd.engine.mlx.kept_file import FiledState, read_state, write_state
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.mlx.state_key import make_state_key
from plgd.engine.mlx.target import MlxTarget
from plgd.text.overlap import common_prefix
from replies import drafted_reply, plain_reply
from tiny_configs import WINDOW, make_config
from tiny_models import make_network

SLICE = 16
N_REPLY = 9
VOCABULARY = 256
# What reading a damaged file may say.
DAMAGED = "checksum|deserializing|another model|[Uu]nexpected|utf-8"
# Rows, rows in 8 bits, rounded rows, rows of which the first round feeds some, windows, convolutions, chunks, recurrent
# states alone and with windows.
KINDS: dict[str, dict[str, Any]] = {
    "llama": {},
    "llama in 8 bits": {"kv_bits": 8},
    "llama in fixed shapes": {"shapes": FixedShapes((2, 4, 8, 16, 32), 32)},
    "llama with tails": {"longest_tail": 11},
    "gemma3_text": {},
    "lfm2": {},
    "llama4": {},
    "mamba2": {},
    "recurrent_gemma": {},
    "deepseek_v41": {},
}


@pytest.fixture(autouse=True)
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


class Maker:
    """Makes targets of one small model."""

    def __init__(self, kind: str) -> None:
        model_type = kind.partition(" ")[0]
        module = importlib.import_module(f"mlx_lm.models.{model_type}")
        self._network = make_network(make_config(model_type), classes=(module.Model, module.ModelArgs))
        options = dict(KINDS[kind])
        self._longest_tail = options.pop("longest_tail", 0)
        self._make = CacheMaker(self._network, model_type, **options)

    def target(self) -> MlxTarget:
        """Make an unused target."""

        def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
            logits: mx.array = self._network(tokens, cache=caches)
            return logits

        return MlxTarget(
            forward,
            self._make(),
            context_limit=1 << 20,
            shapes=self._make.shapes,
            longest_tail=self._longest_tail,
        )


@functools.cache
def maker(kind: str) -> Maker:
    """Make each model once."""
    return Maker(kind)


def prefill(target: MlxTarget, prompt: list[int], n_warm: int) -> None:
    """Feed what is not warm, slice by slice."""
    for start in range(n_warm + 1 if n_warm else 0, len(prompt), SLICE):
        target.prefill(prompt[start : start + SLICE])


def reply(target: MlxTarget, seed: int) -> list[int]:
    """Decode with drafts, most of them wrong, and steps in flight between them."""
    rng = random.Random(seed)  # noqa: S311  # the same drafts in every run
    return drafted_reply(
        target, N_REPLY, lambda _: None if rng.random() < 0.4 else [rng.randrange(VOCABULARY) for _ in range(4)]
    )


@st.composite
def histories(draw: st.DrawFn) -> list[list[int]]:
    """Prompts, each made from the one before by an edit; longer and shorter than a window."""
    rng = random.Random(draw(st.integers(0, 1 << 16)))  # noqa: S311
    prompt = [rng.randrange(VOCABULARY) for _ in range(draw(st.integers(2, 5 * WINDOW)))]
    prompts = [prompt]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(prompt)))
        end = start + draw(st.sampled_from((0, 1, 5, 1000)))
        new = [rng.randrange(VOCABULARY) for _ in range(draw(st.integers(1, 40)))]
        prompt = prompt[:start] + new + prompt[end:]
        prompts.append(prompt)
    return prompts


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prompts=histories(), seed=st.integers(0, 1 << 16))
def test_warm_replies_equal_cold_ones(kind: str, prompts: list[list[int]], seed: int) -> None:
    """Whatever was edited and replied before, a warm reply is the cold one token for token."""
    made = maker(kind)
    kept: KeptCaches | None = None
    for prompt in prompts:
        cold = made.target()
        cold.prefill(prompt)
        target = made.target()
        expected_warm = 0 if kept is None else kept.reach(prompt)
        n_warm = 0 if kept is None else target.resume(kept, prompt)
        assert expected_warm == n_warm
        prefill(target, prompt, n_warm)
        assert plain_reply(cold, N_REPLY) == reply(target, seed)
        kept = target.keep(len(prompt))


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(prompts=histories(), seed=st.integers(0, 1 << 16), n_rounds=st.integers(0, 9))
def test_a_copy_disturbs_nobody(kind: str, prompts: list[list[int]], seed: int, n_rounds: int) -> None:
    """A reply that begins with what another has read, while that one goes on, is the cold one, and so is the other."""
    made, (first, *others) = maker(kind), prompts
    colds = [made.target() for _ in prompts]
    expected = []
    for cold, prompt in zip(colds, prompts, strict=True):
        cold.prefill(prompt)
        expected.append(plain_reply(cold, N_REPLY))
    target = made.target()
    prefill(target, first, 0)
    begun = [target.advance() for _ in range(min(n_rounds, N_REPLY))]  # steps are in flight
    replies = []
    for prompt in others:
        copier = made.target()
        kept = copier.copy(target, common_prefix(first, prompt))
        n_warm = 0 if kept is None else copier.resume(kept, prompt)
        assert n_warm <= common_prefix(first, prompt)
        if kind.startswith("llama ") or kind == "llama":
            # A tail that no round has fed yet is not there to be copied.
            held = len(first) - 1 - (n_rounds == 0 and KINDS[kind].get("longest_tail", 0))
            most = min(common_prefix(first, prompt), len(first) - 1, len(prompt) - 1)
            assert min(held, most) <= n_warm <= most
        prefill(copier, prompt, n_warm)
        replies.append(reply(copier, seed))
    assert expected == [begun + plain_reply(target, N_REPLY - len(begun)), *replies]


def test_a_copy_costs_what_it_holds() -> None:
    """A copy has rows of its own, as many as it needs: nobody copies the others at a later step."""
    target, other = maker("llama").target(), maker("llama").target()
    target.prefill([place % VOCABULARY for place in range(600)])
    kept = other.copy(target, 20)
    assert kept is not None
    assert (list(range(20)), 256) == (kept.tokens, kept.caches[0].keys.shape[-2])
    with pytest.raises(ValueError, match="unused target"):
        target.copy(other, 5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_at_the_end_keeps_the_beginning(kind: str) -> None:
    """When the end of a prompt changes, at most a slice and the change are fed again; caches of rows lose nothing."""
    target = maker(kind).target()
    prompt = [place * 7 % VOCABULARY for place in range(3 * WINDOW)]
    prefill(target, prompt, 0)
    reply(target, 1)
    kept = target.keep(len(prompt))
    assert kept is not None
    assert len(prompt) - 1 == kept.n_tokens
    changed = [*prompt[:-3], 1, 2, 3]
    n_warm = kept.reach(changed)
    assert len(prompt) - 3 - SLICE < n_warm <= len(prompt) - 3
    if kind.startswith("llama "):
        assert len(prompt) - 3 == n_warm


@pytest.mark.parametrize("kind", KINDS)
def test_replies_from_disk_equal_cold_ones(kind: str, tmp_path: Path) -> None:
    """A state that was written and read again gives the cold reply, and reaches as far as it did before."""
    made, path = maker(kind), tmp_path / "state.safetensors"
    prompt = [place * 7 % VOCABULARY for place in range(3 * WINDOW)]
    changed = [*prompt[:-3], 1, 2, 3]
    target = made.target()
    prefill(target, prompt, 0)
    reply(target, 1)
    kept = target.keep(len(prompt))
    assert kept is not None
    kept.save(path, "key")
    target = made.target()
    read = target.load(path, "key")
    assert (kept.tokens, kept.reach(changed)) == (read.tokens, read.reach(changed))
    n_warm = target.resume(read, changed)
    assert n_warm > WINDOW
    prefill(target, changed, n_warm)
    cold = made.target()
    cold.prefill(changed)
    assert plain_reply(cold, N_REPLY) == reply(target, 2)
    assert kept.reach(prompt) > WINDOW  # the one that was written is whole


def test_loading_leaves_the_target_unused(tmp_path: Path) -> None:
    """A target that has read a state and does not use it begins cold."""
    path = tmp_path / "state.safetensors"
    written = maker("llama").target()
    written.prefill(list(range(40)))
    kept = written.keep(40)
    assert kept is not None
    kept.save(path, "key")
    target, other = maker("llama").target(), maker("llama").target()
    target.load(path, "key")
    for each in (target, other):
        each.prefill([5, 6, 7])
    assert plain_reply(other, N_REPLY) == plain_reply(target, N_REPLY)
    with pytest.raises(ValueError, match="unused target"):
        target.load(path, "key")


def test_bits_survive_in_low_precision(tmp_path: Path) -> None:
    """What is written in bfloat16 is read in bfloat16, bit for bit."""
    path = tmp_path / "state.safetensors"
    keys = mx.random.normal((1, 2, 5, 8)).astype(mx.bfloat16)
    write_state(FiledState([1, 2], [("KVCache", {"keys": keys, "pair": (keys, None), "n": 2})], []), path, "key")
    read = read_state(path, "key")
    _, attributes = read.caches[0]
    assert (mx.bfloat16, 2, None) == (attributes["keys"].dtype, attributes["n"], attributes["pair"][1])
    assert mx.array_equal(keys.view(mx.uint16), attributes["keys"].view(mx.uint16)).item()


def write_one(path: Path) -> None:
    """Write a small state."""
    write_state(FiledState([1, 2], [("KVCache", {"keys": mx.arange(64)})], []), path, "key")


@pytest.mark.parametrize("place", [-1, -200, 100, 3])
def test_a_changed_byte_is_noticed(place: int, tmp_path: Path) -> None:
    """Wherever a byte changes in a file, nothing of the file is used."""
    path = tmp_path / "state.safetensors"
    write_one(path)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=DAMAGED):
        read_state(path, "key")


@pytest.mark.parametrize("n_left", [0, 5, 100, -1])
def test_a_file_cut_short_is_noticed(n_left: int, tmp_path: Path) -> None:
    """However much of a file is missing, nothing of it is used."""
    path = tmp_path / "state.safetensors"
    write_one(path)
    path.write_bytes(path.read_bytes()[:n_left])
    with pytest.raises(ValueError, match=DAMAGED):
        read_state(path, "key")


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    """Files of another model or format, and those with caches of other types, are refused; a missing one is missing."""
    path = tmp_path / "state.safetensors"
    write_one(path)
    with pytest.raises(ValueError, match="another model"):
        read_state(path, "another key")
    with pytest.raises(ValueError, match="other types"):
        maker("llama").target().load(path, "key")
    mx.save_safetensors(str(path), {"keys": mx.arange(3)})
    with pytest.raises(ValueError, match="another model"):
        read_state(path, "key")
    with pytest.raises(FileNotFoundError):
        read_state(tmp_path / "missing.safetensors", "key")


def test_a_state_that_cannot_be_written(tmp_path: Path) -> None:
    """A full disk is an `OSError`; a cache that holds more than arrays and plain data is refused."""
    full = tmp_path / "full.safetensors"
    full.symlink_to("/dev/full" if Path("/dev/full").exists() else tmp_path / "missing" / "x")
    with pytest.raises(OSError, match=r"write|open"):
        write_one(full)
    with pytest.raises(ValueError, match="object cannot be written"):
        write_state(FiledState([1], [("KVCache", {"keys": object()})], []), tmp_path / "x.safetensors", "key")


def test_the_state_key_tells_models_apart() -> None:
    """Each weight, wherever it changes, and each kind of KV gives another key; equal models have equal ones."""
    network = maker("llama")._network
    first = make_state_key(network, kv_bits=0, shapes=None)
    assert first == make_state_key(network, kv_bits=0, shapes=None)
    others = [make_state_key(network, kv_bits=8, shapes=None)]
    others.append(make_state_key(network, kv_bits=0, shapes=FixedShapes((2, 4), 32)))
    weight = network.model.layers[0].self_attn.q_proj
    before, swapped = weight.weight, weight.weight[::-1]
    weight.weight = swapped
    others.append(make_state_key(network, kv_bits=0, shapes=None))
    weight.weight = before
    assert 4 == len({first, *others})


def test_a_cancelled_prefill_is_kept() -> None:
    """What was prefilled until an edit was cancelled is warm for the next."""
    target = maker("llama").target()
    target.prefill(list(range(40)))
    kept = target.keep(1 << 20)
    assert kept is not None
    assert list(range(39)) == kept.tokens


def test_an_unused_target_keeps_nothing() -> None:
    """Nothing fed, nothing kept."""
    assert maker("llama").target().keep(5) is None


def test_kept_bytes_are_those_of_the_arrays() -> None:
    """What is kept says how much memory it takes: keys and values of both layers, spare room included."""
    target = maker("llama").target()
    target.prefill(list(range(40)))
    kept = target.keep(40)
    assert kept is not None
    expected = sum(cache.keys.nbytes + cache.values.nbytes for cache in kept.caches)
    assert 0 < expected == kept.n_bytes


@pytest.mark.parametrize("kind", ["llama", "llama in 8 bits", "llama in fixed shapes"])
def test_the_room_of_a_long_reply_is_given_back(kind: str) -> None:
    """After a reply much longer than its prompt, little more than the prompt is kept, and the next reply is right."""
    made, prompt = maker(kind), [place * 7 % VOCABULARY for place in range(40)]
    target = made.target()
    target.prefill(prompt)
    target.verify([1] * 700)
    target.rollback(700)
    plain_reply(target, 5)
    grown = KeptCaches(prompt, target._caches, RestorePoints()).n_bytes
    kept = target.keep(40)
    assert kept is not None
    assert grown >= 2 * kept.n_bytes
    again, cold = made.target(), made.target()
    cold.prefill([*prompt, 1, 2])
    n_warm = again.resume(kept, [*prompt, 1, 2])
    prefill(again, [*prompt, 1, 2], n_warm)
    assert plain_reply(cold, N_REPLY) == plain_reply(again, N_REPLY)


def test_restore_points_are_bounded() -> None:
    """However long a prompt, only some restore points stay: the newest, and ever fewer before them."""
    target = maker("mamba2").target()
    for _ in range(40):
        target.prefill([1] * SLICE)
    points = [point.n for point in target._points.points]
    assert len(points) <= MAX_POINTS
    assert [SLICE * n - 1 for n in (37, 38, 39, 40)] == points[-4:]
    assert SLICE - 1 == points[0]


def test_no_points_for_rows() -> None:
    """Caches that drop their tails need no restore points, and pay for none."""
    target = maker("llama").target()
    target.prefill(list(range(40)))
    assert RestorePoints() == target._points


def test_used_targets_do_not_resume() -> None:
    """A target that has a history already takes nothing over."""
    target = maker("llama").target()
    target.prefill([1, 2, 3])
    kept = maker("llama").target()
    kept.prefill([1, 2, 3])
    state = kept.keep(3)
    assert state is not None
    with pytest.raises(ValueError, match="unused target"):
        target.resume(state, [1, 2, 3])
