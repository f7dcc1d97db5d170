"""What the endpoint needs of the daemon, and the daemon of the endpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from plgd.completions.request import Completion, CompletionResult
from plgd.protocol.models import ModelInfo

__all__ = ("Completer", "Endpoint")


class Completer(Protocol):
    """Writes completions. Used on the event loop."""

    async def complete(
        self, completion: Completion, model: str | None, on_text: Callable[[str], None]
    ) -> CompletionResult:
        """Write the next turn of a conversation. When the caller is cancelled, so is the work.

        Args:
            completion: what is asked.
            model: a model's name; None takes the default.
            on_text: told of the reply's text as it comes, in order, before the result.

        Raises:
            InvalidParams: the model's chat template refuses the conversation, or a bias is for no token of it.
            TextTooLong: the conversation does not fit into the model's context.
            ModelError: the model cannot be found or loaded.
            EngineError: the model failed.
            QueueFull, ShuttingDown: the daemon takes no more work.
            Cancelled: the daemon ends before the reply did.
            ConnectionLost: the daemon ends at once.
        """
        ...

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return the models that can be asked."""
        ...


class Endpoint(Protocol):
    """Listens from the moment that it is made."""

    @property
    def port(self) -> int:
        """Where on 127.0.0.1."""
        ...

    async def run(self) -> None:
        """Serve clients until `stop`, or until it is cancelled."""
        ...

    def stop(self) -> None:
        """Accept nothing more, and let `run` return when what is under way is answered."""
        ...
