"""Reads a reply while it comes, and ends it where one of its stop texts begins."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from plgd.engine.model import Detokenizer

__all__ = ("StopReader",)


class StopReader:
    """Watches the tokens of a reply (a `Watcher` of the engine) and gives its text out as early as it is certain.

    Args:
        detokenizer: a fresh stream of the model's tokenizer.
        stop: the texts that end the reply; an empty one never does.
        eos_tokens: tokens that end a reply and are not text.
    """

    def __init__(self, detokenizer: Detokenizer, stop: Iterable[str], eos_tokens: AbstractSet[int]) -> None:
        self._detokenizer = detokenizer
        self._stop = tuple(text for text in stop if text)
        self._eos_tokens = eos_tokens
        self._held = ""
        self._certain: list[str] = []
        self._n_taken = 0
        self._stopped = False

    @property
    def text(self) -> str:
        """All text that is certain."""
        return "".join(self._certain)

    def take(self) -> str:
        """Return the text that became certain since the last call."""
        fresh = "".join(self._certain[self._n_taken :])
        self._n_taken = len(self._certain)
        return fresh

    def push(self, token: int) -> bool:
        """Take the next token; True: a stop text is complete."""
        return token not in self._eos_tokens and self._feed(self._detokenizer.push(token))

    def finish(self) -> None:
        """Take the end of the reply: what was held back is text."""
        if self._stopped or self._feed(self._detokenizer.finish()):
            return
        self._certain.append(self._held)
        self._held = ""

    def _feed(self, piece: str) -> bool:
        self._held += piece
        # Of several that are complete now, the one that begins first counts.
        places = [place for text in self._stop if (place := self._held.find(text)) >= 0]
        if places:
            self._stopped = True
            self._certain.append(self._held[: min(places)])
            self._held = ""
            return True
        n_certain = len(self._held) - max((_overlap(self._held, text) for text in self._stop), default=0)
        if n_certain:
            self._certain.append(self._held[:n_certain])
            self._held = self._held[n_certain:]
        return False


def _overlap(text: str, stop: str) -> int:
    """Count the characters at a text's end that a stop text begins with."""
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(stop[:n])), 0)
