"""Who drafted a reply, text by text: the part of an edit's result that is sent when it is asked for."""

from __future__ import annotations

from plgd.protocol.base import Reply

__all__ = ("ReplyDrafts", "ReplyRun")


class ReplyRun(Reply, frozen=True):
    """Tokens of one round, one behind the other, that one proposer drafted, or one token that no one drafted.

    Attributes:
        text: what they say. A character that is spread over several tokens stands where the first of them does, so a
            run inside a character is empty, as is that of the token that ends a reply.
        by: `file` (copied from a source), `substitution` (put in by a rule, or the token next to what a rule put in or
            took out), `ngram` (repeated from prompt or reply). Of a token that no one drafted: `plain` (its round
            drafted nothing), `correction` (after a miss), `bonus` (behind a draft that was accepted whole).
        round: the round that committed them, from 1.
        n_tokens: how many they are.
    """

    text: str
    by: str
    round: int
    n_tokens: int


class ReplyDrafts(Reply, frozen=True):
    """Who drafted which part of the reply, and where its rounds ended.

    Attributes:
        runs: the reply in order, exactly as the model wrote it: what a guard or the end of the text takes off, such as
            the closing fence, is in it.
        widths: the verify width of each round; 1 where nothing was drafted.
        n_left_out: tokens at the end of the reply that are not in `runs`, which has 65,536 entries at most.
    """

    runs: tuple[ReplyRun, ...]
    widths: tuple[int, ...]
    n_left_out: int = 0
