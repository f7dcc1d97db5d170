"""The target on mlx: the same tokens as mlx-lm's own decoding, whatever is drafted, and honest refusals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mlx.core as mx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.generate import generate_step
from mlx_lm.models.cache import KVCache

from plgd.engine.mlx.model import MlxModel
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.sampling import Sampling
from plgd.errors import EngineError, RollbackFailed
from replies import Drafter, drafted_reply, plain_reply
from tiny_models import LLAMA, make_network

PROMPT = [17, 250, 3, 99, 99, 4, 311, 42, 8, 15, 260]
N_REPLY = 60


@pytest.fixture(scope="module")
def reply(tiny_model: MlxModel) -> list[int]:
    """What mlx-lm itself decodes after the prompt."""
    steps = generate_step(mx.array(PROMPT), tiny_model.network, max_tokens=N_REPLY)
    return [token for token, _ in steps]


def prefilled(model: MlxModel, slices: Sequence[int] = (len(PROMPT),)) -> MlxTarget:
    """Start a sequence with the prompt in slices."""
    target = model.target()
    start = 0
    for n in slices:
        target.prefill(PROMPT[start : start + n])
        start += n
    return target


@pytest.mark.parametrize("slices", [(11,), (1, 10), (5, 5, 1), (1,) * 11])
def test_plain_rounds_equal_mlx_lm(tiny_model: MlxModel, reply: list[int], slices: Sequence[int]) -> None:
    """Plain rounds give mlx-lm's own tokens, whatever the slices of the prefill (reference A8)."""
    assert reply == plain_reply(prefilled(tiny_model, slices), N_REPLY)


def test_first_slice_feeds_what_mlx_lm_feeds(tiny_model: MlxModel) -> None:
    """Slices of s + 1, s, s, ... tokens feed the model passes of s tokens, as mlx-lm's prefill (reference A8)."""
    fed: list[tuple[int, ...]] = []

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        fed.append(tokens.shape)
        logits: mx.array = tiny_model.network(tokens, cache=caches)
        return logits

    target = MlxTarget(forward, [KVCache(), KVCache()], context_limit=100)
    for piece in (PROMPT[:5], PROMPT[5:9], PROMPT[9:]):
        target.prefill(piece)
    target.verify(())
    assert fed == [(1, 4), (1, 4), (1, 2), (1, 1)]


def noting(model: MlxModel, fed: list[int], *, longest_tail: int) -> MlxTarget:
    """Start a sequence of which the widths of all passes are noted."""

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        fed.append(tokens.shape[1])
        logits: mx.array = model.network(tokens, cache=caches)
        return logits

    return MlxTarget(forward, model._make_caches(), context_limit=100, longest_tail=longest_tail)


@pytest.mark.parametrize("begin", ["a step", "a draft", "a pipeline"])
def test_the_tail_of_a_prompt_is_fed_with_the_first_round(tiny_model: MlxModel, reply: list[int], begin: str) -> None:
    """A first token takes one pass less; the tokens are the same."""
    fed: list[int] = []
    target = noting(tiny_model, fed, longest_tail=6)
    target.prefill(PROMPT[:8])
    target.prefill(PROMPT[8:])
    drafters: dict[str, Drafter] = {
        "a step": lambda _: (),
        "a draft": lambda done: reply[len(done) : len(done) + 3],
        "a pipeline": lambda _: None,
    }
    assert reply[:9] == drafted_reply(target, 9, drafters[begin])
    assert {"a step": [7, 4, 1], "a draft": [7, 7, 4], "a pipeline": [7, 4, 1]}[begin] == fed[:3]


def test_a_tail_that_grows_too_long_is_fed_by_itself(tiny_model: MlxModel, reply: list[int]) -> None:
    """Slices that come before the first round are held back together or not at all."""
    fed: list[int] = []
    target = noting(tiny_model, fed, longest_tail=6)
    for start, end in ((0, 5), (5, 7)):
        target.prefill(PROMPT[start:end])
        assert [] == fed
    target.prefill(PROMPT[7:])
    assert [10] == fed
    assert reply == plain_reply(target, N_REPLY)


