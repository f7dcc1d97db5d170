"""Near ties: counted where wide passes might have chosen otherwise, and with `exact` decided as plain decoding does.

Kernels that round differently in wide passes are played by a disturbance of their logits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_lm.models.cache import make_prompt_cache

from doubles import PlannedGovernor, PlannedProposer
from plgd.engine.mlx.sampling import make_sampler
from plgd.engine.mlx.shapes import FixedShapes
from plgd.engine.mlx.target import MlxTarget
from plgd.engine.sampling import GREEDY, Sampling
from plgd.engine.session import Session
from plgd.engine.stops import Stops
from replies import plain_reply
from session_replies import NEVER, PatternWatcher, decode_reply
from tiny_configs import make_config
from tiny_models import make_network

PROMPT = [(7 * i * i + 3 * i + 1) % 256 for i in range(11)]
N_REPLY = 40
# Each logit of a wide pass is off by no more than this; two of them differ by no more than the margin.
NOISE = 0.4
MARGIN = 2 * NOISE
SAMPLED = Sampling(temperature=0.8, presence_penalty=0.5, seed=9)
SHAPES = FixedShapes(widths=(4, 8, 16), kv_step=32)


@pytest.fixture(autouse=True, scope="module")
def uncompiled() -> Iterator[None]:
    """Models as small as these take longer to compile than to run."""
    mx.disable_compile()
    yield
    mx.enable_compile()


@pytest.fixture(scope="module")
def networks() -> list[nn.Module]:
    """Small models: rows only; windows that fill up and rows; states and rows."""
    return [make_network(make_config(model_type)) for model_type in ("qwen3", "gemma3_text", "lfm2")]


class Rounding:
    """A forward whose wide passes are off by a little, another little in each pass.

    Attributes:
        wide: how many tokens each wide pass had.
    """

    def __init__(self, network: nn.Module) -> None:
        self.wide: list[int] = []
        self._network = network

    def __call__(self, tokens: mx.array, caches: list[Any]) -> mx.array:
        logits: mx.array = self._network(tokens, cache=caches)
        if tokens.shape[1] == 1:
            return logits
        self.wide.append(tokens.shape[1])
        return logits + mx.random.uniform(-NOISE, NOISE, logits.shape, key=mx.random.key(len(self.wide)))


def start(
    network: nn.Module, sampling: Sampling = GREEDY, *, exact: bool, shapes: FixedShapes | None = None
) -> MlxTarget:
    """Start an empty sequence behind the prompt."""
    target = MlxTarget(
        Rounding(network),
        make_prompt_cache(network),
        context_limit=512,
        sampler=make_sampler(sampling),
        shapes=shapes,
        near_tie_margin=MARGIN,
        exact=exact,
    )
    target.prefill(PROMPT)
    return target


def plain(network: nn.Module, sampling: Sampling = GREEDY) -> list[int]:
    """Decode without drafts: no wide pass says anything."""
    return plain_reply(start(network, sampling, exact=False), N_REPLY)


def drafted(target: MlxTarget, reply: list[int], draft: Callable[[], tuple[int, int] | None]) -> list[int]:
    """Decode with drafts, given as length and right tokens; None is a pipelined step."""
    said: list[int] = []
    while len(said) < N_REPLY:
        asked = draft()
        if asked is None:
            said.append(target.advance())
        else:
            right = reply[len(said) : len(said) + asked[0]]
            tokens = [*right[: asked[1]], *((token + 1) % 256 for token in right[asked[1] :])]
            choices = target.verify(tokens)
            tokens = tokens[: len(choices) - 1]
            n_accepted = next((i for i, token in enumerate(tokens) if token != choices[i]), len(tokens))
            target.rollback(len(tokens) - n_accepted)
            said.extend(choices[: n_accepted + 1])
        assert target.offset == len(PROMPT) + len(said) - 1
    return said[:N_REPLY]


@pytest.mark.parametrize("sampling", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("shapes", [None, SHAPES], ids=["any", "fixed"])
@settings(deadline=None, max_examples=5)
@given(data=st.data())
def test_exact_replies_are_plain_ones(
    networks: list[nn.Module], sampling: Sampling, place: int, shapes: FixedShapes | None, data: st.DataObject
) -> None:
    """However much wide passes are off within the margin, an exact reply is the plain one, for every kind of cache."""
    network = networks[place]
    reply = plain(network, sampling)
    rounds = st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9))
    said = drafted(start(network, sampling, exact=True, shapes=shapes), reply, lambda: data.draw(rounds))
    assert reply == said


def test_without_exact_replies_go_their_own_way(networks: list[nn.Module]) -> None:
    """The disturbance does flip choices: without `exact` the same drafts lead elsewhere, and near ties were counted."""
    reply = plain(networks[0])
    target = start(networks[0], exact=False)
    assert reply != drafted(target, reply, lambda: (6, 6))
    assert target.n_near_ties > 0


@pytest.mark.parametrize("exact", [False, True])
def test_plain_rounds_have_no_near_ties(networks: list[nn.Module], exact: bool) -> None:
    """Passes of one token decide for themselves: nothing is counted, nothing is done twice."""
    target = start(networks[0], exact=exact)
    for _ in range(8):
        target.verify(())
        target.advance()
    assert (0, 17) == (target.n_near_ties, target.counts.n_passes)


def test_near_ties_behind_a_miss_do_not_count(networks: list[nn.Module]) -> None:
    """Choices behind the first wrong token of a draft have no meaning, and their near ties none either."""
    target = MlxTarget(
        Rounding(networks[0]), make_prompt_cache(networks[0]), context_limit=512, near_tie_margin=1e9, exact=False
    )
    target.prefill(PROMPT)
    reply = plain(networks[0])
    target.verify([(reply[0] + 1) % 256, 1, 2, 3])
    assert 1 == target.n_near_ties


def test_exact_drafts_are_cut_before_a_near_tie(networks: list[nn.Module]) -> None:
    """Where everything is a near tie, drafts gain nothing: each round says one token, and says it as plain decoding."""
    reply = plain(networks[0])
    forward = Rounding(networks[0])
    target = MlxTarget(forward, make_prompt_cache(networks[0]), context_limit=512, near_tie_margin=1e9, exact=True)
    target.prefill(PROMPT)
    assert [[token] for token in reply[:6]] == [list(target.verify(reply[i : i + 4])) for i in range(6)]


def exact_session(network: nn.Module, reply: Sequence[int], *, exact: bool = True) -> tuple[Session, MlxTarget]:
    """Make a session whose drafts are right, six tokens each, one in three rounds pipelined instead."""
    target = MlxTarget(
        Rounding(network), make_prompt_cache(network), context_limit=512, near_tie_margin=MARGIN, exact=exact
    )
    proposer = PlannedProposer([*PROMPT, *reply], [(6, None)])
    return Session(target, proposer, PlannedGovernor([(6, False), (6, False), (0, True)])), target


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("n_before_stop", range(2, 20, 3))
def test_a_stop_inside_a_cut_draft_is_kept_to(networks: list[nn.Module], place: int, n_before_stop: int) -> None:
    """A reply that ends inside an accepted draft is rolled back to its end, cut or not, and the session goes on."""
    reply = plain(networks[place])
    watcher = PatternWatcher(reply[n_before_stop : n_before_stop + 2])
    session, _ = exact_session(networks[place], reply)
    decode_reply(session, PROMPT, Stops(NEVER, N_REPLY, watcher))
    n_first = len(session.tokens)
    assert [*PROMPT, *reply][:n_first] == session.tokens
    assert watcher.seen == session.tokens[len(PROMPT) :]
    rounds = list(session.decode(Stops(NEVER, N_REPLY + len(PROMPT) - n_first)))
    assert [*PROMPT, *reply] == session.tokens
    assert session.stats.n_tokens == N_REPLY == len(session.tokens) - len(PROMPT)
    assert rounds[-1].stopped is not None


def test_the_session_tells_near_ties(networks: list[nn.Module]) -> None:
    """Near ties stand in the statistics, and cut tokens count neither as accepted nor as rejected."""
    reply = plain(networks[0])
    session, target = exact_session(networks[0], reply)
    decode_reply(session, PROMPT, Stops(NEVER, N_REPLY))
    assert 0 < session.stats.n_near_ties == target.n_near_ties
    assert session.stats.n_drafted == session.stats.n_accepted


def test_in_float32_hardly_anything_is_a_near_tie(networks: list[nn.Module]) -> None:
    """With the margin that suits float32, a whole drafted reply has no near tie, so `exact` costs nothing there."""
    reply = plain(networks[0])

    def forward(tokens: mx.array, caches: list[Any]) -> mx.array:
        logits: mx.array = networks[0](tokens, cache=caches)
        return logits

    target = MlxTarget(forward, make_prompt_cache(networks[0]), context_limit=512, exact=True)
    target.prefill(PROMPT)
    assert reply == drafted(target, reply, lambda: (6, 6))
    assert 0 == target.n_near_ties


def test_after_a_cut_no_draft_is_fed_in_vain(networks: list[nn.Module]) -> None:
    """The choice that a draft was cut for comes from a pass of one token at once: a wide one would be thrown away."""
    reply = plain(networks[0])
    forward = Rounding(networks[0])
    target = MlxTarget(forward, make_prompt_cache(networks[0]), context_limit=512, near_tie_margin=MARGIN, exact=True)
    target.prefill(PROMPT)
    said: list[int] = []
    n_cuts = 0
    while len(said) < N_REPLY - 7:
        choices = target.verify(reply[len(said) : len(said) + 6])
        said.extend(choices)
        if 1 < len(choices) < 7:
            n_cuts += 1
            n_wide = len(forward.wide)
            said.extend(target.verify(reply[len(said) : len(said) + 6]))
            assert n_wide == len(forward.wide)
    assert reply[: len(said)] == said
    assert n_cuts > 0
