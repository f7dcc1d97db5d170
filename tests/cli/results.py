"""Answers to an edit, made of one small example."""

from __future__ import annotations

from typing import Final

import msgspec

from plgd.protocol.edits import EditResult, EditStats, EditStatus, Hunk, ProposerStats
from plgd.protocol.reply_drafts import ReplyDrafts, ReplyRun

__all__ = ("DIFF", "DRAFTS", "NEW", "OLD", "STATS", "edit_result")

# What careless output spoils: CRLF, form feed, U+2028, an astral character, no line feed at the end.
OLD: Final = "total = 0\r\nkeep\f\u2028 = '😀'\nprint(total)"
NEW: Final = "running = 0\r\nkeep\f\u2028 = '😀'\nprint(running)"
DIFF: Final = (
    "--- a/sum.py\n+++ b/sum.py\n@@ -1,3 +1,3 @@\n-total = 0\r\n+running = 0\r\n keep\f\u2028 = '😀'\n"
    "-print(total)\n\\ No newline at end of file\n+print(running)\n\\ No newline at end of file\n"
)

STATS: Final = EditStats(
    prompt_tokens=90,
    output_tokens=142,
    accepted_prediction_tokens=118,
    rejected_prediction_tokens=9,
    ttft_ms=212.0,
    decode_ms=1650.0,
    total_ms=1876.0,
    stopped_by="stop",
    rounds=4,
    policy="cost",
    proposers={
        "file": ProposerStats(drafts=3, drafted_tokens=9, accepted_tokens=7),
        "substitution": ProposerStats(drafts=1, drafted_tokens=2, accepted_tokens=1),
        "ngram": ProposerStats(drafts=1, drafted_tokens=3, accepted_tokens=2),
    },
)

DRAFTS: Final = ReplyDrafts(
    runs=(
        ReplyRun(text="running", by="correction", round=1, n_tokens=1),
        ReplyRun(text=" = 0\n", by="file", round=2, n_tokens=4),
        ReplyRun(text="k", by="bonus", round=2, n_tokens=1),
        ReplyRun(text="eep", by="plain", round=3, n_tokens=1),
        ReplyRun(text="\nprint(", by="file", round=4, n_tokens=3),
        ReplyRun(text="running", by="substitution", round=4, n_tokens=1),
        ReplyRun(text=")<script>\x1b[2J", by="ngram", round=4, n_tokens=2),
    ),
    widths=(4, 5, 1, 9),
)


def edit_result(status: EditStatus = EditStatus.PROPOSED, **changes: object) -> EditResult:
    """An answer of this status: with the example's change when there is one, else with nothing changed."""
    changed = status in {EditStatus.PROPOSED, EditStatus.APPLIED}
    hunk = Hunk(id=1, old_start=1, old_lines=3, new_start=1, new_lines=3)
    result = EditResult(
        session="e1",
        status=status,
        path="",
        base_fingerprint="b",
        new_fingerprint="n" if changed else "b",
        version=1,
        new_text=NEW if changed else OLD,
        diff=DIFF if changed else "",
        hunks=(hunk,) if changed else (),
        warnings=(),
        raw_reply="",
        model="some/model",
        stats=STATS,
    )
    return msgspec.structs.replace(result, **changes)
