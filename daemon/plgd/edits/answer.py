"""Puts the result of an edit together, whatever became of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from plgd.documents.document import Document
from plgd.edits.reply_drafts import DraftRecorder
from plgd.edits.request import PreparedEdit
from plgd.edits.timing import Timing
from plgd.engine.sampling import GREEDY
from plgd.engine.stats import Stats
from plgd.engine.types import StopReason
from plgd.protocol.conflicts import ConflictLines
from plgd.protocol.edits import EditResult, EditStats, EditStatus, Hunk, PartResult, ProposerStats
from plgd.text.clash import ClashingLines
from plgd.text.diff import diff_lines
from plgd.text.fingerprint import fingerprint
from plgd.text.unified import unified_diff

__all__ = ("Answer", "tell_conflict")


class Answer:
    """What is known of an edit so far, and the result made of it.

    Args:
        edit: what was asked for.
        session: the edit's id.
        model: the name of the model.
        timing: the edit's times.

    Attributes:
        replies: the engine's counts, of each reply that has begun; several edits of a text have several.
        policy: the governor's policy, once the engine has begun.
        sampling: how the reply is drawn, once the engine has begun.
        stopped: what ended the reply, once it has ended.
        raw_reply: the model's own words, once the reply has ended.
        drafts: who drafted which part of the reply, once the engine has begun, if that was asked for.
        parts: what became of each of several edits of the text.
    """

    def __init__(self, edit: PreparedEdit, session: str, model: str, timing: Timing) -> None:
        self.replies: list[Stats] = []
        self.policy = ""
        self.sampling = GREEDY
        self.stopped: StopReason | None = None
        self.raw_reply = ""
        self.drafts: DraftRecorder | None = None
        self.parts: list[PartResult] = []
        self._edit = edit
        self._session = session
        self._model = model
        self._timing = timing

    def unchanged(self, status: EditStatus, *warnings: str, conflict: ClashingLines | None = None) -> EditResult:
        """Make the result of an edit that changes nothing; the model's words go along unless it meant no change.

        Args:
            status: how it ended.
            warnings: sentences for a person.
            conflict: the lines that somebody else changed, too.
        """
        raw_reply = "" if status is EditStatus.NO_CHANGE else self.raw_reply
        document = self._edit.document
        unchanged = self._result(status, document, document.lines, warnings, document.version, raw_reply)
        return unchanged if conflict is None else replace(unchanged, conflict=tell_conflict(conflict))

    def changed(
        self,
        status: EditStatus,
        base: Document,
        lines: Sequence[str],
        warnings: Sequence[str],
        *,
        version: int | None = None,
    ) -> EditResult:
        """Make the result of an edit that is proposed or applied.

        Args:
            status: `PROPOSED` or `APPLIED`.
            base: the text that the diff is against.
            lines: the new lines, byte order mark apart.
            warnings: sentences for a person.
            version: of what the path holds now; by default the base's.
        """
        return self._result(status, base, lines, warnings, version or base.version, "")

    def _result(
        self,
        status: EditStatus,
        base: Document,
        lines: Sequence[str],
        warnings: Sequence[str],
        version: int,
        raw_reply: str,
    ) -> EditResult:
        new_text = base.bom + "".join(lines)
        hunks = diff_lines(base.lines, lines)
        return EditResult(
            session=self._session,
            status=status,
            path=str(base.path or ""),
            base_fingerprint=base.fingerprint,
            new_fingerprint=fingerprint(new_text.encode()),
            version=version,
            new_text=new_text,
            diff=unified_diff(base.text, new_text, base.name),
            hunks=tuple(
                Hunk(
                    id=number,
                    old_start=hunk.old_start + bool(hunk.old_lines),
                    old_lines=len(hunk.old_lines),
                    new_start=hunk.new_start + bool(hunk.new_lines),
                    new_lines=len(hunk.new_lines),
                )
                for number, hunk in enumerate(hunks)
            ),
            warnings=tuple(warnings),
            raw_reply=raw_reply,
            model=self._model,
            stats=self._stats(),
            drafts=self.drafts.result() if self.drafts is not None else None,
            parts=tuple(self.parts),
        )

    def _stats(self) -> EditStats:
        stats, timing = Stats.together(self.replies), self._timing
        return EditStats(
            prompt_tokens=stats.n_prompt_tokens,
            cached_tokens=stats.n_cached_tokens,
            output_tokens=stats.n_tokens,
            accepted_prediction_tokens=stats.n_accepted,
            rejected_prediction_tokens=stats.n_drafted - stats.n_accepted,
            rounds=stats.n_rounds,
            queue_ms=timing.queue_ms,
            ttft_ms=timing.ttft_ms,
            decode_ms=timing.decode_ms,
            total_ms=timing.total_ms,
            acceptance_lengths=stats.acceptance_histogram(),
            policy=self.policy,
            stopped_by=self.stopped.value if self.stopped else "",
            near_ties=stats.n_near_ties,
            seed=self.sampling.seed if self.sampling.temperature else None,
            proposers={
                name: ProposerStats(
                    drafts=counts.n_drafts, drafted_tokens=counts.n_drafted, accepted_tokens=counts.n_accepted
                )
                for name, counts in stats.proposers.items()
            },
        )


def tell_conflict(lines: ClashingLines) -> ConflictLines:
    """Say a clash in the protocol's words."""
    return ConflictLines(
        first=lines.first,
        last=lines.last,
        file_first=lines.their_first,
        base="".join(lines.base),
        file="".join(lines.theirs),
        edit="".join(lines.ours),
    )
