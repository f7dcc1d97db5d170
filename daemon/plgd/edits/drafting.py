"""What an edit's reply is drafted from."""

from __future__ import annotations

from typing import Final

from plgd.config import EngineConfig
from plgd.edits.prompt import Prompt
from plgd.edits.request import PreparedEdit
from plgd.edits.view import view
from plgd.engine.drafting import make_file_proposer
from plgd.engine.governor import make_proposer
from plgd.engine.model import Model
from plgd.engine.proposer import Proposer

__all__ = ("make_edit_proposer",)

# Of the longest ordinary tokens: no reply within the context is longer than so many times its limit.
_TOKEN_CHARACTERS: Final = 16


def make_edit_proposer(edit: PreparedEdit, prompt: Prompt, model: Model, engine: EngineConfig) -> Proposer:
    """Make the proposer of an edit.

    Under `cost` the reply is drafted from the lines to rewrite, then the file around them, then the hint, with what
    the reply has changed so far put in. The reference policies draft from n-grams of hint, prompt and reply alone.

    Args:
        edit: the request.
        prompt: what the model is shown.
        model: whose tokens; of a hint that is longer than any reply of it, the beginning is used.
        engine: the policy and its n-gram lengths.
    """
    tokenizer = model.tokenizer
    hint = tokenizer.encode((edit.params.draft_hint or "")[: _TOKEN_CHARACTERS * model.context_limit])
    if engine.policy != "cost":
        proposer = make_proposer(engine.policy, ngram_min=engine.ngram_min, ngram_max=engine.ngram_max)
        # Before the prompt, so that of two places the text itself, which comes later, is drafted from.
        proposer.extend(hint)
        return proposer
    # The reply ends with the fence, and so does what it is drafted from.
    sources = [tokenizer.encode(prompt.source + prompt.fence)]
    if len(edit.source_lines) < len(edit.document.lines):
        sources.append(tokenizer.encode(view(edit.document.lines)))
    return make_file_proposer(
        [*sources, hint] if hint else sources,
        n_prompt=len(prompt.tokens),
        codec=tokenizer,
        ngram_min=engine.ngram_min,
        ngram_max=engine.ngram_max,
    )
