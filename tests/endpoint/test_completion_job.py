"""A completion step by step, on a scripted model."""

from __future__ import annotations

import dataclasses
import itertools
from typing import get_args

import pytest

from plgd.completions.job import completion_steps
from plgd.completions.request import Completion, CompletionEvent, CompletionResult, CompletionText, PromptRead
from plgd.config import EngineConfig
from plgd.documents.warm import WarmStore
from plgd.engine.model import Turn
from plgd.engine.sampling import GREEDY, Sampling
from plgd.protocol.drafting import Policy
from scripted_model import ScriptedModel

REPLY = "def total(items):\n    return sum(items)\n"
ASKED = Completion((Turn("user", "Add up the items."),))


def warm_store() -> WarmStore:
    """Return a store with room."""
    store = WarmStore(lambda: 0.0)
    store.resize(1 << 20)
    return store


def run(
    asked: Completion,
    model: ScriptedModel,
    *,
    engine: EngineConfig | None = None,
    sampling: Sampling = GREEDY,
    warm: WarmStore | None = None,
) -> tuple[CompletionResult, list[CompletionEvent]]:
    """Carry a completion out."""
    steps = completion_steps(asked, model=model, engine=engine or EngineConfig(), sampling=sampling, warm=warm)
    events: list[CompletionEvent] = []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as done:
            result: CompletionResult = done.value
            return result, events


@pytest.mark.parametrize("policy", get_args(Policy))
def test_every_policy_gives_the_models_reply(policy: Policy) -> None:
    """However it is drafted, and from whatever prediction, the reply is the model's own."""
    for prediction in ("", REPLY, REPLY.upper()):
        asked = dataclasses.replace(ASKED, prediction=prediction)
        result, events = run(asked, ScriptedModel(REPLY), engine=EngineConfig(policy=policy))
        assert (REPLY, "stop") == (result.text, result.finish)
        assert REPLY == "".join(event.text for event in events if isinstance(event, CompletionText))
        if prediction == REPLY and policy != "off":
            assert result.n_accepted > len(REPLY) // 2


def test_a_rename_in_what_the_user_said_takes_few_passes() -> None:
    """What the reply has replaced in the user's text is put into later drafts, which n-grams alone could not do."""
    code = "".join(f"    subtotal = subtotal + price_{n} * {n}  # line {n * 37}\n" for n in range(30))
    asked = Completion((Turn("user", f"Rename subtotal to net_sum:\n{code}"),))
    model = ScriptedModel(code.replace("subtotal", "net_sum"))
    result, _ = run(asked, model)
    assert code.replace("subtotal", "net_sum") == result.text
    assert len(model.targets[0].widths) < result.n_tokens // 12


def test_the_prompt_is_read_in_slices() -> None:
    """Between two slices of a long prompt the daemon can turn to others, and progress rises to 100 percent."""
    asked = Completion((Turn("user", "x" * 1000),))
    _, events = run(asked, ScriptedModel(REPLY), engine=EngineConfig(prefill_slice=100))
    read = [event.percent for event in events if isinstance(event, PromptRead)]
    assert len(read) >= 10
    assert 100.0 == read[-1]
    assert all(before < after for before, after in itertools.pairwise(read))


def test_a_reply_that_only_repeats_itself_is_cut_off() -> None:
    """A model that has lost its way does not go on to the end of its context, and the client is told."""
    result, _ = run(ASKED, ScriptedModel("ab" * 5000))
    assert "length" == result.finish
    assert len(result.text) < 1000


def test_a_reply_ends_with_the_context() -> None:
    """Where the context ends the reply is cut off."""
    result, _ = run(ASKED, ScriptedModel(REPLY, context_limit=30))
    assert "length" == result.finish
    assert REPLY.startswith(result.text)
    assert len(result.text) < 30


def test_a_cancelled_completion_leaves_what_was_read() -> None:
    """A completion that is cancelled in its reply leaves the prompt read for the next one."""
    store, model = warm_store(), ScriptedModel(REPLY)
    steps = completion_steps(ASKED, model=model, engine=EngineConfig(policy="off"), sampling=GREEDY, warm=store)
    while not isinstance(next(steps), CompletionText):
        continue
    steps.close()
    result, _ = run(ASKED, model, warm=store)
    assert (REPLY, result.n_prompt_tokens - 1) == (result.text, result.n_cached_tokens)


def test_an_exact_reply_begins_cold() -> None:
    """What was read in other slices may round differently, so an exact reply does not begin with it."""
    store, model = warm_store(), ScriptedModel(REPLY)
    for _ in range(2):
        result, _ = run(ASKED, model, sampling=Sampling(exact=True), warm=store)
        assert 0 == result.n_cached_tokens


def test_other_conversations_share_nothing_but_the_system_turn() -> None:
    """Conversations under another system turn neither use nor spoil what is kept of the first."""
    store, model = warm_store(), ScriptedModel(REPLY)
    first = Completion((Turn("system", "A."), *ASKED.turns))
    other = Completion((Turn("system", "B."), *ASKED.turns))
    assert 0 == run(first, model, warm=store)[0].n_cached_tokens
    assert 0 == run(other, model, warm=store)[0].n_cached_tokens
    result = run(first, model, warm=store)[0]
    assert result.n_prompt_tokens - 1 == result.n_cached_tokens
