"""Judges replies to cases: read, guarded and put into the text as the daemon does it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from plgd.bench.edits_results import EditOutcome
from plgd.bench.edits_score import find_damage, parses
from plgd.config import EditConfig
from plgd.documents.document import Document
from plgd.edits.guard import check_text
from plgd.edits.indentation import keep_tabs
from plgd.edits.reply import ReplyReader
from plgd.edits.view import rewrite_lines, view
from plgd.engine.mlx.text import MlxTokenizer
from plgd.protocol.edits import EditStatus
from plgd.text.lines import split_lines
from training.cases import Case, answer_of
from training.examples import case_prompt

__all__ = ("Judge",)


class Judge:
    """Tells what a reply comes to.

    Args:
        tokenizer: the model's.
    """

    def __init__(self, tokenizer: MlxTokenizer) -> None:
        self._tokenizer = tokenizer

    def __call__(self, case: Case, reply: Sequence[int], name: str) -> tuple[EditOutcome, str]:
        """Judge a reply.

        Args:
            case: what was asked, and the right answer.
            reply: the model's tokens, the one that ended it included.
            name: what the outcome calls the case.

        Returns:
            The outcome, and what the reply made of the text; of a reply that was refused, its own words.
        """
        text, reader = self._read(case, reply)
        status = EditStatus.TRUNCATED if text is None else self._status(case, text)
        after = self._after(case, text) if text is not None else ""
        if status is EditStatus.PROPOSED and after == case.text:
            status = EditStatus.NO_CHANGE
        answer = answer_of(case)
        stands = status in (EditStatus.PROPOSED, EditStatus.NO_CHANGE)
        outcome = EditOutcome(
            name=f"{case.kind}-{name}",
            kind=case.kind,
            phrasing=case.phrasing,
            ranged=case.first_line is not None,
            n_lines=len(split_lines(case.text)),
            status=status.value,
            exact=stands and after == answer,
            ended=text is not None,
            parses=parses(after, case.language) if stands and parses(answer, case.language) else None,
            damage=tuple(find_damage(case.text, [answer], after)) if stands else (),
        )
        return outcome, after if stands else reader.raw

    def _read(self, case: Case, reply: Sequence[int]) -> tuple[str | None, ReplyReader]:
        """Read a reply; None for one that did not end by itself."""
        prompt = case_prompt(case, self._tokenizer)
        eos_tokens = self._tokenizer.eos_tokens
        reader = ReplyReader(self._tokenizer.detokenizer(), prompt.fence, prompt.source, eos_tokens)
        ended = False
        for token in reply:
            ended = reader.push(token) or token in eos_tokens
            if ended:
                break
        reader.finish()
        return (keep_tabs(prompt.source, reader.reply.text, case.instruction) if ended else None), reader

    def _status(self, case: Case, text: str) -> EditStatus:
        document, first, last = _document(case)
        verdict = check_text(
            view(document.lines[first - 1 : last]),
            text,
            case.instruction,
            before=split_lines(view(document.lines[: first - 1])),
            after=split_lines(view(document.lines[last:])),
            language=case.language,
            control_strings=self._tokenizer.control_strings,
            max_deleted_share=EditConfig().max_deleted_share,
        )
        return EditStatus.REJECTED_OUTPUT if verdict.refusal is not None else EditStatus.PROPOSED

    def _after(self, case: Case, text: str) -> str:
        document, first, last = _document(case)
        return document.bom + "".join(rewrite_lines(document.lines, first, last, text))


def _document(case: Case) -> tuple[Document, int, int]:
    document = Document.of_text(case.text, PurePosixPath(case.path).name)
    return document, case.first_line or 1, case.last_line or len(document.lines)
