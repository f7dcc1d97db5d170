"""A model that says what a test tells it to say: bytes for tokens, a scripted target, no weights."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Sequence

from doubles import ScriptedTarget
from plgd.engine.correction import LiveCosts
from plgd.engine.cost import ASSUMED_COSTS
from plgd.engine.kept import KeepingTarget
from plgd.engine.model import Detokenizer, Known, Span, Turn
from plgd.engine.sampling import GREEDY, Sampling
from plgd.engine.together import Together
from plgd.engine.types import Outcome

__all__ = ("EOS", "ByteTokenizer", "FirmCosts", "ScriptedModel")

EOS = 256
_TURN = 257


class _ByteStream:
    """Bytes to text; a broken character waits for its rest."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        return self._decoder.decode(bytes([token])) if token < EOS else ""

    def finish(self) -> str:
        return self._decoder.decode(b"", final=True)


class ByteTokenizer:
    """Each byte is a token; each turn of a chat begins with a control token; a text can be cut anywhere."""

    border = re.compile("")

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def encode_chat(self, system: str, user: str, reply_start: str) -> list[int]:
        turns = (self.encode(text) for text in (system, user, reply_start))
        return [token for turn in turns for token in (_TURN, *turn)]

    def encode_turns(self, turns: Sequence[Turn]) -> list[int]:
        return [token for turn in turns for token in (_TURN, *self.encode(turn.text))] + [_TURN]

    def encode_known(self, system: str, user: str, reply_start: str, known: Known) -> list[int]:
        head, tail = self.encode(user[: known.start]), self.encode(user[known.end :])
        return [_TURN, *self.encode(system), _TURN, *head, *known.tokens, *tail, _TURN, *self.encode(reply_start)]

    def spans(self, text: str) -> tuple[Span, ...]:
        return tuple(
            Span(place, place + 1) for place, character in enumerate(text) for _ in range(len(character.encode()))
        )

    def decode(self, tokens: Sequence[int]) -> str:
        return bytes(token for token in tokens if token < EOS).decode(errors="replace")

    def detokenizer(self) -> Detokenizer:
        return _ByteStream()

    @property
    def control_strings(self) -> frozenset[str]:
        return frozenset(("<|turn|>", "<|end|>"))


class FirmCosts(LiveCosts):
    """Costs that no measurement moves: rounds of a double take as long as the machine is busy."""

    def observe(self, outcome: Outcome) -> None:
        """Learn nothing."""


class ScriptedModel:
    """Answers every prompt with the same words and then ends its reply.

    Args:
        reply: what it says after the opened fence, its closing fence included.
        context_limit: in bytes.
        on_target: called when a reply is about to begin, as a place to change the world meanwhile.

    Attributes:
        targets: every target that it made.
        samplings: what each was asked to sample by.
    """

    name = "scripted"
    eos_tokens = frozenset((EOS,))
    state_key = "scripted"

    def __init__(
        self, reply: str, *, context_limit: int = 1 << 20, on_target: Callable[[], None] = lambda: None
    ) -> None:
        self.context_limit = context_limit
        self.costs = FirmCosts(ASSUMED_COSTS)
        self.together = Together()
        self.tokenizer = ByteTokenizer()
        self.targets: list[ScriptedTarget] = []
        self.samplings: list[Sampling] = []
        self._reply = reply
        self._on_target = on_target

    def target(self, sampling: Sampling = GREEDY) -> KeepingTarget:
        self.samplings.append(sampling)
        self._on_target()
        reply = self.tokenizer.encode(self._reply)
        self.targets.append(ScriptedTarget(reply, end=EOS, context_limit=self.context_limit))
        return self.targets[-1]
