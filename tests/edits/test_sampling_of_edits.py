"""How an edit's reply is sampled: the request before the configuration, and a seed to repeat it by."""

from __future__ import annotations

import contextlib
from itertools import count

from plgd.config import Config, EngineConfig, SamplingConfig
from plgd.documents.store import DocumentStore
from plgd.edits.job import edit_steps
from plgd.edits.request import prepare
from plgd.edits.sampling import draw_seed, settle_sampling
from plgd.engine.sampling import GREEDY, Sampling
from plgd.protocol.edits import EditParams, EditResult
from plgd.protocol.sampling import SamplingParams
from scripted_model import ScriptedModel


def run(sampling: SamplingParams | None, config: Config) -> tuple[EditResult, Sampling]:
    """Edit with a scripted model; return the result and how the model was asked to sample."""
    documents, model = DocumentStore(), ScriptedModel("b = 1\n```\n")
    edit = prepare(EditParams(instruction="Rename a to b", text="a = 1\n", sampling=sampling), documents)
    steps = edit_steps(edit, session="s", received=0.0, documents=documents, model=model, config=config)
    with contextlib.closing(steps):
        while True:
            try:
                next(steps)
            except StopIteration as done:
                return done.value, model.samplings[-1]


def test_nothing_said_is_greedy() -> None:
    """Without a word about sampling in the request and the configuration, the likeliest token is taken."""
    assert settle_sampling(None, Config(), draw=lambda: 0) == GREEDY


def test_the_request_goes_before_the_configuration() -> None:
    """What the request says holds, zero and one included; what it leaves out is as configured."""
    config = Config(
        sampling=SamplingConfig(temperature=0.5, top_p=0.8, presence_penalty=1.0, penalty_context=64),
        engine=EngineConfig(exact=True, near_tie_margin=0.1),
    )
    asked = SamplingParams(temperature=0.0, top_k=7, presence_penalty=0.0, logit_bias={3: -1.0, 5: 2.0}, seed=0)
    expected = Sampling(
        temperature=0.0,
        top_p=0.8,
        top_k=7,
        penalty_context=64,
        logit_bias=((3, -1.0), (5, 2.0)),
        seed=0,
        near_tie_margin=0.1,
        exact=True,
    )
    assert expected == settle_sampling(asked, config, draw=lambda: 99)


def test_a_missing_seed_is_drawn() -> None:
    """Two edits without a seed get seeds of their own, within 32 bits."""
    seeds = {draw_seed() for _ in range(50)}
    assert len(seeds) > 40
    assert all(0 <= seed < 1 << 32 for seed in seeds)
    numbers = count(5)
    drawn = [settle_sampling(SamplingParams(), Config(), draw=lambda: next(numbers)).seed for _ in range(2)]
    assert [5, 6] == drawn


def test_a_sampled_reply_tells_its_seed() -> None:
    """The seed in the result is the one that the model sampled by, whether it was asked for or drawn."""
    result, sampling = run(SamplingParams(temperature=0.7, seed=12), Config())
    assert 12 == result.stats.seed == sampling.seed
    result, sampling = run(SamplingParams(temperature=0.7), Config())
    assert sampling.seed == result.stats.seed


def test_a_greedy_reply_has_no_seed() -> None:
    """Where nothing is random the result names no seed."""
    result, sampling = run(SamplingParams(seed=12), Config())
    assert (None, 0.0) == (result.stats.seed, sampling.temperature)


def test_exactness_reaches_the_model() -> None:
    """`engine.exact` and the margin are handed to the model for every edit."""
    _, sampling = run(None, Config(engine=EngineConfig(exact=True, near_tie_margin=0.5)))
    assert (True, 0.5) == (sampling.exact, sampling.near_tie_margin)
