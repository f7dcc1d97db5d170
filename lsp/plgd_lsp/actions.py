"""Code actions: a static list, made from the text alone, whatever the model and the daemon are doing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from lsprotocol import types

from plgd.config import PresetConfig
from plgd_lsp.blocks import block_around
from plgd_lsp.editor import Editor
from plgd_lsp.hints import SOURCE, decisions
from plgd_lsp.instruction_comment import find_instructions
from plgd_lsp.mirror import Mirror, MirroredDocument
from plgd_lsp.options import Options
from plgd_lsp.places import Lines, NoSuchLines, lines_of, range_of
from plgd_lsp.presets import presets_for
from plgd_lsp.progress import shorten
from plgd_lsp.review import Reviews

__all__ = ("KINDS", "Actions")

_REWRITE: Final = "refactor.rewrite.plgd"
_COMMENT: Final = f"{_REWRITE}.comment"
_QUICK_FIX: Final = "quickfix"
_REVIEW: Final = f"{_QUICK_FIX}.plgd.review"
KINDS: Final = (_QUICK_FIX, _REWRITE)

_TITLE_CHARACTERS: Final = 70


class Actions:
    """What can be done to the lines at the cursor.

    Args:
        mirror: the editor's texts.
        editor: what it can show.
        reviews: the proposals that wait.
        options: what the editor set.
        presets: the configuration's.
    """

    def __init__(
        self,
        mirror: Mirror,
        editor: Editor,
        reviews: Reviews,
        options: Options,
        presets: tuple[PresetConfig, ...],
    ) -> None:
        self._mirror = mirror
        self._reviews = reviews
        self._editor = editor
        self._marker = options.comment_marker
        self._presets = (*presets, *options.presets)

    def offer(self, params: types.CodeActionParams) -> list[types.CodeAction | types.Command]:
        """List what fits the place and what was asked for; actions for editors that know them, else commands."""
        document = self._mirror.get(params.text_document.uri)
        if document is None:
            return []
        only = params.context.only
        actions = [action for action in self._all(document, params) if _is_wanted(action, only)]
        if only is None and params.context.trigger_kind == types.CodeActionTriggerKind.Automatic:
            # The editor asks at every move of the cursor; what can be said of any line is no news there.
            actions = [action for action in actions if action.kind in {_QUICK_FIX, _COMMENT, _REVIEW}]
        if self._editor.abilities.action_literals:
            return list(actions)
        return [action.command for action in actions if action.command is not None]

    def _all(self, document: MirroredDocument, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
        lines = document.lines
        try:
            selected = lines_of(params.range, len(lines))
        except NoSuchLines:
            return
        if not self._editor.abilities.proposals:
            for session in self._reviews.waiting_in(document.uri):
                for title, command, argument in decisions(session.id, self._reviews.place(session), selected):
                    yield self._command(title, _REVIEW, command, argument)
        for found in find_instructions(lines, selected, document.language_id, self._marker):
            comment = {"line": found.comment.line, "text": found.comment.text}
            title = f"plgd: {shorten(found.instruction, _TITLE_CHARACTERS)}"
            yield self._action(document, title, _COMMENT, found.instruction, found.lines, comment=comment)
        for diagnostic in params.context.diagnostics:
            if diagnostic.source == SOURCE:
                continue
            yield self._fix(document, lines, diagnostic)
        is_selection = params.range.start != params.range.end
        for preset in presets_for(document.language_id, self._presets):
            title = f"plgd: {preset.title}" if is_selection else f"plgd: {preset.title} (whole file)"
            kind = f"{_REWRITE}.{preset.id}"
            yield self._action(document, title, kind, preset.instruction, selected if is_selection else None)

    def _fix(
        self, document: MirroredDocument, lines: tuple[str, ...], diagnostic: types.Diagnostic
    ) -> types.CodeAction:
        message = " ".join(diagnostic.message.split())
        try:
            place = lines_of(diagnostic.range, len(lines))
        except NoSuchLines:
            place = None
        instruction = f"Fix this problem: {message}"
        if place is not None and place.end > place.start:
            instruction += f"\nIt is in this line: {lines[place.start].strip()}"
        action = self._action(
            document,
            f"Fix with plgd: {shorten(message, _TITLE_CHARACTERS)}",
            _QUICK_FIX,
            instruction,
            block_around(lines, place) if place is not None else None,
        )
        action.diagnostics = [diagnostic]
        return action

    def _action(
        self,
        document: MirroredDocument,
        title: str,
        kind: str,
        instruction: str,
        lines: Lines | None,
        **more: object,
    ) -> types.CodeAction:
        argument: dict[str, Any] = {"uri": document.uri, "instruction": instruction, **more}
        if lines is not None:
            span = range_of(lines, document.lines, self._mirror.encoding)
            argument["range"] = {"start": _plain(span.start), "end": _plain(span.end)}
        return self._command(title, kind, "plgd.edit", argument)

    def _command(self, title: str, kind: str, command: str, argument: dict[str, Any]) -> types.CodeAction:
        return types.CodeAction(
            title=title,
            kind=kind,
            command=types.Command(title=title, command=command, arguments=[argument]),
            tags=[types.CodeActionTag.LlmGenerated] if self._editor.abilities.llm_tag else None,
        )


def _plain(position: types.Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}


def _is_wanted(action: types.CodeAction, only: object) -> bool:
    """Say whether an action's kind, or one above it, was asked for; all are when nothing was."""
    if not isinstance(only, list | tuple):
        return True
    kinds = [kind.value if isinstance(kind, types.CodeActionKind) else str(kind) for kind in only]
    return any(not kind or action.kind == kind or f"{action.kind}.".startswith(f"{kind}.") for kind in kinds)
