"""How an edit's reply is drafted: the request before the configuration, by the same bounds."""

from __future__ import annotations

import re

import pytest

from plgd.config import EngineConfig
from plgd.documents.store import DocumentStore
from plgd.edits.drafting import make_edit_proposer, settle_drafting
from plgd.edits.prompt import make_prompt
from plgd.edits.request import prepare
from plgd.errors import InvalidParams
from plgd.protocol.drafting import DraftingParams
from plgd.protocol.edits import EditParams
from scripted_model import ScriptedModel


def test_nothing_said_is_as_configured() -> None:
    """A request that says nothing is drafted by the settings."""
    engine = EngineConfig(policy="graded", max_draft=9)
    assert engine == settle_drafting(None, engine)
    assert engine == settle_drafting(DraftingParams(), engine)


def test_the_request_goes_before_the_configuration() -> None:
    """What the request says holds, the rest stays as configured."""
    engine = EngineConfig(policy="graded", max_draft=9, prefill_slice=64)
    assert EngineConfig(policy="graded", max_draft=3, prefill_slice=64) == settle_drafting(
        DraftingParams(max_draft=3), engine
    )


@pytest.mark.parametrize(("instruction", "word"), [("Rename total to net_sum.", "net_sum"), ("Sort it.", "total")])
def test_what_the_instruction_announces_is_drafted_at_once(instruction: str, word: str) -> None:
    """A rename is in the first draft of the reply if the instruction names both names."""
    text = "def total(lines):\n    return sum(lines)\n"
    model = ScriptedModel("")
    edit = prepare(EditParams(instruction=instruction, text=text, name="shop.py"), DocumentStore())
    prompt = make_prompt(edit.document, edit.lines, instruction, model.tokenizer)
    proposer = make_edit_proposer(edit, prompt, model, EngineConfig())
    proposer.extend(prompt.tokens)
    assert model.tokenizer.decode(proposer.propose(128).tokens).startswith(f"def {word}(lines):\n")


def test_another_policy_comes_with_its_own_options() -> None:
    """Options that were configured for one policy say nothing about another."""
    engine = EngineConfig(policy="graded", max_draft=60, ngram_min=2, ngram_max=3, exact=True)
    assert EngineConfig(policy="ds4", exact=True) == settle_drafting(DraftingParams(policy="ds4"), engine)
    assert EngineConfig(policy="off", exact=True) == settle_drafting(DraftingParams(policy="off"), engine)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (DraftingParams(max_draft=129), "max_draft (129) of policy cost is 128 at most"),
        (DraftingParams(policy="graded", max_draft=65), "max_draft (65) of policy graded is 64 at most"),
        (DraftingParams(policy="ds4", max_draft=16), "max_draft (16) of policy ds4 is 15 at most"),
        (DraftingParams(policy="off", max_draft=7), "policy off does not draft"),
        (DraftingParams(ngram_min=4, ngram_max=3), "ngram_min (4) is larger than ngram_max (3)"),
        (DraftingParams(ngram_max=3), "set together"),
    ],
)
def test_bad_options_of_a_request_are_refused(params: DraftingParams, words: str) -> None:
    """The bounds of the configuration hold for a request, too (prompt-lookup reference A4)."""
    with pytest.raises(InvalidParams, match=re.escape(words)):
        settle_drafting(params, EngineConfig())
