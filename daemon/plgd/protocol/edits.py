"""An edit: what is asked, where it is, what comes of it.

Fields are only ever added, with a default. Lines are counted from 1, ranges include both ends, times are in
milliseconds, sizes in bytes unless the name says otherwise.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import msgspec
from msgspec import Meta

from plgd.protocol.base import Message, Reply
from plgd.protocol.conflicts import ConflictLines
from plgd.protocol.drafting import DraftingParams, DraftSource
from plgd.protocol.reply_drafts import ReplyDrafts
from plgd.protocol.sampling import SamplingParams

__all__ = (
    "EditDelta",
    "EditMode",
    "EditParams",
    "EditPart",
    "EditProgress",
    "EditResult",
    "EditStats",
    "EditStatus",
    "Hunk",
    "LineRange",
    "PartResult",
    "Priority",
    "ProposerStats",
    "Stage",
)

IdempotencyKey = Annotated[str, Meta(min_length=1, max_length=256)]
# Up to a year; a longer time is none.
DeadlineMs = Annotated[float, Meta(gt=0, le=365 * 86_400_000)]


class EditMode(Enum):
    """What to do with the new text."""

    PROPOSE = "propose"
    APPLY = "apply"


class Priority(Enum):
    """Whether a person waits for an edit; interactive edits go before batch edits, which still get their share."""

    INTERACTIVE = "interactive"
    BATCH = "batch"


class EditStatus(Enum):
    """How an edit ended."""

    PROPOSED = "proposed"
    APPLIED = "applied"
    NO_CHANGE = "no_change"
    CONFLICT = "conflict"
    TRUNCATED = "truncated"
    REJECTED_OUTPUT = "rejected_output"
    CANCELLED = "cancelled"


class Stage(Enum):
    """Where an edit is."""

    QUEUED = "queued"
    LOADING = "loading"
    PREFILL = "prefill"
    DECODE = "decode"
    APPLY = "apply"


class LineRange(Message, frozen=True):
    """Whole lines, counted from 1, both ends included."""

    first: int
    last: int


class EditPart(Message, frozen=True):
    """One of several edits of a text in one request. An instruction or a sketch is given, or both.

    Attributes:
        instruction: what to change, in the user's words.
        range: the lines that may change, as they are counted before any of the request's edits; the whole text when
            missing.
        code_edit: a sketch of the new lines, as in `edit`.
        prediction: the new lines as they are expected, as in `edit`.
    """

    instruction: str = ""
    range: LineRange | None = None
    code_edit: str | None = None
    prediction: str | None = None


class EditParams(Message, frozen=True):
    """One edit. Exactly one of `path`, `uri` and `text` is given, and an instruction, a sketch or `edits`.

    Attributes:
        instruction: what to change, in the user's words; may be empty beside `code_edit`.
        path: absolute path of a file to read and, with `apply`, to write. The text of an editor that has it open
            (`document/open`) goes before the disk.
        uri: an open document, by the name that it was opened under.
        text: the text itself, for a buffer that is not on disk.
        name: the file name that the model is told; by default the path's last part, or `text.txt`.
        range: the lines that may change; the whole text when missing.
        base_fingerprint: refuse with `conflict` unless the text has this fingerprint.
        mode: `propose` answers with the edit, `apply` also writes it to `path`.
        draft_hint: text that the reply is expected to resemble; joins the file as a source of drafts.
        max_tokens: end the reply after so many tokens; by default what the context leaves.
        model: a model's name; by default the configured one.
        sampling: how its tokens are drawn; by default as configured.
        drafting: how it is drafted; by default as configured.
        sources: texts besides the file that the reply may resemble, such as a file that parts are taken from: sources
            of drafts alone, 16 at most and 16 MB together.
        show_drafts: tell in the result who drafted which part of the reply.
        dry_run: with `apply`, make every check and write nothing; what could be written is `proposed`.
        idempotency_key: any text, 256 characters at most, chosen for this request. A request with the same key within
            an hour gets the same result, also from another daemon, and nothing is done twice.
        code_edit: a sketch of the new text, or of the new lines of the range: what changes is written out, and a
            comment such as `# ... existing code ...` stands for lines that stay. The model merges it.
        prediction: the new text, or the new lines of the range, as they are expected: the first source of drafts.
        edits: several edits of the text in place of one, in this order, 64 at most; each is made of what those before
            it left. All of them succeed or nothing changes. Each has its own `instruction`, `range`, `code_edit` and
            `prediction`; the rest holds for all.
        priority: `interactive` when a person waits for it, `batch` when not; by default `interactive` in `edit` and
            `batch` in `edit/many`.
        deadline_ms: how long the client waits, from the request's arrival. An edit that is not done by then ends with
            the error `DeadlinePassed`, wherever it is, and its file is as it was.
    """

    instruction: str = ""
    path: str | None = None
    uri: str | None = None
    text: str | None = None
    name: str | None = None
    range: LineRange | None = None
    base_fingerprint: str | None = None
    mode: EditMode = EditMode.PROPOSE
    draft_hint: str | None = None
    max_tokens: int | None = None
    model: str | None = None
    sampling: SamplingParams | None = None
    drafting: DraftingParams | None = None
    sources: tuple[DraftSource, ...] = ()
    show_drafts: bool = False
    dry_run: bool = False
    idempotency_key: IdempotencyKey | None = None
    code_edit: str | None = None
    prediction: str | None = None
    edits: tuple[EditPart, ...] = ()
    priority: Priority | None = None
    deadline_ms: DeadlineMs | None = None


class Hunk(Reply, frozen=True):
    """One contiguous change. Line numbers count from 1; with no lines, they name the line before the change."""

    id: int
    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


class ProposerStats(Reply, frozen=True):
    """How one proposer fared in a reply.

    Attributes:
        drafts: verified drafts with tokens of its; a draft may hold tokens of several proposers.
        drafted_tokens: tokens of its in them.
        accepted_tokens: those of them that the model confirmed.
    """

    drafts: int
    drafted_tokens: int
    accepted_tokens: int


class EditStats(Reply, frozen=True):
    """Counts and times of one edit; rates are derived by the reader.

    Attributes:
        cached_tokens: prompt tokens whose KV was warm.
        accepted_prediction_tokens: drafted tokens that the model confirmed.
        rejected_prediction_tokens: drafted tokens that it did not.
        rounds: passes of the model in the reply.
        queue_ms: waiting for the model, its load included.
        ttft_ms: from the request's arrival to the first token of the reply.
        decode_ms: from the first token to the last.
        total_ms: from the request's arrival to the result.
        acceptance_lengths: how often a drafted round committed 1, 2, 3 ... tokens.
        policy: the governor's policy.
        stopped_by: what ended the reply.
        near_ties: choices of passes over drafts that were so close that plain decoding might have chosen otherwise.
        seed: of a sampled reply; a request with this seed is answered alike.
        proposers: who drafted how much and how much of it landed: `file`, `substitution`, `ngram`.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    accepted_prediction_tokens: int = 0
    rejected_prediction_tokens: int = 0
    rounds: int = 0
    queue_ms: float = 0.0
    ttft_ms: float = 0.0
    decode_ms: float = 0.0
    total_ms: float = 0.0
    acceptance_lengths: tuple[int, ...] = ()
    policy: str = ""
    stopped_by: str = ""
    near_ties: int = 0
    seed: int | None = None
    proposers: dict[str, ProposerStats] = msgspec.field(default_factory=dict)


