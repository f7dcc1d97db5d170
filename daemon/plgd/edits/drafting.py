"""What an edit's reply is drafted from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from plgd.config import EngineConfig
from plgd.edits.announced import announced
from plgd.edits.prompt import Prompt
from plgd.edits.request import PreparedEdit
from plgd.edits.text_tokens import TextTokens
from plgd.edits.view import view
from plgd.engine.drafting import make_file_proposer
from plgd.engine.governor import make_proposer
from plgd.engine.model import Model
from plgd.engine.proposer import Proposer
from plgd.errors import InvalidParams
from plgd.protocol.drafting import DraftingParams

__all__ = ("make_edit_proposer", "settle_drafting")

# Of the longest ordinary tokens: no reply within the context is longer than so many times its limit.
_TOKEN_CHARACTERS: Final = 16


def settle_drafting(params: DraftingParams | None, engine: EngineConfig) -> EngineConfig:
    """Return the settings that a request's reply is drafted by.

    Args:
        params: what the request says; a policy other than the configured one comes with its own options.
        engine: what is configured.

    Raises:
        InvalidParams: the options contradict each other or the policy.
    """
    if params is None:
        return engine
    given = {name: value for name, value in msgspec.structs.asdict(params).items() if value is not None}
    if given.get("policy", engine.policy) != engine.policy:
        given = {"max_draft": 0, "ngram_min": 0, "ngram_max": 0, **given}
    try:
        return msgspec.structs.replace(engine, **given)
    except ValueError as error:
        raise InvalidParams(f"`drafting`: {error}.") from error


def make_edit_proposer(
    edit: PreparedEdit, prompt: Prompt, model: Model, engine: EngineConfig, tokens: TextTokens | None = None
) -> Proposer:
    """Make the proposer of an edit.

    Under `cost` the reply is drafted from what it is expected to be, if the request says so, then from the lines to
    rewrite, then the file around them, then the hint, then the sources that the request names, with what the reply has
    changed so far put in. The reference policies draft from n-grams of all that, the prompt and the reply alone.

    Args:
        edit: the request.
        prompt: what the model is shown.
        model: whose tokens; of all texts but the file, as much is used as the longest reply of it could hold.
        engine: the policy and its n-gram lengths.
        tokens: of the text; made anew when left out.
    """
    tokenizer = model.tokenizer
    # The reply ends with the fence, and so does what it is drafted from.
    expected = [text + prompt.fence for text in edit.expected]
    texts = _cut((*expected, edit.params.draft_hint or "", *edit.sources), _TOKEN_CHARACTERS * model.context_limit)
    others = [tokenizer.encode(text) for text in texts]
    if engine.policy != "cost":
        proposer = make_proposer(engine.policy, ngram_min=engine.ngram_min, ngram_max=engine.ngram_max)
        # Before the prompt, so that of two places the text itself, which comes later, is drafted from.
        for other in reversed(others):
            proposer.extend(other)
        return proposer
    tokens = tokens or TextTokens(edit, tokenizer)
    sources = [tokens.source(prompt.fence)]
    if len(edit.source_lines) < len(edit.document.lines):
        sources.append(tokens.whole())
    return make_file_proposer(
        [*others[: len(expected)], *sources, *others[len(expected) :]],
        n_prompt=len(prompt.tokens),
        codec=tokenizer,
        ngram_min=engine.ngram_min,
        ngram_max=engine.ngram_max,
        known=tokens.known(),
        announced=announced(edit.params.instruction, view(edit.source_lines)),
    )


def _cut(texts: Iterable[str], n_characters: int) -> Iterator[str]:
    """Yield texts, the empty ones left out, until they have so many characters together; the last may be cut."""
    for text in texts:
        if piece := text[:n_characters]:
            yield piece
        n_characters -= len(piece)
