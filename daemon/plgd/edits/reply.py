"""Reads the reply while it comes: the new text in it, and its end.

A model that was told to answer with one fenced block, and whose turn was opened with the fence, may still think
aloud first, open the fence again, or put fenced blocks into the text. The reader gives out nothing but the new text,
as early as it is certain.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from typing import Final

from plgd.engine.model import Detokenizer

__all__ = ("ReplyReader", "ReplyText")

_FENCE_LINE: Final = re.compile(r"(`{3,})[ \t]*([^\s`]*)[ \t\r]*\n?")
_TRAILING: Final = " \t\r\n"
_THINK: Final = "<think>"
_THINK_END: Final = "</think>"


class ReplyText:
    """Takes the reply's text piece by piece and keeps the new text of it.

    The reply ends at the first line that is a bare fence, at least as long as the prompt's, and closes nothing that
    the reply itself opened: a line of the fence and a language opens an inner block. Only lines that begin with the
    fence count; the source has no such run of backticks.

    Args:
        fence: what closes the reply.
        source: the text that is rewritten. What it begins with, the reply may begin with.

    Attributes:
        closed: whether the closing fence came.
    """

    def __init__(self, fence: str, source: str) -> None:
        self.closed = False
        self._fence = fence
        self._may_think = not source.lstrip().startswith(_THINK)
        self._may_wrap = _FENCE_LINE.match(source) is None
        self._at_head = True
        self._thought = False
        self._wrapper = ""
        self._inner: list[int] = []
        self._line = ""
        self._n_given = 0
        self._held = ""
        self._text: list[str] = []
        self._n_taken = 0

    @property
    def text(self) -> str:
        """The new text so far."""
        return "".join(self._text)

    def take(self) -> str:
        """Return the new text that became certain since the last call."""
        fresh = "".join(self._text[self._n_taken :])
        self._n_taken = len(self._text)
        return fresh

    def feed(self, piece: str) -> bool:
        """Take the next piece of the reply. True: it closed the reply, what follows is not text."""
        self._line += piece
        if self._at_head and not self._pass_head():
            return False
        while not self.closed and (end := self._line.find("\n") + 1):
            line, rest = self._line[:end], self._line[end:]
            self._end_line(line)
            self._line, self._n_given = rest, 0
        if not self.closed:
            self._give_certain()
        return self.closed

    def finish(self) -> None:
        """Take the end of the reply: what was held back is text, unless it is the closing fence."""
        if self.closed:
            return
        if self._at_head and not self._pass_head(ended=True):
            return
        if self._line:
            self._end_line(self._line)
        if self._held:
            self.closed = True
        self._line, self._held = "", ""

    def _pass_head(self, *, ended: bool = False) -> bool:
        """Drop thoughts and a second opening fence; False while more text is needed to know."""
        head = self._line.lstrip()
        if self._may_think and head.startswith(_THINK):
            if _THINK_END not in head:
                return False
            self._line = head.partition(_THINK_END)[2]
            self._may_think, self._thought = False, True
        if self._thought:
            self._line = self._line.lstrip("\r\n")
        undecided = not self._line or (self._may_think and _THINK.startswith(head))
        if undecided and not ended:
            return False
        if self._may_wrap and self._line.startswith("`"):
            if "\n" not in self._line and not ended:
                return False
            match = _FENCE_LINE.match(self._line)
            if match and not self._is_closing(match):
                self._wrapper = match[1]
                self._line = self._line[match.end() :]
        self._at_head = False
        return True

    def _is_closing(self, match: re.Match[str]) -> bool:
        return not match[2] and len(match[1]) >= len(self._fence)

    def _end_line(self, line: str) -> None:
        """Take a whole line; of one that looks like a fence, nothing has been given out."""
        match = _FENCE_LINE.fullmatch(line) if self._n_given == 0 else None
        if match and self._is_closing(match):
            if not self._inner:
                self.closed = True
                return
            if len(match[1]) >= self._inner[-1]:
                self._inner.pop()
        elif match and len(match[1]) >= len(self._fence):
            self._inner.append(len(match[1]))
        elif match and match[1] == self._wrapper and not match[2]:
            # The wrapper's end if it is the last line, else an inner fence.
            self._give("")
            self._held = line
            return
        rest = line[self._n_given :]
        if not match and line.rstrip(_TRAILING).endswith(self._fence):
            # The fence behind the last line's text, if this is the last line.
            text, fence, blanks = rest.rpartition(self._fence)
            self._give(text)
            self._held = fence + blanks
            return
        self._give(rest)

    def _give_certain(self) -> None:
        """Give out the unfinished line but for backticks and blanks at its end, and nothing of what may be a fence."""
        if self._line.startswith("```") or not self._line.strip("`"):
            return
        certain = self._line.rstrip("`" + _TRAILING)
        if len(certain) > self._n_given:
            self._give(certain[self._n_given :])
            self._n_given = len(certain)

    def _give(self, text: str) -> None:
        if self._held + text:
            self._text.append(self._held + text)
        self._held = ""


class ReplyReader:
    """Watches the tokens of a reply for the closing fence (a `Watcher` of the engine) and keeps its new text.

    Args:
        detokenizer: a fresh stream of the model's tokenizer.
        fence: what closes the reply.
        source: the text that is rewritten.
        eos_tokens: tokens that end a reply and are not text.

    Attributes:
        reply: the new text.
    """

    def __init__(self, detokenizer: Detokenizer, fence: str, source: str, eos_tokens: AbstractSet[int]) -> None:
        self.reply = ReplyText(fence, source)
        self._detokenizer = detokenizer
        self._eos_tokens = eos_tokens
        self._raw: list[str] = []
        self._n_taken = 0

    @property
    def raw(self) -> str:
        """The model's own words so far, fences and thoughts included."""
        return "".join(self._raw)

    def take_pieces(self) -> list[str]:
        """Return the model's own words since the last call, a piece for each token and for the end of the reply."""
        pieces = self._raw[self._n_taken :]
        self._n_taken = len(self._raw)
        return pieces

    def push(self, token: int) -> bool:
        """Take the next token; True: the reply ends with it."""
        return token not in self._eos_tokens and self._feed(self._detokenizer.push(token))

    def finish(self) -> None:
        """Take the end of the reply."""
        self._feed(self._detokenizer.finish())
        self.reply.finish()

    def _feed(self, piece: str) -> bool:
        self._raw.append(piece)
        return self.reply.feed(piece)