class PartResult(Reply, frozen=True):
    """What became of one of several edits of a text.

    Attributes:
        status: `proposed` when it changed the text, whatever became of the request; `cancelled` when it was not begun.
        warnings: sentences for a person.
    """

    status: EditStatus
    warnings: tuple[str, ...] = ()


class EditResult(Reply, frozen=True):
    """The answer to `edit`.

    Attributes:
        session: the edit's id.
        path: the real file that was read, symbolic links followed; empty for a text.
        base_fingerprint: of the text that was edited.
        new_fingerprint: of `new_text`; equals the base when nothing is proposed.
        version: counts the texts seen under this path, from 1.
        new_text: the whole new text; the unchanged text when nothing is proposed.
        diff: unified diff, byte-exact, empty without change.
        warnings: sentences for a person; the reason when the output was rejected.
        conflict: with `conflict`, the lines that somebody else changed meanwhile, where it is about lines.
        raw_reply: the model's own words when they could not be used, else empty.
        model: the model that answered.
        drafts: who drafted which part of the reply, where the request asked for it and there is a reply; of several
            edits, the last one's.
        parts: what became of each of `edits`, in their order; `stats` counts them together.
    """

    session: str
    status: EditStatus
    path: str
    base_fingerprint: str
    new_fingerprint: str
    version: int
    new_text: str
    diff: str
    hunks: tuple[Hunk, ...]
    warnings: tuple[str, ...]
    raw_reply: str
    model: str
    stats: EditStats
    drafts: ReplyDrafts | None = None
    conflict: ConflictLines | None = None
    parts: tuple[PartResult, ...] = ()


class EditProgress(Reply, frozen=True):
    """Notification `edit/progress`.

    Attributes:
        id: the id of the `edit` request.
        percent: how much of the file the reply has covered, 0 to 100; the load's or the prefill's share before that.
        tokens_per_s: of the reply so far, 0 before it begins.
        queue_position: while `queued`, its place in the queue, from 1; the edits that run are before it, too. Else 0.
        part: which of several `edits` it is about, counted from 0.
        file: which of several `files` it is about, counted from 0.
    """

    id: int | str
    stage: Stage
    percent: float = 0.0
    tokens_per_s: float = 0.0
    n_tokens: int = 0
    queue_position: int = 0
    part: int = 0
    file: int = 0


class EditDelta(Reply, frozen=True):
    """Notification `edit/delta`: text of the reply as it comes.

    Attributes:
        part: which of several `edits` it is of, counted from 0.
        file: which of several `files` it is of, counted from 0.
    """

    id: int | str
    text: str
    part: int = 0
    file: int = 0
