"""A model's chat template, taken apart once into the fixed text around what plgd puts in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from jinja2.exceptions import TemplateError

from plgd.engine.model import Turn
from plgd.errors import InvalidParams, UnsupportedModel

__all__ = ("ChatTemplate", "Message", "Piece", "Render", "plain_turns", "turn_pieces")

Message = dict[str, str]
# Runs a template; after a user's message the reply's turn is opened.
Render = Callable[[list[Message]], str]

# The blanks around them show whether a template strips its content.
SYSTEM: Final = " \nplgd7systemq\n "
USER: Final = " \nplgd7userq\n "
REPLY: Final = "plgd7replyq"
# A conversation's turns by number, and where such marks stand in what a template made of them.
TURN: Final = " \nplgd7turn{}q\n "
TURNS: Final = re.compile(r"( \n)?plgd7turn(\d+)q(\n )?")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a prompt: the template's own text, or content, in which nothing may act as a control token."""

    text: str
    is_content: bool


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """The text before, between and after the system's and the user's words.

    Attributes:
        before: up to the first content.
        between: from the system's words to the user's; None when the template has no place for a system turn, and
            the system's words open the user's turn, a blank line apart.
        after: from the user's words to the start of the reply.
        strips_system: whether blanks around the system's words go.
        strips_user: whether blanks around the user's words go.
        turn_end: what closes the reply's turn, up to the end of the text; empty when unknown.
    """

    before: str
    between: str | None
    after: str
    strips_system: bool = False
    strips_user: bool = False
    turn_end: str = ""

    @classmethod
    def plain(cls) -> ChatTemplate:
        """For a model without a template: system, user and reply as paragraphs, a blank line apart."""
        return cls("", "\n\n", "\n\n")

    @classmethod
    def of(cls, render: Render, name: str) -> ChatTemplate:
        """Find the places of the content in what a template makes of two marks.

        Args:
            render: runs the template.
            name: the model's name, for messages.

        Raises:
            UnsupportedModel: the template fails, or loses the user's words.
        """
        user: Message = {"role": "user", "content": USER}
        try:
            text = render([{"role": "system", "content": SYSTEM}, user])
        except (TemplateError, ValueError, TypeError):
            text = ""
        if SYSTEM.strip() in text and USER.strip() in text:
            before, rest, strips_system = _part(text, SYSTEM)
            between, after, strips_user = _part(rest, USER)
            return cls(before, between, after, strips_system, strips_user, _turn_end(render, user))
        # Templates without a system turn raise, or leave it out.
        try:
            text = render([user])
        except (TemplateError, ValueError, TypeError) as error:
            raise UnsupportedModel.of(name, f"its chat template fails ({error})") from error
        if USER.strip() not in text:
            raise UnsupportedModel.of(name, "its chat template leaves the user's words out")
        before, after, strips_user = _part(text, USER)
        return cls(before, None, after, False, strips_user, _turn_end(render, user))

    def pieces(self, system: str, user: str, reply_start: str) -> list[Piece]:
        """Put one system and one user turn in, and the start of the reply."""
        if self.strips_system:
            system = system.strip()
        if self.between is None:
            user = f"{system}\n\n{user}" if system else user
        if self.strips_user:
            user = user.strip()
        content = [Piece(user, True)]
        if self.between is not None:
            content = [Piece(system, True), Piece(self.between, False), *content]
        return [Piece(self.before, False), *content, Piece(self.after, False), Piece(reply_start, True)]


def _part(text: str, mark: str) -> tuple[str, str, bool]:
    """Split a rendered text at a mark; the third value says whether its blanks were stripped."""
    strips = mark not in text
    before, _, after = text.partition(mark.strip() if strips else mark)
    return before, after, strips


def _turn_end(render: Render, user: Message) -> str:
    """Return what a template writes after a finished reply; empty when it takes none."""
    try:
        text = render([user, {"role": "assistant", "content": REPLY}])
    except (TemplateError, ValueError, TypeError):
        return ""
    return text.partition(REPLY)[2]


def turn_pieces(render: Render, turns: Sequence[Turn]) -> list[Piece]:
    """Put a conversation into a template.

    Args:
        render: runs the template.
        turns: the last one the user's. Where the template has no place for a system turn at their beginning, its words
            open the turn behind it.

    Raises:
        InvalidParams: the template refuses such a conversation, or leaves some of it out.
    """
    try:
        return _turn_pieces(render, turns)
    except (TemplateError, ValueError, TypeError) as error:
        if turns[0].role != "system" or len(turns) == 1:
            message = (
                f"The model's chat template does not take this conversation ({error}); it may want turns to alternate."
            )
            raise InvalidParams(message) from error
    words = f"{turns[0].text}\n\n{turns[1].text}" if turns[0].text else turns[1].text
    return turn_pieces(render, [Turn(turns[1].role, words), *turns[2:]])


def _turn_pieces(render: Render, turns: Sequence[Turn]) -> list[Piece]:
    text = render([{"role": turn.role, "content": TURN.format(n)} for n, turn in enumerate(turns)])
    marks = list(TURNS.finditer(text))
    if sorted(int(mark[2]) for mark in marks) != list(range(len(turns))):
        raise ValueError("it leaves some of it out")
    pieces: list[Piece] = []
    done = 0
    for mark in marks:
        words = turns[int(mark[2])].text
        words = words if mark[1] else words.lstrip()
        pieces += [Piece(text[done : mark.start()], False), Piece(words if mark[3] else words.rstrip(), True)]
        done = mark.end()
    return [*pieces, Piece(text[done:], False)]


def plain_turns(turns: Sequence[Turn]) -> list[Piece]:
    """For a model without a template: turns as paragraphs, a blank line apart."""
    return [piece for turn in turns for piece in (Piece(turn.text, True), Piece("\n\n", False))]
