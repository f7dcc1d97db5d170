"""A daemon beside the test, for an editor that the test waits for: the model says what the test wants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anyio.from_thread import start_blocking_portal

from lsp.talking import Talker, talking_daemon
from plgd.engine.model import Known
from plgd.paths import Paths
from scripted_model import ByteTokenizer

__all__ = ("ListeningTalker", "daemon")


class _Listener(ByteTokenizer):
    """Keeps what it encodes."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def encode_chat(self, system: str, user: str, reply_start: str) -> list[int]:
        self.heard.append(user)
        return super().encode_chat(system, user, reply_start)

    def encode_known(self, system: str, user: str, reply_start: str, known: Known) -> list[int]:
        self.heard.append(user)
        return super().encode_known(system, user, reply_start, known)


class ListeningTalker(Talker):
    """A model of words that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.tokenizer: _Listener = _Listener()

    def times_told(self, words: str) -> int:
        """Return how many edits were asked for with these words."""
        return sum(words in heard for heard in self.tokenizer.heard)


@contextmanager
def daemon(paths: Paths, talker: Talker) -> Iterator[None]:
    """Serve in a thread until the block ends."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(talking_daemon(paths, talker)),
    ):
        yield
