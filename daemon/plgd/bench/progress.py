"""Says on a terminal what is being measured."""

from __future__ import annotations

from typing import Self

from rich.console import Console

__all__ = ("Progress",)


class Progress:
    """One line on standard error, overwritten; nothing where that is no terminal.

    It changes between timed calls only and has no spinner: a thread that draws would be measured, too.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True)

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Clear the line."""
        self.say("")

    def say(self, text: str) -> None:
        """Show what happens now."""
        if self._console.is_terminal:
            self._console.file.write(f"\r\x1b[K{text}")
            self._console.file.flush()