def test_what_is_kept_of_a_prompt_is_all_of_it(tiny_model: MlxModel, reply: list[int]) -> None:
    """A tail that no round has fed is fed before the caches are kept; what another copies meanwhile is without it."""
    fed: list[int] = []
    target, other, again = (noting(tiny_model, fed, longest_tail=6) for _ in range(3))
    target.prefill(PROMPT[:8])
    target.prefill(PROMPT[8:])
    copied = other.copy(target, len(PROMPT) - 1)
    assert copied is not None
    assert PROMPT[:7] == copied.tokens
    kept = target.keep(len(PROMPT) - 1)
    assert kept is not None
    assert PROMPT[:-1] == kept.tokens
    for resumed, held in ((other, copied), (again, kept)):
        n = resumed.resume(held, PROMPT)
        if rest := PROMPT[n + 1 :]:
            resumed.prefill(rest)
        assert reply == plain_reply(resumed, N_REPLY)


def test_tails_are_fed_at_once_where_it_would_show(tiny_model: MlxModel) -> None:
    """In low precision and for exact replies a prompt has the passes of plain decoding's."""
    assert tiny_model._longest_tail > 0
    low = make_network(LLAMA)
    low.set_dtype(mx.bfloat16)
    model = MlxModel(low, None, name="low", eos_tokens=frozenset(), context_limit=100)  # type: ignore[arg-type]
    assert 0 == model._longest_tail
    assert 0 == tiny_model.target(Sampling(exact=True))._longest_tail


def test_pipelined_steps_equal_mlx_lm(tiny_model: MlxModel, reply: list[int]) -> None:
    """Pipelined steps give mlx-lm's own tokens (references A7, A8)."""
    target = prefilled(tiny_model)
    assert reply == [target.advance() for _ in range(N_REPLY)]


def test_a_step_is_in_flight_after_advance(tiny_model: MlxModel) -> None:
    """After a pipelined step the next one is submitted; reading it by an empty verify runs no further pass."""
    target = prefilled(tiny_model)
    seen = [target.in_flight]
    target.advance()
    seen.append(target.in_flight)
    n_passes = target.counts.n_passes
    target.verify(())
    seen.append(target.in_flight)
    assert [False, True, False] == seen
    assert n_passes == target.counts.n_passes


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_drafts_change_nothing(tiny_model: MlxModel, reply: list[int], data: st.DataObject) -> None:
    """Right, wrong and half-right drafts of any length, mixed with pipelined steps, leave the reply as it is."""

    def draft(done: list[int]) -> list[int] | None:
        kind = data.draw(st.sampled_from(("advance", "right", "wrong", "half")))
        if kind == "advance":
            return None
        k = data.draw(st.integers(0, 9))
        right = reply[len(done) : len(done) + k]
        if kind == "right" or not right:
            return right
        n_right = 0 if kind == "wrong" else data.draw(st.integers(0, len(right) - 1))
        return [*right[:n_right], *((token + 1) % 400 for token in right[n_right:])]

    assert reply == drafted_reply(prefilled(tiny_model), N_REPLY, draft)


def test_a_draft_joins_the_step_in_flight(tiny_model: MlxModel, reply: list[int]) -> None:
    """A draft after a pipelined step is fed behind it: one pass, as wide as the draft, and all of it is accepted."""
    target = prefilled(tiny_model)
    assert reply[0] == target.advance()
    n_passes = target.counts.n_passes
    assert reply[1:7] == target.verify(reply[1:6])
    assert (n_passes + 1, 1) == (target.counts.n_passes, target.counts.n_joined)


def test_a_missed_join_keeps_what_it_learnt(tiny_model: MlxModel, reply: list[int]) -> None:
    """When a joined draft is wrong in its first token, the pass still tells the token after the true one."""
    target = prefilled(tiny_model)
    target.advance()
    wrong = (reply[1] + 1) % 400
    assert reply[1] == target.verify([wrong, 5, 6])[0]
    target.rollback(3)
    n_passes = target.counts.n_passes
    assert target.in_flight
    assert [reply[2]] == target.verify(())
    assert n_passes == target.counts.n_passes


@pytest.mark.parametrize("n_plain", [0, 1])
def test_a_miss_must_be_rolled_back(tiny_model: MlxModel, reply: list[int], n_plain: int) -> None:
    """What differs from its choices cannot be kept: the target refuses, and refuses to go on."""
    target = prefilled(tiny_model)
    for _ in range(n_plain):
        target.advance()
    target.verify([reply[n_plain], (reply[n_plain + 1] + 1) % 400, 6])
    with pytest.raises(ValueError, match="only 1 equal their choices"):
        target.rollback(1)
    with pytest.raises(ValueError, match="must be rolled back"):
        target.verify(())
    target.rollback(2)
    assert [reply[n_plain + 2]] == target.verify(())


