"""Judges a reply before anything is proposed: what must not reach the user's text.

An edit is refused when the reply did not end by itself, is empty, carries markup of the chat or a fence that the text
lacks, repeats what stands around the lines to rewrite, stands a placeholder for text it should have written, or deletes
most of the text unasked, or lines that a sketch keeps. Whether a deletion was
asked for is read from the instruction's words (English only); one that was asked for is let through with a warning.
What a sketch has and the new text has not is told in a warning.
`edit.max_deleted_share = 1.0` switches that guard off.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from plgd.edits.edges import find_repeated_edge
from plgd.edits.merge_check import Merge, compare_merge
from plgd.edits.placeholders import find_placeholder
from plgd.edits.prompt import wants_fences
from plgd.engine.types import StopReason
from plgd.text.lines import split_lines

__all__ = ("Verdict", "check_ending", "check_text")

# Of shorter losses, a rewrite to fewer lines is the likelier reason.
_FEW_LINES: Final = 6

# Of the text, beyond what goes in the guess at a sketch's meaning.
_BEYOND_GUESS: Final = 0.1

_CHAT_MARKUP: Final = frozenset(
    (
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "<|eot_id|>",
        "<|start_header_id|>",
        "<|end_header_id|>",
        "<|assistant|>",
        "<|user|>",
        "<|system|>",
        "<start_of_turn>",
        "<end_of_turn>",
        "[INST]",
        "[/INST]",
        "<<SYS>>",
        "<think>",
        "</think>",
        "<tool_call>",
        "</tool_call>",
    )
)
# Control tokens of some models that are ordinary tags in a web page.
_HTML_TAGS: Final = frozenset(("<s>", "</s>", "<u>", "</u>", "<b>", "</b>", "<code>", "</code>"))
_FENCED_LANGUAGES: Final = frozenset(("markdown", "rst"))
_FENCE: Final = re.compile(r"^(?:```|~~~).*", re.MULTILINE)
_DELETION: Final = re.compile(
    r"\b(?:delet|remov|drop|strip|cut|short|shrink|condens|summar|simplif|trim|discard|clear|eliminat|throw|kill"
    r"|clean|prun|purg|extract|minif|reduc|dedup|compress|collaps|merg|inlin|empty|truncat|compact|stub|unused"
    r"|get(?:ting)? rid|tak(?:e|ing) (?:\w+ ){0,2}out|only keep|keep only|leave only|nothing but|one[- ]liner"
    r"|scrap|ditch|eras|away\b|gone\b|lose the|redundant|obsolete|superfluous|unwanted|disappear|no need|be no\b"
    r"|(?:do|be) without\b|(?:ha(?:s|ve)|needs?|must|should|can|may)(?: to)? go\b"
    r"|no longer (?:\w+ )?(?:need|want|use|see|have|exist)"
    r"|(?:not|\w+n['\u2019]t) (?:be )?(?:need|want|used|exist|belong)"
    r"|start over|from scratch|dead code|replace (?:the )?(?:whole|entire|everything|all|file|text|content))",
    re.IGNORECASE,
)
_ENDINGS: Final = {
    StopReason.MAX_TOKENS: "The reply was cut off at the limit of {n_tokens:,} tokens.",
    StopReason.CONTEXT: "The reply was cut off: after {n_tokens:,} tokens the model's context was full.",
    StopReason.LOOP: "The model began to repeat itself and was stopped after {n_tokens:,} tokens.",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the guards say about a new text.

    Attributes:
        refusal: why it must not be proposed, one sentence; `None` when it may.
        warnings: what the user should look at in a text that may be proposed.
    """

    refusal: str | None = None
    warnings: tuple[str, ...] = ()


def check_ending(stopped: StopReason, n_tokens: int) -> str | None:
    """Return why a reply did not end by itself, one sentence; `None` when it did.

    Args:
        stopped: what ended it.
        n_tokens: its length.
    """
    reason = _ENDINGS.get(stopped)
    return reason.format(n_tokens=n_tokens) if reason else None


def check_text(
    source: str,
    reply: str,
    instruction: str,
    *,
    before: Sequence[str],
    after: Sequence[str],
    language: str,
    control_strings: AbstractSet[str],
    max_deleted_share: float,
    sketch: str = "",
    guess: str = "",
) -> Verdict:
    """Judge a new text that ended by itself.

    Args:
        source: the text that was rewritten, as the model saw it.
        reply: the new text.
        instruction: the user's words.
        before: when the text is a range of a larger one, the lines above it as the model sees them.
        after: and the lines below it. A range may go as a whole, when asked; a whole text never.
        language: the text's, as written after a fence.
        control_strings: how the model spells its control tokens.
        max_deleted_share: the most of the text that may go unasked, above 0, up to 1.
        sketch: what the reply was to be made of, if that was given: its markers must be gone.
        guess: what the sketch seems to mean; as much may go as goes in it.
    """
    asks_deletion = _DELETION.search(instruction) is not None
    if not reply.strip() and not (asks_deletion and (before or after)):
        return Verdict("The model's reply was empty.")
    for sentinel in sorted(_CHAT_MARKUP | (control_strings - _HTML_TAGS)):
        if sentinel in reply and not any(sentinel in given for given in (source, instruction, sketch)):
            return Verdict(f"The reply holds {sentinel!r}, markup of the model's chat that the text does not have.")
    if fence := _new_fence(source + sketch, reply, instruction, language):
        return Verdict(f"The reply holds the fence {fence!r}, which the text does not have.")
    source_lines, reply_lines, sketch_lines = split_lines(source), split_lines(reply), split_lines(sketch)
    if line := find_repeated_edge(source_lines, reply_lines, before, after):
        return Verdict(f"The reply goes beyond the lines to rewrite: it repeats {line!r}.")
    if placeholder := find_placeholder(source_lines, reply_lines, instruction, sketch_lines):
        return Verdict(f"The reply leaves text out: it says {placeholder!r} instead of writing it.")
    merge = compare_merge(source_lines, reply_lines, sketch_lines, split_lines(guess)) if sketch else Merge()
    if merge.lost and not asks_deletion:
        return Verdict(f"The reply loses {_some(merge.lost, 'that the sketch keeps')}.")
    warnings = _merge_warnings(merge)
    share = 1.0 - _weight(reply) / max(1, _weight(source))
    if share <= max_deleted_share or len(source_lines) - len(reply_lines) < _FEW_LINES:
        return Verdict(warnings=warnings)
    sketched = 1.0 - _weight(guess) / max(1, _weight(source)) if guess else 0.0
    if asks_deletion or share <= sketched + _BEYOND_GUESS:
        return Verdict(warnings=(*warnings, f"The edit deletes {share:.0%} of the text."))
    return Verdict(f"The reply deletes {share:.0%} of the text, and the instruction does not ask for a deletion.")


def _new_fence(source: str, reply: str, instruction: str, language: str) -> str | None:
    if language in _FENCED_LANGUAGES or wants_fences(instruction):
        return None
    known = set(_FENCE.findall(source))
    return next((fence for fence in _FENCE.findall(reply) if fence not in known), None)


def _merge_warnings(merge: Merge) -> tuple[str, ...]:
    if not merge.unmerged:
        return ()
    return (f"The new text lacks {_some(merge.unmerged, 'of the sketch')}.",)


def _some(lines: Sequence[str], which: str) -> str:
    one = repr(lines[0])
    return f"the line {one} {which}" if len(lines) == 1 else f"{len(lines):,} lines {which}, such as {one}"


def _weight(text: str) -> int:
    """Characters that are not blank."""
    return len("".join(text.split()))