def test_prefill_goes_on_after_a_reply(tiny_model: MlxModel) -> None:
    """More tokens may be prefilled behind a reply, with a step in flight or without."""
    expected = tiny_model.target()
    expected.prefill(PROMPT)
    reply = plain_reply(expected, 6)
    expected.prefill([7, 8, 9])
    pipelined = prefilled(tiny_model)
    assert reply == [pipelined.advance() for _ in range(6)]
    pipelined.prefill([7, 8, 9])
    assert expected.offset == pipelined.offset == len(PROMPT) + 6 + 3 - 1
    assert plain_reply(expected, 20) == plain_reply(pipelined, 20)


def test_offset_follows_the_history(tiny_model: MlxModel) -> None:
    """The offset is the history without its head, after every kind of call."""
    target = tiny_model.target()
    assert target.offset == 0
    target.prefill(PROMPT)
    assert target.offset == len(PROMPT) - 1
    target.verify([1, 2, 3])
    assert target.offset == len(PROMPT) + 3
    target.rollback(3)
    assert target.offset == len(PROMPT)
    target.advance()
    assert target.offset == len(PROMPT) + 1


def test_context_limit_is_a_wall() -> None:
    """Up to the context limit everything runs, beyond it is a ValueError, and pipelining never steps over it."""
    network = make_network(LLAMA)
    fed = 0

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        nonlocal fed
        fed += tokens.shape[1]
        logits: mx.array = network(tokens, cache=caches)
        return logits

    target = MlxTarget(forward, [KVCache(), KVCache()], context_limit=15)
    with pytest.raises(ValueError, match="context limit of 15"):
        target.prefill(range(16))
    target.prefill(PROMPT)
    with pytest.raises(ValueError, match="context limit of 15"):
        target.verify([1, 2, 3, 4])
    for _ in range(4):
        target.advance()
    assert target.offset == fed == 14
    with pytest.raises(ValueError, match="context limit of 15"):
        target.advance()


@pytest.mark.parametrize("n", [-1, 4])
def test_rollback_out_of_range_is_refused(tiny_model: MlxModel, n: int) -> None:
    """No more can be rolled back than was drafted."""
    target = prefilled(tiny_model)
    target.verify([1, 2, 3])
    with pytest.raises(ValueError, match="after a draft of 3"):
        target.rollback(n)


def test_rollback_needs_a_verify(tiny_model: MlxModel) -> None:
    """Only a verify can be rolled back, and only once."""
    target = prefilled(tiny_model)
    with pytest.raises(ValueError, match="follows verify"):
        target.rollback(0)
    target.verify([1, 2])
    target.rollback(2)
    with pytest.raises(ValueError, match="follows verify"):
        target.rollback(2)


def test_empty_prefill_is_refused(tiny_model: MlxModel) -> None:
    """Prefilling nothing is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least one token"):
        tiny_model.target().prefill([])


def test_nan_is_an_engine_error(tiny_model: MlxModel) -> None:
    """Logits that are no numbers end the round with an error instead of a token."""
    target = MlxTarget(
        lambda tokens, caches: tiny_model.network(tokens, cache=caches) * math.nan,
        [KVCache(), KVCache()],
        context_limit=100,
    )
    target.prefill(PROMPT)
    with pytest.raises(EngineError, match="NaN"):
        target.verify([1, 2])


def test_mlx_errors_become_engine_errors() -> None:
    """What mlx raises inside a pass reaches the caller as the engine's error, with mlx's words."""

    def forward(_tokens: mx.array, _caches: list[Any]) -> mx.array:
        raise RuntimeError("[metal::malloc] out of memory")

    target = MlxTarget(forward, [KVCache()], context_limit=100)
    with pytest.raises(EngineError, match=r"during prefill: .*out of memory"):
        target.prefill(PROMPT)


def test_a_cache_that_does_not_trim_is_noticed(tiny_model: MlxModel) -> None:
    """A cache that says it trimmed but did not is a RollbackFailed that names it."""

    class Stubborn(KVCache):  # type: ignore[misc]  # mlx-lm has no annotations
        def trim(self, n: int) -> int:
            return n

    target = MlxTarget(
        lambda tokens, caches: tiny_model.network(tokens, cache=caches), [KVCache(), Stubborn()], context_limit=100
    )
    target.prefill(PROMPT)
    target.verify([1, 2])
    with pytest.raises(RollbackFailed, match="Stubborn of layer 1"):
        target.rollback(2)


def test_warm_up_leaves_no_trace(tiny_model: MlxModel, reply: list[int]) -> None:
    """Warming up every width changes no sequence (reference A13)."""
    target = prefilled(tiny_model)
    tiny_model.warm_up((1, 2, 8))
    assert reply == plain_reply(target, N_REPLY)
